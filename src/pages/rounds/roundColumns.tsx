/** Rounds as a table. */
import { useMemo } from "react"
import { roundHref } from "../../domain/RoundHref.ts"
import type { Row } from "../app/api.ts"
import { amounts, namedPlayerColumn, useOperatorColumn } from "../parts/columns.tsx"
import type { Column } from "../parts/DataTable.tsx"
import { Clip, Instant, PageLink, Status } from "../parts/Values.tsx"

type Round = Row<"round.search">

/** Columns of a list of rounds. `ofPlayer`: all are of one player. */
export const useRoundColumns = ({ ofPlayer }: { readonly ofPlayer: boolean }): ReadonlyArray<Column<Round>> => {
  const operatorColumn = useOperatorColumn()
  return useMemo<ReadonlyArray<Column<Round>>>(() => [
    {
      id: "round",
      header: "Round",
      cell: ({ game_external_id: game, provider, round_id: round }) => (
        <PageLink to={roundHref(provider, game, round)}>{round}</PageLink>
      )
    },
    { id: "game", header: "Game", cell: ({ game }) => <Clip width={160}>{game}</Clip> },
    { id: "provider", header: "Provider", cell: ({ provider }) => provider },
    ...(ofPlayer ? [] : [namedPlayerColumn(120), ...operatorColumn]),
    { id: "state", header: "State", cell: ({ state }) => <Status of={state} /> },
    amounts("stake", "Stake", ({ bonus_stake: bonus, real_stake: real }) => real + bonus),
    amounts("bonus", "Of it bonus", ({ bonus_stake: bonus }) => bonus),
    { id: "wins", header: "Wins paid", align: "right", cell: ({ paid_wins: wins }) => wins },
    { id: "opened", header: "Opened", cell: ({ opened_at: at }) => <Instant at={at} /> }
  ], [ofPlayer, operatorColumn])
}

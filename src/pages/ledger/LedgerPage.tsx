/** Ledger: entries of all players, newest first. */
import { useMemo } from "react"
import { roundHref } from "../../domain/RoundHref.ts"
import type { Row } from "../app/api.ts"
import { entryColumns, namedPlayerColumn, useOperatorColumn } from "../parts/columns.tsx"
import type { Column } from "../parts/DataTable.tsx"
import { filtersOf, ListPage } from "../parts/ListPage.tsx"
import { Clip, Instant, PageLink } from "../parts/Values.tsx"

type Entry = Row<"ledger.entries">

const filters = filtersOf("ledger.entries", { type: { width: 170 } })

/** Subject of an entry: a round, a payment, a bonus; linked where there is a page. */
function Subject({ entry }: { readonly entry: Entry }) {
  const { game_external_id: game, game_round_id: round, payment_request_id: payment, player_bonus_id: bonus } = entry
  if (entry.provider !== null && game !== null && round !== null) {
    return <PageLink to={roundHref(entry.provider, game, round, entry.player_id)}>{round}</PageLink>
  }
  if (payment !== null) return <PageLink to={`/payments?id=${payment}`}>{`Payment ${payment}`}</PageLink>
  return <>{bonus === null ? "–" : `Bonus ${bonus}`}</>
}

export default function LedgerPage() {
  const operatorColumn = useOperatorColumn()
  const columns = useMemo<ReadonlyArray<Column<Entry>>>(() => [
    { id: "id", header: "Id", cell: ({ id }) => id },
    { id: "at", header: "At", cell: ({ created_at: at }) => <Instant at={at} /> },
    namedPlayerColumn(110),
    ...operatorColumn,
    ...entryColumns,
    { id: "game", header: "Game", cell: ({ game }) => game === null ? "–" : <Clip width={130}>{game}</Clip> },
    { id: "subject", header: "Round or payment", cell: (entry) => <Subject entry={entry} /> }
  ], [operatorColumn])
  return (
    <ListPage
      heading="Ledger"
      action="ledger.entries"
      paging="cursor"
      filters={filters}
      columns={columns}
      empty="No entries yet. Every movement of money in a player's wallets is one."
    />
  )
}

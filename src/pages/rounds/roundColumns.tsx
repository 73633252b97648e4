/** Rounds as a table. */
import { roundHref } from "../../domain/RoundHref.ts"
import { amounts } from "../parts/columns.tsx"
import { columnsOf } from "../parts/shown.tsx"

/** Columns of a list of rounds. `ofPlayer`: all are of one player. */
const roundColumns = (ofPlayer: boolean) =>
  columnsOf(
    "round.search",
    ["round_id", {
      label: "Round",
      to: ({ game_external_id: game, provider, round_id: round }) => roundHref(provider, game, round)
    }],
    ["game", { width: 160 }],
    "provider",
    ...(ofPlayer ? [] : ["player_id", "operator_id"] as const),
    "state",
    amounts("stake", "Stake", ({ bonus_stake: bonus, real_stake: real }) => real + bonus),
    ["bonus_stake", { label: "Bonus part" }],
    ["paid_wins", { label: "Wins paid" }],
    ["opened_at", { seconds: true }]
  )

export const columnsOfRounds = roundColumns(false)
export const columnsOfPlayersRounds = roundColumns(true)

/** Table columns of rounds. */
import { roundHref } from "../../domain/RoundHref.ts"
import { outcomeLine } from "../../domain/RoundOutcome.ts"
import type { Row } from "../app/api.ts"
import { amounts } from "../parts/columns.tsx"
import { columnsOf } from "../parts/shown.tsx"
import { moneyText, Status } from "../parts/Values.tsx"

type Round = Row<"round.search">

const figuresOf = (round: Round) => ({
  state: round.state,
  stake: round.real_stake + round.bonus_stake,
  wins: round.wins,
  paidWins: round.paid_wins,
  takenBack: round.taken_back
})

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
    ["opened_at", { seconds: true }],
    amounts("stake", "Stake", ({ bonus_stake: bonus, real_stake: real }) => real + bonus),
    ["wins", { label: "Won" }],
    ["result", { label: "Player's result", signed: true }],
    {
      id: "outcome",
      header: "Outcome",
      cell: (round) => (
        <span style={{ whiteSpace: "nowrap" }}>
          {round.state === "open" && <Status of="open" />} {round.taken_back > 0 && <Status of="taken back" />}{" "}
          {outcomeLine(figuresOf(round), (amount) => moneyText(amount, round.currency))}
        </span>
      )
    }
  )

export const columnsOfRounds = roundColumns(false)
export const columnsOfPlayersRounds = roundColumns(true)

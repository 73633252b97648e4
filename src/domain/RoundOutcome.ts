/** Outcome of a round as a sentence: what it paid, or that no win came and what happens next. Pure. */

/** Amounts in minor units. */
export interface RoundFigures {
  readonly state: "open" | "closed"
  readonly stake: number
  /** Of the wins that stand. */
  readonly wins: number
  /** How many wins above zero stand. */
  readonly paidWins: number
  /** How many messages are rolled back. */
  readonly takenBack: number
}

export type RoundOutcome = "won" | "taken_back" | "waiting" | "no_win"

export const outcomeOf = ({ paidWins, stake, state, takenBack, wins }: RoundFigures): RoundOutcome =>
  paidWins > 0 || wins !== 0
    ? "won"
    : takenBack > 0 && stake === 0
    ? "taken_back"
    : state === "open"
    ? "waiting"
    : "no_win"

/** In a line of a list, beside its marks. `money`: an amount as text. */
export const outcomeLine = (round: RoundFigures, money: (amount: number) => string): string => {
  const outcome = outcomeOf(round)
  switch (outcome) {
    case "won":
      return `Won ${money(round.wins)}.`
    case "taken_back":
      return "The stake was returned."
    case "waiting":
      return "No win has come so far."
    case "no_win":
      return "It ended without a win."
    default:
      return outcome satisfies never
  }
}

export interface RoundStory extends RoundFigures {
  readonly provider: string
  readonly roundId: string
  /** When the provider said that the round won nothing, as text; null when it did not say so. */
  readonly lostAt: string | null
  /** Sentence about the last call that was refused; null when none was. */
  readonly refused: string | null
}

/** On the round's page, with what happens next. */
export const outcomeStory = (round: RoundStory, money: (amount: number) => string): string => {
  const { lostAt, provider, roundId, takenBack } = round
  const outcome = outcomeOf(round)
  const refused = round.refused === null ? "" : ` ${round.refused}`
  const ask = `If the player saw a win, ask ${provider} about round ${roundId}`
  switch (outcome) {
    case "won":
      return `The round paid ${money(round.wins)} on a stake of ${money(round.stake)}.${
        takenBack > 0 ? " Messages of it were taken back." : ""
      }${refused}`
    case "taken_back":
      return `${provider} took its messages back, and the stake was returned. No win is due.${refused}`
    case "waiting":
      return lostAt === null
        ? `No win came. ${provider} has not ended the round: a win that it sends is still paid.${refused} ${ask}.`
        : `${provider} said at ${lostAt} that this won nothing; the round is still open.${refused} ${ask}.`
    case "no_win":
      return lostAt === null
        ? `No win came, and the round has ended.${refused} ${ask}: it can still send the win.`
        : `${provider} said at ${lostAt} that the round won nothing.${refused} ${ask}.`
    default:
      return outcome satisfies never
  }
}

/** Totals of a player's statement: each ledger entry counts in exactly one figure. */
import type { EntryType } from "../state/Change.ts"

/** Days of one statement, both included. */
export const maxStatementDays = 366

/** Entries of one statement; for more a shorter period has to be asked for. */
export const maxStatementEntries = 50_000

/** Entries of one type that credit, or of one that debit, of both wallets together. `amount` is signed, minor units. */
export interface TypeSum {
  readonly type: EntryType
  readonly amount: number
}

/** Minor units of both wallets. Closing less opening balances are `deposits − withdrawals + net + bonuses + corrections`. */
export interface StatementTotals {
  /** Less what was charged back. */
  readonly deposits: number
  /** Requested, less what was rejected or cancelled. */
  readonly withdrawals: number
  /** Less bets that were taken back. */
  readonly staked: number
  /** Less wins that were taken back. */
  readonly won: number
  /** Granted less taken away; a conversion moves from one wallet to the other. */
  readonly bonuses: number
  readonly corrections: number
  /** `won − staked`. */
  readonly net: number
}

type Figure = keyof Omit<StatementTotals, "net">

const figures: { readonly [type in EntryType]: Figure } = {
  deposit: "deposits",
  chargeback: "deposits",
  withdrawal: "withdrawals",
  withdrawal_rejection: "withdrawals",
  casino_bet: "staked",
  casino_win: "won",
  tournament_prize: "won",
  // of a win; that of a bet credits
  casino_rollback: "won",
  bonus_correction_up: "bonuses",
  bonus_correction_down: "bonuses",
  bonus_conversion: "bonuses",
  loyalty_exchange: "bonuses",
  correction_up: "corrections",
  correction_down: "corrections"
}

/** Figures that debits add to. */
const paid: ReadonlySet<Figure> = new Set<Figure>(["withdrawals", "staked"])

const figureOf = ({ amount, type }: TypeSum): Figure =>
  type === "casino_rollback" && amount > 0 ? "staked" : figures[type]

/** Totals of the entries of a period, given by type and sign. */
export const totalsOf = (sums: ReadonlyArray<TypeSum>): StatementTotals => {
  const totals = { deposits: 0, withdrawals: 0, staked: 0, won: 0, bonuses: 0, corrections: 0 }
  for (const sum of sums) {
    const figure = figureOf(sum)
    totals[figure] += paid.has(figure) ? -sum.amount : sum.amount
  }
  return { ...totals, net: totals.won - totals.staked }
}

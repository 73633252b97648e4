/** Report figures that a ledger entry adds to (`docs/decisions/0018-reports.md`), in minor units of the player's currency. */
import type { CasinoSource, EntryType, ReportCount, WalletKind } from "./Change.ts"

const dayMs = 86_400_000

/** Day number of an instant in epoch milliseconds. */
export const dayOf = (at: number): number => Math.floor(at / dayMs)

/**
 * Count of an entry; undefined when no report figure includes it. A rollback is subtracted from the figure of its target: stakes or wins. A
 * tournament prize is not a win of a round; its rollback has no source and is not counted.
 */
export const reportCountOf = (
  entry: { readonly wallet: WalletKind; readonly type: EntryType; readonly amount: number },
  day: number,
  source: CasinoSource | null
): ReportCount | undefined => {
  const { amount, type, wallet } = entry
  switch (type) {
    case "casino_bet":
      return ofBet(day, source, wallet, -amount)
    case "casino_win":
      return { figure: "wins", day, source, amount, bonusAmount: 0 }
    case "casino_rollback":
      return source === null
        ? undefined
        : amount > 0
        ? ofBet(day, source, wallet, -amount)
        : { figure: "wins", day, source, amount, bonusAmount: 0 }
    case "bonus_conversion":
      return wallet === "real"
        ? { figure: "bonus_conversions", day, source: null, amount, bonusAmount: 0 }
        : undefined
    case "deposit":
      return { figure: "deposits", day, source: null, amount, bonusAmount: 0 }
    case "chargeback":
      return { figure: "chargebacks", day, source: null, amount: -amount, bonusAmount: 0 }
    case "withdrawal":
    case "withdrawal_rejection":
    case "correction_up":
    case "correction_down":
    case "bonus_correction_up":
    case "bonus_correction_down":
    case "loyalty_exchange":
    case "tournament_prize":
      return undefined
    default:
      return type satisfies never
  }
}

const ofBet = (day: number, source: CasinoSource | null, wallet: WalletKind, amount: number): ReportCount => ({
  figure: "bets",
  day,
  source,
  amount,
  bonusAmount: wallet === "bonus" ? amount : 0
})

/** Converts the actions of a provider call into inputs of the settlement rules: exact amounts in minor units, with game, round and session. */
import type { Bet, SettledGame, SettlementPolicy } from "../../domain/settlement/Settlement.ts"
import type { Action } from "../../domain/state/Messages.ts"
import { minorDigits } from "../../domain/Standards.ts"
import { isExamined } from "../../domain/wallet/LargeCredits.ts"
import { type Amount, toMinorUnits } from "../../protocols/Decimal.ts"
import type { WalletAction } from "../../protocols/Protocol.ts"

/** Provider of a call. */
export interface CallingProvider {
  readonly providerId: number
  readonly policy: SettlementPolicy
}

/** Game, round and session of an action. */
export interface ActionPlace {
  readonly game: SettledGame
  readonly roundId: string
  readonly session: Bet["session"]
  readonly currency: string
}

/** Maximum decimal places of a currency: an upper bound in minor units of an amount whose currency is not known yet. */
const maxDigits = 4

/** Whether a credit may raise an alert by the terms of its player, which have to be looked up. */
export const mayBeExamined = (action: WalletAction): boolean =>
  (action.action === "win" || action.action === "promo_win" || action.action === "adjust") &&
  isExamined(toMinorUnits(action.amount, maxDigits) ?? Number.POSITIVE_INFINITY)

/** Id of the message; undefined when it has none. */
export const idOfAction = (action: WalletAction | undefined): string | undefined =>
  action === undefined || action.action === "close_round" ? undefined : action.transactionId

/** Whole minor units of a currency, not below the minimum; undefined for another amount. */
const minorUnits = (amount: Amount, currency: string, minimum = 0): number | undefined => {
  const units = "minor" in amount ? amount.minor : toMinorUnits(amount, minorDigits(currency))
  return units === undefined || units < minimum ? undefined : units
}

/** The rules' message of an action; undefined when its amount is none of the currency. */
export const toAction = (
  { policy, providerId }: CallingProvider,
  { currency, game, roundId, session }: ActionPlace,
  action: WalletAction
): Action | undefined => {
  switch (action.action) {
    case "bet": {
      const amount = minorUnits(action.amount, currency)
      if (amount === undefined) return undefined
      const { closesRound, isFree = false, transactionId } = action
      return {
        action: "bet",
        policy,
        providerId,
        transactionId,
        currency,
        game,
        roundId,
        // the stake of a free bet is the provider's
        amount: isFree === true ? 0 : amount,
        isFree: isFree === "without_stake",
        session,
        closesRound
      }
    }
    case "win": {
      const amount = minorUnits(action.amount, currency)
      if (amount === undefined) return undefined
      const { betTransactionId, closesRound, ofBet = false, transactionId } = action
      return {
        action: "win",
        policy,
        providerId,
        transactionId,
        currency,
        game,
        roundId,
        betTransactionId,
        ofBet,
        amount,
        closesRound
      }
    }
    case "promo_win": {
      const amount = minorUnits(action.amount, currency)
      return amount === undefined ? undefined : { ...action, policy, providerId, currency, amount }
    }
    case "adjust": {
      const amount = minorUnits(action.amount, currency, Number.NEGATIVE_INFINITY)
      return amount === undefined ? undefined : { ...action, policy, providerId, currency, game, roundId, amount }
    }
    case "rollback":
      return { ...action, policy, providerId }
    case "close_round":
      return { ...action, policy, providerId, game, roundId }
  }
}

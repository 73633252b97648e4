/**
 * Withdrawal requests: the amount is debited from the real wallet at once and awaits staff (SPEC section 4.4; `docs/decisions/0010-payments.md`).
 * Later transitions are in `PaymentTransitions.ts`.
 */
import type { Bounds } from "../CurrencyConversion.ts"
import { type Context, type Decision, missing, refused } from "../state/Decision.ts"
import { Draft } from "../state/Draft.ts"
import { isAmount, maxAmount } from "../Money.ts"
import {
  newPayment,
  paymentFields,
  type PaymentOutcome,
  refuseDailyCap,
  refuseUnknownRate,
  replayPayment
} from "./Payments.ts"
import { activeHoldIds, type Player } from "../state/Player.ts"
import { countWithdrawal, roll } from "../state/Limits.ts"
import { type Refusal, refuse, refuseFields } from "../Refusal.ts"

/** Payment method as seen by a withdrawal. Bounds are minor units of the operator's currency, inclusive. */
export interface WithdrawalMethod {
  readonly code: string
  readonly supportsWithdrawal: boolean
  readonly currencies: ReadonlyArray<string>
  readonly minWithdrawal: number
  readonly maxWithdrawal: number
}

export interface Withdrawal {
  readonly amount: number
  /** The operator's reference; identifies this withdrawal permanently. Without one, every request is a new one. */
  readonly externalReference: string | null
  /** Code sent. */
  readonly methodCode: string
  /** Active method of that code, if any. */
  readonly method: WithdrawalMethod | null
  /** Bounds of the method in minor units of the player's currency; null when there is no exchange rate. Absent: the method's own. */
  readonly bounds?: Bounds | null
  readonly info: string | null
  readonly notes: string | null
  readonly bankName: string | null
  /** The operator's maximum of total withdrawals of an unverified player, in minor units of the player's currency; null: no limit. */
  readonly kycThreshold: number | null
  /** The operator's cap on withdrawals per day, in minor units of the player's currency; null or absent: no cap. */
  readonly dailyCap?: number | null
  /** The operator's setting: a withdrawal forfeits the running bonus. */
  readonly forfeitsBonus: boolean
}

export type WithdrawalRefusal = Refusal<
  | "DUPLICATE_TRANSACTION"
  | "PLAYER_RESTRICTED"
  | "PAYMENT_REQUEST_INVALID"
  | "KYC_REQUIRED"
  | "INSUFFICIENT_FUNDS"
  | "VALIDATION_FAILED"
>

/** Minor units that the player can still withdraw unverified; null: no limit. The threshold is in the player's currency. */
export const unverifiedAllowance = (player: Player, kycThreshold: number | null): number | null =>
  player.kycStatus === "verified" || kycThreshold === null ? null : Math.max(0, kycThreshold - player.withdrawn)

/** Account checks of a withdrawal. Excluded players are not refused: an exclusion never withholds the player's money. */
export const refuseWithdrawer = (player: Player): Refusal<"PLAYER_RESTRICTED"> | undefined =>
  player.status !== "active"
    ? refuse("PLAYER_RESTRICTED", `The account is ${player.status}.`, { reason: player.status })
    : !player.restrictions.canWithdraw
    ? refuse("PLAYER_RESTRICTED", "Withdrawals are disabled for this player.", { reason: "can_withdraw" })
    : refuseHeld(player)

/** Refuses requests and payouts of withdrawals while an alert holds them. */
export const refuseHeld = ({ withdrawalHolds }: Player): Refusal<"PLAYER_RESTRICTED"> | undefined =>
  activeHoldIds(withdrawalHolds).length === 0
    ? undefined
    : refuse("PLAYER_RESTRICTED", "Withdrawals of this player are under review.", { reason: "compliance_hold" })

const refuseMethod = (player: Player, withdrawal: Withdrawal): WithdrawalRefusal | undefined => {
  const { amount, bounds, method, methodCode } = withdrawal
  if (method === null) {
    return refuse("PAYMENT_REQUEST_INVALID", "There is no such payment method.", { payment_method: methodCode })
  }
  if (!method.supportsWithdrawal) {
    return refuse("PAYMENT_REQUEST_INVALID", `${method.code} pays nothing out.`, { payment_method: method.code })
  }
  if (!method.currencies.includes(player.currency)) {
    return refuse("PAYMENT_REQUEST_INVALID", `${method.code} does not take ${player.currency}.`, {
      payment_method: method.code,
      currency: player.currency
    })
  }
  if (bounds === null) return refuseUnknownRate(player, method)
  const { max, min } = bounds ?? { min: method.minWithdrawal, max: method.maxWithdrawal }
  return amount < min || amount > max
    ? refuse("PAYMENT_REQUEST_INVALID", `${method.code} pays out from ${min} to ${max}.`, {
      min_withdrawal: min,
      max_withdrawal: max
    })
    : undefined
}

/** Refuses what an unverified player may not withdraw. */
export const refuseUnverified = (
  player: Player,
  { amount, kycThreshold }: Pick<Withdrawal, "amount" | "kycThreshold">
): Refusal<"KYC_REQUIRED"> | undefined => {
  const allowance = unverifiedAllowance(player, kycThreshold)
  return allowance === null || amount <= allowance
    ? undefined
    : refuse("KYC_REQUIRED", "The player has to be verified before withdrawing this much.", {
      kyc_status: player.kycStatus,
      unverified_withdrawal_allowance: allowance,
      threshold: kycThreshold
    })
}

const refuseFunds = (player: Player, { amount }: Withdrawal): WithdrawalRefusal | undefined =>
  player.real < amount
    ? refuse("INSUFFICIENT_FUNDS", "The real balance is too low.", { balance: player.real })
    : isAmount(player.withdrawn + amount)
    ? undefined
    : refuseFields({ amount: [`must keep the sum of all withdrawals at or below ${maxAmount}`] })

/**
 * Debits the amount and opens a request. A known reference returns its withdrawal, whatever its state and the player's now; the same reference for
 * another player, type or amount is refused.
 */
export const withdrawalStep =
  (withdrawal: Withdrawal) => (player: Player, context: Context): Decision<PaymentOutcome, WithdrawalRefusal> => {
    const { amount, externalReference } = withdrawal
    if (externalReference !== null) {
      const earlier = context.known?.payments.get(externalReference)
      if (earlier === undefined) return missing({ externalReference })
      if (earlier !== null) return replayPayment(player, earlier, { type: "withdrawal", amount })
    }
    const refusal = refuseWithdrawer(player) ?? refuseMethod(player, withdrawal) ??
      refuseDailyCap("withdrawal", roll(player.counters, context.now).withdrawalDay, withdrawal) ??
      refuseUnverified(player, withdrawal) ??
      refuseFunds(player, withdrawal)
    if (refusal !== undefined) return refused(refusal)
    const { now } = context
    const draft = new Draft(player, context)
    const id = draft.takeId()
    draft.post("real", "withdrawal", -amount, { paymentRequestId: id })
    draft.walletSeq++
    draft.counters = countWithdrawal(draft.counters, now, amount)
    if (withdrawal.forfeitsBonus) draft.endBonus("cancelled")
    const payment = newPayment(player, {
      id,
      type: "withdrawal",
      status: "new",
      amount,
      paymentMethod: withdrawal.method?.code ?? null,
      externalReference,
      info: withdrawal.info,
      notes: withdrawal.notes,
      bankName: withdrawal.bankName,
      createdAt: now,
      updatedAt: now
    })
    draft.emit("withdrawal.requested", { payment: paymentFields(payment) })
    return draft.accept(
      { payment, isRepeat: false },
      { payments: [{ payment, isNew: true }] },
      { withdrawn: player.withdrawn + amount }
    )
  }

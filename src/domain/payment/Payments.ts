/** Deposits: money already collected by the operator's own payment provider, credited at once (SPEC section 4.4). */
import type { Payment, PaymentType } from "../state/Change.ts"
import type { Bounds } from "../CurrencyConversion.ts"
import { type Accept, answer, type Context, type Decision, missing, type Refuse, refused } from "../state/Decision.ts"
import { Draft } from "../state/Draft.ts"
import { countDeposit, bindingLimits, refuseDeposit, roll } from "../state/Limits.ts"
import { refuseNetDeposit } from "../limit/NetDepositCap.ts"
import { isBalance, maxBalance } from "../Money.ts"
import type { Player } from "../state/Player.ts"
import { acceptNoting } from "../obligation/Obligations.ts"
import { refuseAccountAt } from "../player/RefuseAccount.ts"
import { type AskedRegisters, nobodyAsked } from "../player/RegisterAdmission.ts"
import { type Refusal, refuse, refuseFields } from "../Refusal.ts"

type OwnOfPayment =
  | "id"
  | "type"
  | "status"
  | "amount"
  | "paymentMethod"
  | "externalReference"
  | "createdAt"
  | "updatedAt"

/** A payment of a player that nobody has decided about: what is left out is null. */
export const newPayment = (
  { currency, id: playerId, operatorId }: Player,
  own: Pick<Payment, OwnOfPayment> & Partial<Payment>
): Payment => ({
  operatorId,
  playerId,
  currency,
  info: null,
  notes: null,
  bankName: null,
  rejectReason: null,
  isReversed: false,
  firstApprovedBy: null,
  secondApprovedBy: null,
  paidAt: null,
  rejectedAt: null,
  cancelledAt: null,
  ...own
})

/** Payment method as seen by its rules. Bounds are minor units of the operator's currency, inclusive. */
interface DepositMethod {
  readonly code: string
  readonly supportsDeposit: boolean
  readonly currencies: ReadonlyArray<string>
  readonly minDeposit: number
  readonly maxDeposit: number
}

export interface Deposit {
  readonly amount: number
  /** The operator's reference; identifies this deposit permanently. */
  readonly externalReference: string
  /** Code sent, if any. */
  readonly methodCode: string | null
  /** Active method of that code, if any. */
  readonly method: DepositMethod | null
  /** Bounds of the method in minor units of the player's currency; null when there is no exchange rate. Absent: the method's own. */
  readonly bounds?: Bounds | null
  readonly info: string | null
  readonly notes: string | null
  /** The operator's cap on deposits per day, in minor units of the player's currency; null or absent: no cap. */
  readonly dailyCap?: number | null
}

/** Payment, and whether this request created it or it existed. */
export interface PaymentOutcome {
  readonly payment: Payment
  readonly isRepeat: boolean
}

export type DepositRefusal = Refusal<
  | "DUPLICATE_TRANSACTION"
  | "PLAYER_RESTRICTED"
  | "PAYMENT_REQUEST_INVALID"
  | "LIMIT_EXCEEDED"
  | "VALIDATION_FAILED"
  | "TRY_AGAIN"
>

/** Payment request as operators see it (SPEC section 2.5), in answers and in webhook events. */
export const paymentFields = (payment: Payment) => {
  const createdAt = new Date(payment.createdAt).toISOString()
  // most instants of a deposit are equal
  const iso = (at: number): string => at === payment.createdAt ? createdAt : new Date(at).toISOString()
  const isoOrNull = (at: number | null): string | null => at === null ? null : iso(at)
  return {
    id: payment.id,
    type: payment.type,
    status: payment.status,
    player_id: payment.playerId,
    amount: payment.amount,
    currency: payment.currency,
    payment_method: payment.paymentMethod,
    external_reference: payment.externalReference,
    info: payment.info,
    reject_reason: payment.rejectReason,
    is_reversed: payment.isReversed,
    created_at: createdAt,
    paid_at: isoOrNull(payment.paidAt),
    rejected_at: isoOrNull(payment.rejectedAt),
    cancelled_at: isoOrNull(payment.cancelledAt),
    updated_at: iso(payment.updatedAt)
  }
}

/** Answer to a known reference: its payment, if the request is the same. */
export const replayPayment = (
  player: Player,
  earlier: Payment,
  asked: { readonly type: PaymentType; readonly amount: number }
): Accept<PaymentOutcome> | Refuse<Refusal<"DUPLICATE_TRANSACTION">> =>
  earlier.type === asked.type && earlier.playerId === player.id && earlier.amount === asked.amount
    ? answer(player, { payment: earlier, isRepeat: true })
    : refused(
      refuse("DUPLICATE_TRANSACTION", "The external reference was used for a different operation.", {
        external_reference: earlier.externalReference
      })
    )

/** Refuses an amount that cannot be compared with the method's bounds in the operator's currency, for want of a rate. */
export const refuseUnknownRate = (player: Player, method: { readonly code: string }) =>
  refuse(
    "PAYMENT_REQUEST_INVALID",
    `There is no exchange rate for ${player.currency}, which the bounds of ${method.code} need. Staff have to set one.`,
    {
      reason: "exchange_rate",
      payment_method: method.code,
      currency: player.currency
    }
  )

const refuseMethod = (player: Player, deposit: Deposit): DepositRefusal | undefined => {
  const { amount, bounds, method, methodCode } = deposit
  if (methodCode === null) return undefined
  if (method === null) {
    return refuse("PAYMENT_REQUEST_INVALID", "There is no such payment method.", { payment_method: methodCode })
  }
  if (!method.supportsDeposit) {
    return refuse("PAYMENT_REQUEST_INVALID", `${method.code} takes no deposits.`, { payment_method: method.code })
  }
  if (!method.currencies.includes(player.currency)) {
    return refuse("PAYMENT_REQUEST_INVALID", `${method.code} does not take ${player.currency}.`, {
      payment_method: method.code,
      currency: player.currency
    })
  }
  if (bounds === null) return refuseUnknownRate(player, method)
  const { max, min } = bounds ?? { min: method.minDeposit, max: method.maxDeposit }
  return amount < min || amount > max
    ? refuse("PAYMENT_REQUEST_INVALID", `${method.code} takes deposits from ${min} to ${max}.`, {
      min_deposit: min,
      max_deposit: max
    })
    : undefined
}

/** Refuses a payment that would exceed the operator's daily cap for the player; null is no cap. */
export const refuseDailyCap = (
  kind: "deposit" | "withdrawal",
  used: number,
  { amount, dailyCap = null }: { readonly amount: number; readonly dailyCap?: number | null | undefined }
): Refusal<"PAYMENT_REQUEST_INVALID"> | undefined =>
  dailyCap === null || used + amount <= dailyCap
    ? undefined
    : refuse(
      "PAYMENT_REQUEST_INVALID",
      `The daily ${kind} limit is ${dailyCap}.`,
      { [`daily_${kind}_cap`]: dailyCap, used }
    )

/**
 * Credits a deposit. A known reference returns its deposit, whatever the player's state now; the same reference for another player, type or amount is
 * refused. A reference that was not looked up is assumed to be new when the deposit is accepted: its unique index proves that in the commit.
 */
export const depositStep =
  (deposit: Deposit, asked: AskedRegisters = nobodyAsked) =>
  (player: Player, context: Context): Decision<PaymentOutcome, DepositRefusal> => {
    const reference = deposit.externalReference
    const earlier = context.known?.payments.get(reference)
    if (earlier !== undefined && earlier !== null) {
      return replayPayment(player, earlier, { type: "deposit", amount: deposit.amount })
    }
    const refuseOrLookUp = (refusal: DepositRefusal) =>
      earlier === undefined ? missing({ externalReference: reference }) : refused(refusal)
    const { now } = context
    const refusal = refuseAccountAt(player, "canDeposit", { event: "deposit", asked }, now) ??
      refuseMethod(player, deposit) ??
      refuseDailyCap("deposit", roll(player.counters, now).depositDay, deposit) ??
      refuseNetDeposit(player, deposit.amount, now) ??
      refuseDeposit(
        bindingLimits(player, now),
        player.counters,
        deposit.amount,
        player.real,
        now
      )
    if (refusal !== undefined) return refuseOrLookUp(refusal)
    if (!isBalance(player.real + deposit.amount)) {
      return refuseOrLookUp(refuseFields({ amount: [`must keep the balance at or below ${maxBalance}`] }))
    }
    const draft = new Draft(player, context)
    const id = draft.takeId()
    draft.post("real", "deposit", deposit.amount, { paymentRequestId: id })
    draft.walletSeq++
    draft.counters = countDeposit(draft.counters, now, deposit.amount)
    const payment = newPayment(player, {
      id,
      type: "deposit",
      status: "paid",
      amount: deposit.amount,
      paymentMethod: deposit.method?.code ?? null,
      externalReference: reference,
      info: deposit.info,
      notes: deposit.notes,
      createdAt: now,
      paidAt: now,
      updatedAt: now
    })
    draft.emit("deposit.paid", { payment: paymentFields(payment) })
    return acceptNoting(draft, { payment, isRepeat: false }, { payments: [{ payment, isNew: true }] })
  }

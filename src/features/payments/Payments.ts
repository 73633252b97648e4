/** Reads payment requests for operators and staff, and takes the withdrawals that operators request (SPEC section 4.4). */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Payment } from "../../domain/state/Change.ts"
import type { Bounds } from "../../domain/CurrencyConversion.ts"
import type { Operator } from "../../domain/state/Operator.ts"
import type { PaymentOutcome } from "../../domain/payment/Payments.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import type { KeyedReply } from "../../domain/state/StoringReply.ts"
import type { AcceptedSignature } from "../../domain/state/AcceptedSignature.ts"
import { type Withdrawal, type WithdrawalRefusal, withdrawalStep } from "../../domain/payment/Withdrawals.ts"
import { isLacking, type Lacking, planned } from "../../store/Planned.ts"
import { type ActorRefusal, PlayerActors } from "../../store/PlayerActors.ts"
import { type PlayerCommand, runCommand, startCommand, type Started } from "../../store/PlayerCommands.ts"
import type { Part, PartQuery } from "../../store/Cursors.ts"
import { orTryAgain, type Page, type PageQuery, rowsOf } from "../../store/Rows.ts"
import { makeRowCounts } from "../../store/RowCounts.ts"
import type { PaymentMethod } from "./Methods.ts"
import { makePaymentList, type PaymentFilters } from "./PaymentList.ts"
import { type KnownTerms, makePlanTerms, noTerms } from "./PaymentPlans.ts"
import type { Scope } from "../../store/OperatorScope.ts"

export interface PaymentQuery extends PaymentFilters, PageQuery {}

export interface WithdrawalRequest {
  /** Minor units, positive. */
  readonly amount: number
  readonly externalReference: string | null
  readonly paymentMethod: string
  readonly info: string | null
  readonly notes: string | null
  readonly bankName: string | null
}

type Unavailable = Refusal<"TRY_AGAIN">

const notFound = refuse("NOT_FOUND", "There is no such payment.")

/** A withdrawal to decide; cap, threshold and bounds in the player's currency. */
const toWithdrawal = (
  { forfeitBonusOnWithdrawal: forfeitsBonus }: Operator,
  { amount, bankName, externalReference, info, notes, paymentMethod: methodCode }: WithdrawalRequest,
  terms: Pick<Withdrawal, "method" | "bounds" | "dailyCap" | "kycThreshold">
): Withdrawal => ({ ...terms, amount, externalReference, methodCode, info, notes, bankName, forfeitsBonus })

const ownBounds = ({ maxWithdrawal, minWithdrawal }: PaymentMethod): Bounds => ({
  min: minWithdrawal,
  max: maxWithdrawal
})

const counts = rowsOf(Schema.Struct({ total: Schema.Number }))

export class Payments extends Context.Service<Payments, {
  /** Holds the amount and creates a request, or returns the existing one with the reference. */
  readonly withdraw: (
    operator: Operator,
    playerId: number,
    request: WithdrawalRequest,
    answering: KeyedReply<PaymentOutcome>
  ) => Effect.Effect<PaymentOutcome, WithdrawalRefusal | ActorRefusal>
  /** As `withdraw`, without a fiber; as `Wallet.startDeposit`. */
  readonly startWithdrawal: (
    operator: Operator,
    playerId: number,
    request: WithdrawalRequest,
    accepted: AcceptedSignature,
    done: (exit: Started<PaymentOutcome, WithdrawalRefusal>) => void
  ) => boolean
  /** A payment of the operator. */
  readonly get: (operatorId: number, paymentId: number) => Effect.Effect<Payment, Refusal<"NOT_FOUND"> | Unavailable>
  /** Payments of the operator, newest first. */
  readonly list: (operatorId: number, query: PaymentQuery) => Effect.Effect<Page<Payment>, Unavailable>
  /** As `list`, by cursor, without a count. */
  readonly walk: (
    operatorId: number,
    query: PaymentFilters & PartQuery
  ) => Effect.Effect<Part<Payment>, Refusal<"VALIDATION_FAILED"> | Unavailable>
  /** A payment of any operator. */
  readonly staffGet: (paymentId: number) => Effect.Effect<Payment, Refusal<"NOT_FOUND"> | Unavailable>
  /** Cursor behind a payment in the order newest first. */
  readonly cursorAt: (payment: Payment) => string
}>()("pitboss/payments/Payments") {
  static readonly layer = Layer.effect(
    Payments,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actors = yield* PlayerActors
      const planTerms = yield* makePlanTerms
      const payments = yield* makePaymentList
      const countPayments = yield* makeRowCounts("payment_requests", "payment_counts", ["type", "status"])

      const planWithdrawal = (
        operator: Operator,
        playerId: number,
        request: WithdrawalRequest,
        known: KnownTerms
      ): PlayerCommand<PaymentOutcome, WithdrawalRefusal> | Lacking<KnownTerms, ActorRefusal> => {
        const { dailyWithdrawalCap, id, kycWithdrawalThreshold } = operator
        const terms = planTerms({
          operator,
          playerId,
          methodCode: request.paymentMethod,
          boundsOf: ownBounds,
          caps: [dailyWithdrawalCap, kycWithdrawalThreshold]
        }, known)
        if (isLacking(terms)) return terms
        const { bounds, inCurrency, method } = terms
        const withdrawal = toWithdrawal(operator, request, {
          method,
          bounds,
          dailyCap: inCurrency(dailyWithdrawalCap),
          kycThreshold: inCurrency(kycWithdrawalThreshold)
        })
        return {
          operatorId: id,
          playerId,
          step: withdrawalStep(withdrawal),
          isNameless: request.externalReference === null
        }
      }

      const withdraw: Payments["Service"]["withdraw"] = Effect.fn("Payments.withdraw")(
        function*(operator, playerId, request, answering) {
          const command = yield* planned(noTerms, (known) => planWithdrawal(operator, playerId, request, known))
          return yield* runCommand(actors, command, answering)
        }
      )

      const startWithdrawal: Payments["Service"]["startWithdrawal"] = (operator, playerId, request, accepted, done) => {
        const command = planWithdrawal(operator, playerId, request, noTerms)
        if (isLacking(command)) return false
        startCommand(actors, command, accepted, done)
        return true
      }

      const find = Effect.fnUntraced(function*(scope: Scope, id: number) {
        return (yield* payments.find(scope, { id })) ?? (yield* Effect.fail(notFound))
      }, orTryAgain)

      const list: Payments["Service"]["list"] = Effect.fn("Payments.list")(function*(operatorId, query) {
        const { createdFrom, createdTo, externalReference, playerId, status, type } = query
        return yield* payments.page(
          [operatorId],
          query,
          "newest",
          (ofList) =>
            playerId !== undefined || externalReference !== undefined
              ? Effect.map(
                counts(sql`SELECT count(*) AS total FROM payment_requests WHERE ${ofList}`),
                ([row]) => row?.total ?? 0
              )
              : countPayments({ operatorId, groups: { type, status }, createdFrom, createdTo })
        )
      }, orTryAgain)

      const walk: Payments["Service"]["walk"] = Effect.fn("Payments.walk")(
        (operatorId, query) => payments.part([operatorId], query, "newest"),
        orTryAgain
      )

      return Payments.of({
        withdraw,
        startWithdrawal,
        get: Effect.fn("Payments.get")((operatorId, paymentId) => find([operatorId], paymentId)),
        list,
        walk,
        staffGet: Effect.fn("Payments.staffGet")((paymentId: number) => find(null, paymentId)),
        cursorAt: payments.cursorAt("newest")
      })
    })
  )
}

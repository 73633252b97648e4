/** Payment requests: reads for operators and staff, withdrawals requested by operators (SPEC section 4.4). */
import { Context, Effect, Exit, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Payment, PaymentStatus, PaymentType } from "../../domain/state/Change.ts"
import { type Bounds, boundsIn, oneForOne, thresholdIn } from "../../domain/CurrencyConversion.ts"
import type { IdempotencyClaim, RenderedReply } from "../../domain/state/Idempotency.ts"
import type { Operator } from "../../domain/state/Operator.ts"
import type { PaymentOutcome } from "../../domain/payment/Payments.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { storingReply } from "../../domain/state/StoringReply.ts"
import type { AcceptedSignature } from "../../domain/state/AcceptedSignature.ts"
import { type Recorded, storingSignature } from "../../domain/state/StoringSignature.ts"
import { type Withdrawal, type WithdrawalRefusal, withdrawalStep } from "../../domain/payment/Withdrawals.ts"
import { toDate } from "../../platform/Time.ts"
import { PersonalData } from "../../platform/PersonalData.ts"
import { paymentColumns, PaymentRow, toPayments } from "../../store/PaymentRow.ts"
import { type ActorRefusal, PlayerActors, refusingOnce } from "../../store/PlayerActors.ts"
import { behind, type Part, type PartQuery, timedCursors } from "../../store/Cursors.ts"
import { offsetOf, oneOf, orTryAgain, type Page, type PageQuery, rowsOf } from "../../store/Rows.ts"
import { makeRowCounts } from "../../store/RowCounts.ts"
import { type PaymentMethod, PaymentMethods } from "./Methods.ts"
import { type Scope, sumWithin, within } from "../../office/OperatorScope.ts"
import { Thresholds } from "./Thresholds.ts"

/** Filters; an absent one matches all. */
export interface PaymentFilters {
  readonly playerId?: number | undefined
  readonly type?: PaymentType | undefined
  readonly status?: PaymentStatus | undefined
  readonly externalReference?: string | undefined
  /** Epoch milliseconds, inclusive. */
  readonly createdFrom?: number | undefined
  readonly createdTo?: number | undefined
}

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

const paymentRows = rowsOf(PaymentRow)
const counts = rowsOf(Schema.Struct({ total: Schema.Number }))

export class Payments extends Context.Service<Payments, {
  /** Holds the amount and creates a request, or returns the existing one with the reference. */
  readonly withdraw: (
    operator: Operator,
    playerId: number,
    request: WithdrawalRequest,
    answering: {
      readonly claim: IdempotencyClaim | undefined
      readonly render: (outcome: PaymentOutcome) => RenderedReply
    }
  ) => Effect.Effect<PaymentOutcome, WithdrawalRefusal | ActorRefusal>
  /** As `withdraw`, without a fiber; as `Wallet.startDeposit`. */
  readonly startWithdrawal: (
    operator: Operator,
    playerId: number,
    request: WithdrawalRequest,
    accepted: AcceptedSignature,
    done: (
      exit: Exit.Exit<Recorded<PaymentOutcome>, WithdrawalRefusal | ActorRefusal | Refusal<"REPLAYED_REQUEST">>
    ) => void
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
  /** Payments of the operators of a scope, newest first. */
  readonly staffList: (scope: Scope, query: PaymentQuery) => Effect.Effect<Page<Payment>, Unavailable>
}>()("pitboss/payments/Payments") {
  static readonly layer = Layer.effect(
    Payments,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actors = yield* PlayerActors
      const methods = yield* PaymentMethods
      const thresholds = yield* Thresholds
      const personal = yield* PersonalData
      const columns = sql.literal(paymentColumns)
      const payments = <E, R>(statement: Effect.Effect<ReadonlyArray<unknown>, E, R>) =>
        Effect.flatMap(paymentRows(statement), (rows) => toPayments(personal, rows))
      const countPayments = yield* makeRowCounts("payment_requests", "payment_counts", ["type", "status"])

      const withdraw: Payments["Service"]["withdraw"] = Effect.fn("Payments.withdraw")(
        function*(operator, playerId, request, answering) {
          const method = (yield* methods.find(operator.id, request.paymentMethod)) ?? null
          const base = operator.currency
          const needsCurrency = operator.kycWithdrawalThreshold !== null || operator.dailyWithdrawalCap !== null ||
            method?.currencies.some((currency) => currency !== base)
          const currency = needsCurrency ? (yield* actors.read(operator.id, playerId)).currency : base
          const kycThreshold = yield* thresholds.convert(operator.kycWithdrawalThreshold, { currency, base })
          const dailyCap = yield* thresholds.convert(operator.dailyWithdrawalCap, { currency, base })
          const bounds = method === null
            ? null
            : yield* thresholds.bounds(ownBounds(method), { currency, base })
          const step = withdrawalStep(toWithdrawal(operator, request, { method, bounds, dailyCap, kycThreshold }))
          const asked = actors.ask(operator.id, playerId, storingReply(step, answering.claim, answering.render))
          return yield* request.externalReference === null && answering.claim === undefined
            ? Effect.mapError(asked, refusingOnce)
            : asked
        }
      )

      const startWithdrawal: Payments["Service"]["startWithdrawal"] = (operator, playerId, request, accepted, done) => {
        const method = methods.findUnsafe(operator.id, request.paymentMethod)
        if (method === undefined || actors.peek(operator.id, playerId)?.currency !== operator.currency) return false
        const withdrawal = toWithdrawal(operator, request, {
          method,
          bounds: boundsIn(ownBounds(method), oneForOne),
          dailyCap: thresholdIn(operator.dailyWithdrawalCap, oneForOne),
          kycThreshold: thresholdIn(operator.kycWithdrawalThreshold, oneForOne)
        })
        actors.post(
          operator.id,
          playerId,
          storingSignature(withdrawalStep(withdrawal), accepted),
          request.externalReference === null ? (exit) => done(Exit.mapError(exit, refusingOnce)) : done
        )
        return true
      }

      const find = Effect.fnUntraced(function*(scope: Scope, paymentId: number) {
        const row = yield* oneOf(payments(
          sql`SELECT ${columns} FROM payment_requests
            WHERE ${sql.and([sql`id = ${paymentId}::float8::bigint`, ...within(sql, scope)])}`
        ))
        return row === undefined ? yield* Effect.fail(notFound) : row
      }, orTryAgain)

      const conditionsOf = (scope: Scope, query: PaymentFilters) => [
        sql`true`,
        ...within(sql, scope),
        ...[
          query.playerId === undefined ? undefined : sql`player_id = ${query.playerId}::float8::bigint`,
          query.type === undefined ? undefined : sql`type = ${query.type}`,
          query.status === undefined ? undefined : sql`status = ${query.status}`,
          // literals, to match the partial index of pending payments
          query.status === "new" || query.status === "allowed" ? sql`status IN ('new', 'allowed')` : undefined,
          query.externalReference === undefined ? undefined : sql`external_reference = ${query.externalReference}`,
          query.createdFrom === undefined ? undefined : sql`created_at >= ${toDate(query.createdFrom)}`,
          query.createdTo === undefined ? undefined : sql`created_at <= ${toDate(query.createdTo)}`
        ].filter((filter) => filter !== undefined)
      ]

      const select = Effect.fnUntraced(function*(scope: Scope, query: PaymentQuery) {
        const where = sql.and(conditionsOf(scope, query))
        const { createdFrom, createdTo, externalReference, playerId, status, type } = query
        const [total, rows] = yield* Effect.all([
          playerId !== undefined || externalReference !== undefined
            ? Effect.map(
              counts(sql`SELECT count(*) AS total FROM payment_requests WHERE ${where}`),
              ([row]) => row?.total ?? 0
            )
            : sumWithin(
              scope,
              (operatorId) => countPayments({ operatorId, groups: { type, status }, createdFrom, createdTo })
            ),
          payments(
            sql`SELECT ${columns} FROM payment_requests WHERE ${where} ORDER BY created_at DESC, payment_requests.id DESC
            LIMIT ${query.perPage}::float8::bigint OFFSET ${offsetOf(query)}::float8::bigint`
          )
        ], { concurrency: 2 })
        return { items: rows, total }
      }, orTryAgain)

      const walk = Effect.fn("Payments.walk")(
        function*(operatorId: number, query: PaymentFilters & PartQuery) {
          const { cursor, limit } = query
          const where = sql.and([
            ...conditionsOf([operatorId], query),
            ...behind(sql, yield* timedCursors.read(cursor))
          ])
          const rows = yield* payments(sql`SELECT ${columns} FROM payment_requests WHERE ${where}
            ORDER BY created_at DESC, payment_requests.id DESC LIMIT ${limit + 1}::float8::bigint`)
          return timedCursors.part(rows, limit, ({ createdAt, id }) => ({ at: createdAt, id }))
        },
        orTryAgain
      )

      return Payments.of({
        withdraw,
        startWithdrawal,
        get: Effect.fn("Payments.get")((operatorId, paymentId) => find([operatorId], paymentId)),
        list: Effect.fn("Payments.list")((operatorId, query) => select([operatorId], query)),
        walk,
        staffGet: Effect.fn("Payments.staffGet")((paymentId: number) => find(null, paymentId)),
        staffList: Effect.fn("Payments.staffList")(select)
      })
    })
  )
}

/** Payment methods of an operator, cached (SPEC section 2.6). */
import { Cache, Clock, Context, Effect, Exit, Layer, MutableHashMap, Option, Schema, Struct } from "effect"
import { Notices } from "../../cluster/Notices.ts"
import { SqlClient } from "effect/sql"
import type { Operator } from "../../domain/state/Operator.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import { wire } from "../../domain/WireNames.ts"
import { monotonicClock, withMonotonicClock } from "../../platform/MonotonicClock.ts"
import { columnsOf, orTryAgain, rowsOf } from "../../store/Rows.ts"

/** Bounds in minor units of the operator's currency, inclusive. */
const PaymentMethod = Schema.Struct({
  id: Schema.Number,
  operatorId: Schema.Number,
  code: Schema.String,
  name: Schema.String,
  currencies: Schema.Array(Schema.String),
  supportsDeposit: Schema.Boolean,
  supportsWithdrawal: Schema.Boolean,
  minDeposit: Schema.Number,
  maxDeposit: Schema.Number,
  minWithdrawal: Schema.Number,
  maxWithdrawal: Schema.Number
})

export type PaymentMethod = typeof PaymentMethod.Type

/** Payment method in the operator API. */
export const paymentMethodFields = Schema.encodeSync(wire(PaymentMethod.mapFields(Struct.omit(["id", "operatorId"]))))

/** Capacity of the cache in operators; and lifetime of an entry, since another process may change methods. */
const remembered = 1000
const freshFor = "1500 millis"

const methods = rowsOf(PaymentMethod)

export class PaymentMethods extends Context.Service<PaymentMethods, {
  /** Active methods that accept the operator's currency, ordered by code. */
  readonly list: (operator: Operator) => Effect.Effect<ReadonlyArray<PaymentMethod>, Refusal<"TRY_AGAIN">>
  /** Active method of an operator, with any currencies. */
  readonly find: (
    operatorId: number,
    code: string
  ) => Effect.Effect<PaymentMethod | undefined, Refusal<"TRY_AGAIN">>
  /** As `find`, at once; undefined when it is not in memory: then `find`. */
  readonly findUnsafe: (operatorId: number, code: string) => PaymentMethod | undefined
  /** Evicts an operator's methods; to be called after every committed change of them. */
  readonly invalidate: (operatorId: number) => Effect.Effect<void>
}>()("pitboss/payments/PaymentMethods") {
  static readonly layer = Layer.effect(
    PaymentMethods,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      // Kept: byOperator. Payment methods of an operator. Several nodes: kept for 1.5 s.
      const byOperator = yield* Cache.makeWith(
        (operatorId: number) =>
          orTryAgain(methods(
            sql`SELECT ${sql.literal(columnsOf(PaymentMethod))}
              FROM payment_methods WHERE operator_id = ${operatorId} AND active ORDER BY code`
          )),
        { capacity: remembered, timeToLive: (exit) => Exit.isSuccess(exit) ? freshFor : 0 }
      )
      const methodsOf = (operatorId: number) => withMonotonicClock(Cache.get(byOperator, operatorId))
      const clock = monotonicClock(yield* Clock.Clock)
      /** As `Cache.getSuccess`, without a fiber. */
      const peek = (operatorId: number) => {
        const entry = Option.getOrUndefined(MutableHashMap.get(byOperator.map, operatorId))
        const isFresh = entry?.expiresAt !== undefined && clock.currentTimeMillisUnsafe() < entry.expiresAt
        const exit = isFresh ? entry.fiber.pollUnsafe() : undefined
        return exit !== undefined && Exit.isSuccess(exit) ? exit.value : undefined
      }
      const forget = (yield* Notices).define(
        "payment_methods",
        (operatorId) => Cache.invalidate(byOperator, Number(operatorId))
      )
      return PaymentMethods.of({
        list: (operator) =>
          Effect.map(
            methodsOf(operator.id),
            (all) => all.filter((method) => method.currencies.includes(operator.currency))
          ),
        find: (operatorId, code) =>
          Effect.map(methodsOf(operatorId), (all) => all.find((method) => method.code === code)),
        findUnsafe: (operatorId, code) => peek(operatorId)?.find((method) => method.code === code),
        invalidate: (operatorId) => forget(String(operatorId))
      })
    })
  )
}

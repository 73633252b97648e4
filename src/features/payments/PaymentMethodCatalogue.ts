/** Staff management of operators' payment methods. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { maxAmount } from "../../domain/Money.ts"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import { applyUpdate } from "../../platform/ApplyUpdate.ts"
import { isCurrency } from "../../domain/Standards.ts"
import { iso } from "../../platform/Time.ts"
import { recordsOf } from "../../store/Records.ts"
import { orTryAgain, rowsOf } from "../../store/Rows.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import { makeReferences, orTaken } from "../../office/References.ts"
import type { Actor } from "../../office/Actor.ts"
import { PaymentMethods } from "./Methods.ts"
import { type MethodInput, type MethodUpdate, StaffPaymentMethod } from "../../contract/payments/StaffApi.ts"

type Method = typeof StaffPaymentMethod.Type

const currencyRows = rowsOf(Schema.Struct({ currency: Schema.String }))

const notFound = refuse("NOT_FOUND", "There is no such payment method.")

const codeTaken = orTaken({ payment_methods_operator_id_code_key: "code" })

/** Validation errors of a method after a change, whatever its earlier values. */
const refuseMethod = (method: Method): Effect.Effect<void, Refusal<"VALIDATION_FAILED">> => {
  const unknown = method.currencies.filter((currency) => !isCurrency(currency))
  const fields = {
    ...(method.currencies.length === 0 ? { currencies: ["must name at least one currency"] } : {}),
    ...(unknown.length === 0
      ? {}
      : { currencies: unknown.map((code) => `${code} is not an active ISO 4217 currency code`) }),
    ...(method.max_deposit < method.min_deposit ? { max_deposit: ["must not be below min_deposit"] } : {}),
    ...(method.max_withdrawal < method.min_withdrawal ? { max_withdrawal: ["must not be below min_withdrawal"] } : {})
  }
  return Object.keys(fields).length === 0 ? Effect.void : Effect.fail(refuseFields(fields))
}

type Unavailable = Refusal<"TRY_AGAIN">

export class PaymentMethodCatalogue extends Context.Service<PaymentMethodCatalogue, {
  /** Adds a method. Without currencies it accepts the operator's. */
  readonly create: (
    actor: Actor,
    input: MethodInput
  ) => Effect.Effect<Method, Refusal<"VALIDATION_FAILED" | "NOT_FOUND"> | Unavailable>
  /** Changes a method for all future payments. */
  readonly update: (
    actor: Actor,
    methodId: number,
    input: MethodUpdate
  ) => Effect.Effect<Method, Refusal<"VALIDATION_FAILED" | "NOT_FOUND"> | Unavailable>
  /** Methods of one operator or, with undefined, of all operators visible to the actor; by operator and code. */
  readonly list: (actor: Actor, operator: string | undefined) => Effect.Effect<
    ReadonlyArray<Method>,
    Refusal<"NOT_FOUND"> | Unavailable
  >
}>()("pitboss/payments/PaymentMethodCatalogue") {
  static readonly layer = Layer.effect(
    PaymentMethodCatalogue,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const cached = yield* PaymentMethods
      const references = yield* makeReferences
      const methods = yield* recordsOf("payment_methods", StaffPaymentMethod)

      const create = Effect.fn("PaymentMethodCatalogue.create")(
        function*(actor: Actor, { operator, ...input }: MethodInput) {
          const method = yield* auditLog.change(actor, ({ newId, now, recordChange }) =>
            Effect.gen(function*() {
              const operatorId = yield* references.operatorId(operator)
              const own = yield* currencyRows(sql`SELECT currency FROM operators WHERE id = ${operatorId}`)
              const method: Method = {
                id: newId,
                operator_id: operatorId,
                name: input.code,
                currencies: own.map(({ currency }) => currency),
                supports_deposit: true,
                supports_withdrawal: true,
                min_deposit: 1,
                max_deposit: maxAmount,
                min_withdrawal: 1,
                max_withdrawal: maxAmount,
                active: true,
                ...input,
                created_at: iso(now)
              }
              yield* refuseMethod(method)
              yield* methods.insert(method)
              return yield* recordChange("payment_method.create", null, method)
            }).pipe(codeTaken))
          yield* cached.invalidate(method.operator_id)
          return method
        }
      )

      const update = Effect.fn("PaymentMethodCatalogue.update")(
        function*(actor: Actor, methodId: number, input: MethodUpdate) {
          const method = yield* auditLog.change(actor, ({ recordChange }) =>
            Effect.gen(function*() {
              const before = yield* methods.find(sql`id = ${methodId} FOR NO KEY UPDATE`)
              if (before === undefined) return yield* Effect.fail(notFound)
              const after = applyUpdate<Method, MethodUpdate>(before, input)
              if (after === before) return before
              yield* refuseMethod(after)
              yield* methods.update(before, after)
              return yield* recordChange("payment_method.update", before, after)
            }))
          yield* cached.invalidate(method.operator_id)
          return method
        }
      )

      const list = Effect.fn("PaymentMethodCatalogue.list")(function*(actor: Actor, operator: string | undefined) {
        return yield* methods.all(sql`${yield* references.ofScope(actor, operator)} ORDER BY operator_id, code`)
      }, orTryAgain)

      return PaymentMethodCatalogue.of({ create, update, list })
    })
  )
}

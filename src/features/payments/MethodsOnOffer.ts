/** The ways to pay that operators offer, as staff keep them. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { maxAmount } from "../../domain/Money.ts"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import { PaymentMethods } from "./Methods.ts"
import { iso } from "../../platform/Time.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { isCurrency } from "../../platform/Standards.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { changed } from "../../platform/Changed.ts"
import { makeReferences, orTaken } from "../operators/References.ts"
import type { Actor } from "../staff/Staff.ts"

/** Bounds are minor units of the operator's currency, both included. */
export interface MethodUpdate {
  readonly name?: string
  readonly currencies?: ReadonlyArray<string>
  readonly supports_deposit?: boolean
  readonly supports_withdrawal?: boolean
  readonly min_deposit?: number
  readonly max_deposit?: number
  readonly min_withdrawal?: number
  readonly max_withdrawal?: number
  readonly active?: boolean
}

export type MethodInput = MethodUpdate & {
  /** Id or slug. */
  readonly operator: string
  readonly code: string
}

const MethodRow = Schema.Struct({
  id: Schema.Number,
  operator_id: Schema.Number,
  code: Schema.String,
  name: Schema.String,
  currencies: Schema.Array(Schema.String),
  supports_deposit: Schema.Boolean,
  supports_withdrawal: Schema.Boolean,
  min_deposit: Schema.Number,
  max_deposit: Schema.Number,
  min_withdrawal: Schema.Number,
  max_withdrawal: Schema.Number,
  active: Schema.Boolean,
  created_at: Schema.Date
})

const toFields = (row: typeof MethodRow.Type) => ({ ...row, created_at: iso(row.created_at.getTime()) })

/** A payment method as it is shown to staff. */
export type StaffMethodFields = ReturnType<typeof toFields>

const methodRows = rowsOf(MethodRow)
const currencyRows = rowsOf(Schema.Struct({ currency: Schema.String }))

const notFound = refuse("NOT_FOUND", "There is no such payment method.")

const codeTaken = orTaken({ payment_methods_operator_id_code_key: "code" })

/** What is wrong with a method as it would be, whatever it was before. */
const refuseMethod = (method: StaffMethodFields): Effect.Effect<void, Refusal<"VALIDATION_FAILED">> => {
  const unknown = method.currencies.filter((currency) => !isCurrency(currency))
  const fields = {
    ...(method.currencies.length === 0 ? { currencies: ["must name at least one currency"] } : {}),
    ...(unknown.length === 0
      ? {}
      : { currencies: unknown.map((code) => `${code} is no active ISO 4217 currency code`) }),
    ...(method.max_deposit < method.min_deposit ? { max_deposit: ["must not be below min_deposit"] } : {}),
    ...(method.max_withdrawal < method.min_withdrawal ? { max_withdrawal: ["must not be below min_withdrawal"] } : {})
  }
  return Object.keys(fields).length === 0 ? Effect.void : Effect.fail(refuseFields(fields))
}

type Unavailable = Refusal<"TRY_AGAIN">

export class MethodsOnOffer extends Context.Service<MethodsOnOffer, {
  /** Adds a method. Without currencies it takes the operator's own. */
  readonly create: (
    actor: Actor,
    input: MethodInput
  ) => Effect.Effect<StaffMethodFields, Refusal<"VALIDATION_FAILED" | "NOT_FOUND"> | Unavailable>
  /** Changes a method for every payment from now on. */
  readonly update: (
    actor: Actor,
    methodId: number,
    input: MethodUpdate
  ) => Effect.Effect<StaffMethodFields, Refusal<"VALIDATION_FAILED" | "NOT_FOUND"> | Unavailable>
  /** The methods of one operator or, with undefined, all; by operator and code. */
  readonly list: (operator: string | undefined) => Effect.Effect<
    ReadonlyArray<StaffMethodFields>,
    Refusal<"NOT_FOUND"> | Unavailable
  >
}>()("pitboss/backoffice/MethodsOnOffer") {
  static readonly layer = Layer.effect(
    MethodsOnOffer,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const methods = yield* PaymentMethods
      const references = yield* makeReferences
      const columns = sql.literal(`id, operator_id, code, name, currencies,
        supports_deposit, supports_withdrawal, min_deposit, max_deposit,
        min_withdrawal, max_withdrawal, active, created_at`)

      const create = Effect.fn("MethodsOnOffer.create")(function*(actor: Actor, input: MethodInput) {
        const fields = yield* auditLog.change(actor, ({ newId, now, record }) =>
          Effect.gen(function*() {
            const operatorId = yield* references.operatorId(input.operator)
            const own = yield* currencyRows(sql`SELECT currency FROM operators WHERE id = ${operatorId}`)
            const fields: StaffMethodFields = {
              id: newId,
              operator_id: operatorId,
              code: input.code,
              name: input.name ?? input.code,
              currencies: input.currencies ?? own.map(({ currency }) => currency),
              supports_deposit: input.supports_deposit ?? true,
              supports_withdrawal: input.supports_withdrawal ?? true,
              min_deposit: input.min_deposit ?? 1,
              max_deposit: input.max_deposit ?? maxAmount,
              min_withdrawal: input.min_withdrawal ?? 1,
              max_withdrawal: input.max_withdrawal ?? maxAmount,
              active: input.active ?? true,
              created_at: iso(now)
            }
            yield* refuseMethod(fields)
            yield* sql`INSERT INTO payment_methods (id, operator_id, code, name, currencies, supports_deposit,
                supports_withdrawal, min_deposit, max_deposit, min_withdrawal, max_withdrawal, active, created_at)
              VALUES (${fields.id}, ${fields.operator_id}, ${fields.code}, ${fields.name}, ${[...fields.currencies]},
                ${fields.supports_deposit}, ${fields.supports_withdrawal}, ${fields.min_deposit}, ${fields.max_deposit},
                ${fields.min_withdrawal}, ${fields.max_withdrawal}, ${fields.active}, ${fields.created_at})`
            yield* record({
              action: "payment_method.create",
              operatorId,
              subject: `payment_method:${newId}`,
              before: null,
              after: fields
            })
            return fields
          }).pipe(codeTaken))
        yield* methods.invalidate(fields.operator_id)
        return fields
      })

      const update = Effect.fn("MethodsOnOffer.update")(function*(actor: Actor, methodId: number, input: MethodUpdate) {
        const fields = yield* auditLog.change(actor, ({ record }) =>
          Effect.gen(function*() {
            const row = yield* oneOf(methodRows(
              sql`SELECT ${columns} FROM payment_methods WHERE id = ${methodId} FOR NO KEY UPDATE`
            ))
            if (row === undefined) return yield* Effect.fail(notFound)
            const before = toFields(row)
            const after = changed<StaffMethodFields, MethodUpdate>(before, input)
            if (after === before) return before
            yield* refuseMethod(after)
            yield* sql`UPDATE payment_methods SET name = ${after.name}, currencies = ${[...after.currencies]},
                supports_deposit = ${after.supports_deposit}, supports_withdrawal = ${after.supports_withdrawal},
                min_deposit = ${after.min_deposit}, max_deposit = ${after.max_deposit},
                min_withdrawal = ${after.min_withdrawal}, max_withdrawal = ${after.max_withdrawal},
                active = ${after.active}
              WHERE id = ${methodId}`
            yield* record({
              action: "payment_method.update",
              operatorId: after.operator_id,
              subject: `payment_method:${methodId}`,
              before,
              after
            })
            return after
          }))
        yield* methods.invalidate(fields.operator_id)
        return fields
      })

      const list = Effect.fn("MethodsOnOffer.list")(function*(operator: string | undefined) {
        const operatorId = operator === undefined ? undefined : yield* references.operatorId(operator)
        const found = yield* methodRows(
          sql`SELECT ${columns} FROM payment_methods
            WHERE ${operatorId === undefined ? sql`true` : sql`operator_id = ${operatorId}`} ORDER BY operator_id, code`
        )
        return found.map(toFields)
      }, orTryAgain)

      return MethodsOnOffer.of({ create, update, list })
    })
  )
}

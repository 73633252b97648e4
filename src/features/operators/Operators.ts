/** Operators: who they are, and the settings that rules read. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Credentials } from "../../auth/Credentials.ts"
import { readLimitChanges } from "../../domain/limit/LimitChanges.ts"
import { type LimitField, limitFields, type Limits } from "../../domain/limit/Limits.ts"
import { type CooperationModel, defaultOriginalBounds, type Feature } from "../../domain/Operator.ts"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import { PaymentMethods } from "../payments/Methods.ts"
import { iso } from "../../platform/Time.ts"
import { ActiveOperators } from "./ActiveOperators.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { isCurrency } from "../../platform/Standards.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { changed } from "../../platform/Changed.ts"
import { makeReferences, orTaken } from "./References.ts"
import type { Actor } from "../staff/Staff.ts"

export interface OperatorUpdate {
  readonly slug?: string
  readonly name?: string
  /** ISO 4217. */
  readonly currency?: string
  readonly cooperation_model?: CooperationModel
  readonly active?: boolean
  readonly cooling_off_hours?: number
  /** Minor units; null: one approval is always enough. */
  readonly withdrawal_second_approval_above?: number | null
  /** Minor units; null: no limit. */
  readonly kyc_withdrawal_threshold?: number | null
  readonly forfeit_bonus_on_withdrawal?: boolean
  readonly disabled_features?: ReadonlyArray<Feature>
  /** Minor units that one round of an original takes, and pays, at most. */
  readonly original_max_stake?: number
  readonly original_max_payout?: number
  /** Minor units that a player's deposits, and withdrawals, of a day may come to; null: no cap. */
  readonly daily_deposit_cap?: number | null
  readonly daily_withdrawal_cap?: number | null
  /** What players begin with from now on, all of it: one that is absent or null is not limited. */
  readonly default_limits?: { readonly [limit: string]: unknown }
}

export type OperatorInput = OperatorUpdate & {
  readonly slug: string
  readonly name: string
  readonly currency: string
}

const OperatorRow = Schema.Struct({
  id: Schema.Number,
  slug: Schema.String,
  name: Schema.String,
  currency: Schema.String,
  cooperation_model: Schema.Literals(["api", "turnkey"]),
  active: Schema.Boolean,
  cooling_off_hours: Schema.Number,
  withdrawal_second_approval_above: Schema.NullOr(Schema.Number),
  kyc_withdrawal_threshold: Schema.NullOr(Schema.Number),
  forfeit_bonus_on_withdrawal: Schema.Boolean,
  disabled_features: Schema.Array(Schema.String),
  original_max_stake: Schema.Number,
  original_max_payout: Schema.Number,
  daily_deposit_cap: Schema.NullOr(Schema.Number),
  daily_withdrawal_cap: Schema.NullOr(Schema.Number),
  default_limits: Schema.Record(Schema.Literals(limitFields), Schema.optionalKey(Schema.Number)),
  created_at: Schema.Date,
  updated_at: Schema.Date
})

/** Limits in the order of their names in the specification, whichever order the table keeps them in. */
const inOrder = (valueOf: (field: LimitField) => number | null | undefined): Limits => {
  const limits: { [field in LimitField]?: number } = {}
  for (const field of limitFields) {
    const value = valueOf(field) ?? null
    if (value !== null) limits[field] = value
  }
  return limits
}

const toFields = (row: typeof OperatorRow.Type) => ({
  ...row,
  default_limits: inOrder((field) => row.default_limits[field]),
  created_at: iso(row.created_at.getTime()),
  updated_at: iso(row.updated_at.getTime())
})

/** An operator as it is shown. */
export type OperatorFields = ReturnType<typeof toFields>

const operatorRows = rowsOf(OperatorRow)
const hasPlayers = rowsOf(Schema.Struct({ hasPlayers: Schema.Boolean }))

const notFound = refuse("NOT_FOUND", "There is no such operator.")

const slugTaken = orTaken({ operators_slug_key: "slug" })

type Unavailable = Refusal<"TRY_AGAIN">

const refuseCurrency = (currency: string | undefined) =>
  currency === undefined || isCurrency(currency)
    ? Effect.void
    : Effect.fail(refuseFields({ currency: ["must be an active ISO 4217 currency code"] }))

/** The limits that were sent; undefined when none were. */
const limitsOf = Effect.fnUntraced(function*(sent: OperatorUpdate["default_limits"]) {
  if (sent === undefined) return undefined
  const read = readLimitChanges(sent, "default_limits")
  return "_tag" in read ? yield* Effect.fail(read) : inOrder((field) => read.get(field))
})

export class Operators extends Context.Service<Operators, {
  readonly create: (
    actor: Actor,
    input: OperatorInput
  ) => Effect.Effect<OperatorFields, Refusal<"VALIDATION_FAILED"> | Unavailable>
  /** Changes an operator, by id or slug, for every request from now on. */
  readonly update: (
    actor: Actor,
    reference: string,
    input: OperatorUpdate
  ) => Effect.Effect<OperatorFields, Refusal<"VALIDATION_FAILED" | "NOT_FOUND"> | Unavailable>
  /** All operators, by id. */
  readonly list: Effect.Effect<ReadonlyArray<OperatorFields>, Unavailable>
  /** The id of the operator that a reference names, id or slug. */
  readonly resolve: (reference: string) => Effect.Effect<number, Refusal<"NOT_FOUND"> | Unavailable>
}>()("pitboss/backoffice/Operators") {
  static readonly layer = Layer.effect(
    Operators,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const credentials = yield* Credentials
      const methods = yield* PaymentMethods
      const switches = yield* ActiveOperators
      const references = yield* makeReferences
      const columns = sql.literal(`id, slug, name, currency, cooperation_model, active, cooling_off_hours,
        withdrawal_second_approval_above,
        kyc_withdrawal_threshold, forfeit_bonus_on_withdrawal, disabled_features,
        original_max_stake, original_max_payout,
        daily_deposit_cap, daily_withdrawal_cap, default_limits,
        created_at, updated_at`)

      const create = Effect.fn("Operators.create")(function*(actor: Actor, input: OperatorInput) {
        yield* refuseCurrency(input.currency)
        const defaultLimits = yield* limitsOf(input.default_limits)
        return yield* auditLog.change(actor, ({ newId, now, record }) =>
          Effect.gen(function*() {
            const fields: OperatorFields = {
              id: newId,
              slug: input.slug,
              name: input.name,
              currency: input.currency,
              cooperation_model: input.cooperation_model ?? "api",
              active: input.active ?? true,
              cooling_off_hours: input.cooling_off_hours ?? 24,
              withdrawal_second_approval_above: input.withdrawal_second_approval_above ?? null,
              kyc_withdrawal_threshold: input.kyc_withdrawal_threshold ?? null,
              forfeit_bonus_on_withdrawal: input.forfeit_bonus_on_withdrawal ?? true,
              disabled_features: input.disabled_features ?? [],
              original_max_stake: input.original_max_stake ?? defaultOriginalBounds.maxStake,
              original_max_payout: input.original_max_payout ?? defaultOriginalBounds.maxPayout,
              daily_deposit_cap: input.daily_deposit_cap ?? null,
              daily_withdrawal_cap: input.daily_withdrawal_cap ?? null,
              default_limits: defaultLimits ?? {},
              created_at: iso(now),
              updated_at: iso(now)
            }
            yield* sql`INSERT INTO operators (id, slug, name, currency, cooperation_model, active, cooling_off_hours,
                withdrawal_second_approval_above, kyc_withdrawal_threshold, forfeit_bonus_on_withdrawal,
                disabled_features, original_max_stake, original_max_payout, daily_deposit_cap,
                daily_withdrawal_cap, default_limits, created_at, updated_at)
              VALUES (${fields.id}, ${fields.slug}, ${fields.name}, ${fields.currency}, ${fields.cooperation_model},
                ${fields.active}, ${fields.cooling_off_hours}, ${fields.withdrawal_second_approval_above},
                ${fields.kyc_withdrawal_threshold}, ${fields.forfeit_bonus_on_withdrawal},
                ${[...fields.disabled_features]}, ${fields.original_max_stake}, ${fields.original_max_payout},
                ${fields.daily_deposit_cap}, ${fields.daily_withdrawal_cap}, ${JSON.stringify(fields.default_limits)},
                ${fields.created_at}, ${fields.updated_at})`
            yield* record({
              action: "operator.create",
              operatorId: newId,
              subject: `operator:${newId}`,
              before: null,
              after: fields
            })
            return fields
          }).pipe(slugTaken))
      })

      /** Reports, thresholds and bonuses of the players there are count in the currency that the operator has. */
      const refusePlayers = Effect.fnUntraced(function*(operatorId: number) {
        const [found] = yield* hasPlayers(
          sql`SELECT EXISTS (SELECT FROM players WHERE operator_id = ${operatorId}) AS "hasPlayers"`
        )
        if (found?.hasPlayers !== true) return
        return yield* Effect.fail(refuseFields({ currency: ["cannot change once the operator has players"] }))
      })

      const update = Effect.fn("Operators.update")(function*(actor: Actor, reference: string, sent: OperatorUpdate) {
        yield* refuseCurrency(sent.currency)
        const { default_limits: sentLimits, ...others } = sent
        const defaultLimits = yield* limitsOf(sentLimits)
        const input = { ...others, ...(defaultLimits === undefined ? {} : { default_limits: defaultLimits }) }
        const fields = yield* auditLog.change(actor, ({ now, record }) =>
          Effect.gen(function*() {
            const id = yield* references.operatorId(reference)
            const row = yield* oneOf(
              // FOR UPDATE waits for a registration that is under way, and keeps out the next one
              operatorRows(
                sql`SELECT ${columns} FROM operators WHERE id = ${id} ${
                  sql.literal(input.currency === undefined ? "FOR NO KEY UPDATE" : "FOR UPDATE")
                }`
              )
            )
            if (row === undefined) return yield* Effect.fail(notFound)
            const before = toFields(row)
            const different = changed<OperatorFields, typeof input>(before, input)
            if (different === before) return before
            if (different.currency !== before.currency) yield* refusePlayers(id)
            const after = { ...different, updated_at: iso(now) }
            yield* sql`UPDATE operators SET slug = ${after.slug}, name = ${after.name}, currency = ${after.currency},
                cooperation_model = ${after.cooperation_model}, active = ${after.active},
                cooling_off_hours = ${after.cooling_off_hours},
                withdrawal_second_approval_above = ${after.withdrawal_second_approval_above},
                kyc_withdrawal_threshold = ${after.kyc_withdrawal_threshold},
                forfeit_bonus_on_withdrawal = ${after.forfeit_bonus_on_withdrawal},
                disabled_features = ${[...after.disabled_features]}, original_max_stake = ${after.original_max_stake},
                original_max_payout = ${after.original_max_payout}, daily_deposit_cap = ${after.daily_deposit_cap},
                daily_withdrawal_cap = ${after.daily_withdrawal_cap},
                default_limits = ${JSON.stringify(after.default_limits)}, updated_at = ${after.updated_at}
              WHERE id = ${id}`
            yield* record({ action: "operator.update", operatorId: id, subject: `operator:${id}`, before, after })
            return after
          }).pipe(slugTaken))
        // every key of the operator carries what was changed
        credentials.invalidateOperator(fields.id)
        yield* methods.invalidate(fields.id)
        yield* switches.refresh
        return fields
      })

      const list = orTryAgain(operatorRows(sql`SELECT ${columns} FROM operators ORDER BY id`)).pipe(
        Effect.map((found) => found.map(toFields)),
        Effect.withSpan("Operators.list")
      )

      return Operators.of({
        create,
        update,
        list,
        resolve: Effect.fn("Operators.resolve")((reference) => orTryAgain(references.operatorId(reference)))
      })
    })
  )
}

/** Staff management of operators and their settings. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Credentials } from "../../auth/Credentials.ts"
import { readLimitChanges } from "../../domain/limit/LimitChanges.ts"
import { type LimitField, limitFields } from "../../domain/LimitFields.ts"
import type { Limits } from "../../domain/state/Limits.ts"
import { missingSteps } from "../../domain/operator/OperatorSetup.ts"
import { noneCode } from "../../domain/jurisdiction/Profile.ts"
import { defaultOriginalBounds } from "../../domain/state/Operator.ts"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import { applyUpdate } from "../../platform/ApplyUpdate.ts"
import { isCurrency } from "../../domain/Standards.ts"
import { iso, toDate } from "../../platform/Time.ts"
import { ProfileBook } from "../../store/ProfileBook.ts"
import { recordsOf } from "../../store/Records.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import { PaymentMethods } from "../payments/Methods.ts"
import { isWithin, type Scope, within } from "../../store/OperatorScope.ts"
import type { Actor } from "../../office/Actor.ts"
import { ActiveOperators } from "./ActiveOperators.ts"
import { makeQueueLicensee } from "./LicenseeComparisons.ts"
import { makeReferences, orTaken } from "../../office/References.ts"
import {
  type OperatorInput,
  type OperatorSetup,
  type OperatorUpdate,
  StaffOperator
} from "../../contract/operators/StaffApi.ts"

type StaffOperator = typeof StaffOperator.Type

/** Limits in the order of their names in the specification, whichever order the table keeps them in. */
const inOrder = (valueOf: (field: LimitField) => number | null | undefined): Limits => {
  const limits: { [field in LimitField]?: number } = {}
  for (const field of limitFields) {
    const value = valueOf(field) ?? null
    if (value !== null) limits[field] = value
  }
  return limits
}

/** The operator as it is shown: the table keeps its limits in an order of its own. */
const shown = (operator: StaffOperator) => ({
  ...operator,
  default_limits: { ...inOrder((field) => operator.default_limits[field]) }
})

const hasPlayers = rowsOf(Schema.Struct({ hasPlayers: Schema.Boolean }))

const licenseeRows = rowsOf(Schema.Struct({ operators: Schema.Number, others: Schema.Number }))

const partsRows = rowsOf(Schema.Struct({
  keys: Schema.Number,
  webhooks: Schema.Number,
  payment_methods: Schema.Number,
  games: Schema.Number,
  first_call_at: Schema.NullOr(Schema.Date)
}))

/** Jurisdictions of an operator. */
const maxProfiles = 20

/** Operators of a licensee. */
const maxOfLicensee = 100

/** Games counted at most: a catalogue has thousands. */
const maxGames = 1000

const notFound = refuse("NOT_FOUND", "There is no such operator.")

/** Its players' exclusions, and those of the licensee's other operators, would count for operators that the actor may not see. */
const licenseeOfAll = refuse(
  "INSUFFICIENT_SCOPE",
  "The licensee of an operator is set by staff who are not bound to operators."
)

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
  ) => Effect.Effect<StaffOperator, Refusal<"VALIDATION_FAILED"> | Unavailable>
  /** Changes an operator, by id or slug, for every request from now on. */
  readonly update: (
    actor: Actor,
    reference: string,
    input: OperatorUpdate
  ) => Effect.Effect<StaffOperator, Refusal<"VALIDATION_FAILED" | "NOT_FOUND" | "INSUFFICIENT_SCOPE"> | Unavailable>
  /** The operators that an actor may see, by id. */
  readonly list: (actor: Pick<Actor, "operators">) => Effect.Effect<ReadonlyArray<StaffOperator>, Unavailable>
  /** What there is of an operator, and what is missing before its players can play. One that the actor may not see is not found. */
  readonly setup: (
    actor: Pick<Actor, "operators">,
    reference: string
  ) => Effect.Effect<OperatorSetup, Refusal<"NOT_FOUND"> | Unavailable>
  /** The id of the operator that a reference names, id or slug. */
  readonly resolve: (reference: string) => Effect.Effect<number, Refusal<"NOT_FOUND"> | Unavailable>
  /**
   * Operators whose rows a list shows: the named one, else those that the actor is bound to, null for all. An operator outside the actor's scope is
   * not found.
   */
  readonly scope: (
    actor: Pick<Actor, "operators">,
    reference: string | undefined
  ) => Effect.Effect<Scope, Refusal<"NOT_FOUND"> | Unavailable>
}>()("pitboss/operators/Operators") {
  static readonly layer = Layer.effect(
    Operators,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const credentials = yield* Credentials
      const methods = yield* PaymentMethods
      const switches = yield* ActiveOperators
      const book = yield* ProfileBook
      const references = yield* makeReferences
      const queueLicensee = yield* makeQueueLicensee
      const operators = yield* recordsOf("operators", StaffOperator)

      /** A profile that is not known, or a default that is none of those on offer. */
      const refuseProfiles = Effect.fnUntraced(
        function*({ default_profile, profiles }: Pick<StaffOperator, "default_profile" | "profiles">) {
          const known = book.versions()
          const unknown = profiles.filter((code) => !known.has(code))
          if (unknown.length > 0) {
            return yield* Effect.fail(
              refuseFields({ profiles: [`must be known profiles: ${unknown.join(", ")} is not`] })
            )
          }
          if (profiles.length === 0 || profiles.length > maxProfiles || new Set(profiles).size < profiles.length) {
            return yield* Effect.fail(refuseFields({ profiles: [`must be 1 to ${maxProfiles} different codes`] }))
          }
          if (!profiles.includes(default_profile)) {
            return yield* Effect.fail(refuseFields({ default_profile: ["must be one of profiles"] }))
          }
          // nobody could be registered without naming another one
          if (book.current(default_profile, yield* Clock.currentTimeMillis) === undefined) {
            return yield* Effect.fail(refuseFields({ default_profile: ["must have a version in force"] }))
          }
        }
      )

      /** A licensee that is not known, has as many operators as it can have, or such as these may not share exclusions with. */
      const refuseLicensee = Effect.fnUntraced(function*(licenseeId: number | null, isSandbox: boolean) {
        if (licenseeId === null) return
        const [found] = yield* licenseeRows(
          sql`SELECT (SELECT count(*)::float8 FROM operators WHERE licensee_id = l.id) AS operators,
              (SELECT count(*)::float8 FROM operators WHERE licensee_id = l.id AND is_sandbox <> ${isSandbox}) AS others
            FROM licensees l WHERE l.id = ${licenseeId}::float8::bigint`
        )
        if (found === undefined) return yield* Effect.fail(refuseFields({ licensee: ["must be the id of a licensee"] }))
        if (found.others > 0) {
          const its = isSandbox ? "live operators" : "sandboxes"
          return yield* Effect.fail(
            refuseFields({ licensee: [`has ${its}: a licensee of a sandbox holds sandboxes only`] })
          )
        }
        if (found.operators >= maxOfLicensee) {
          return yield* Effect.fail(refuseFields({ licensee: [`already has ${maxOfLicensee} operators, the maximum`] }))
        }
      })

      const create = Effect.fn("Operators.create")(
        function*(actor: Actor, { licensee = null, ...input }: OperatorInput) {
          yield* refuseCurrency(input.currency)
          const defaultLimits = yield* limitsOf(input.default_limits)
          const { default_profile: defaultProfile = noneCode, profiles = [noneCode] } = input
          yield* refuseProfiles({ profiles, default_profile: defaultProfile })
          return yield* auditLog.change(actor, ({ newId, now, record }) =>
            Effect.gen(function*() {
              yield* refuseLicensee(licensee, input.is_sandbox ?? false)
              const operator: StaffOperator = {
                id: newId,
                cooperation_model: "api",
                active: true,
                cooling_off_hours: 24,
                withdrawal_second_approval_above: null,
                kyc_withdrawal_threshold: null,
                forfeit_bonus_on_withdrawal: true,
                disabled_features: [],
                original_max_stake: defaultOriginalBounds.maxStake,
                original_max_payout: defaultOriginalBounds.maxPayout,
                report_offset_hours: 0,
                daily_deposit_cap: null,
                daily_withdrawal_cap: null,
                profiles: [noneCode],
                default_profile: noneCode,
                terms_version: null,
                is_sandbox: false,
                ...input,
                default_limits: { ...defaultLimits },
                licensee_id: licensee,
                created_at: iso(now),
                updated_at: iso(now)
              }
              yield* operators.insert(operator)
              yield* record({
                action: "operator.create",
                operatorId: newId,
                subject: `operator:${newId}`,
                before: null,
                after: operator
              })
              return operator
            }).pipe(slugTaken)).pipe(Effect.tap(book.refresh))
        }
      )

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
        const { default_limits: sentLimits, licensee, ...others } = sent
        const defaultLimits = yield* limitsOf(sentLimits)
        const input = {
          ...others,
          ...(licensee === undefined ? {} : { licensee_id: licensee }),
          ...(defaultLimits === undefined ? {} : { default_limits: { ...defaultLimits } })
        }
        const operator = yield* auditLog.change(actor, ({ now, record }) =>
          Effect.gen(function*() {
            const id = yield* references.operatorId(reference)
            // FOR UPDATE waits for a registration that is under way, and keeps out the next one
            const lock = sql.literal(input.currency === undefined ? "FOR NO KEY UPDATE" : "FOR UPDATE")
            const found = yield* operators.find(sql`id = ${id} ${lock}`)
            if (found === undefined) return yield* Effect.fail(notFound)
            const before = shown(found)
            const different = applyUpdate<StaffOperator, typeof input>(before, input)
            if (different === before) return before
            if (different.currency !== before.currency) yield* refusePlayers(id)
            yield* refuseProfiles(different)
            if (different.licensee_id !== before.licensee_id) {
              if (actor.operators !== null) return yield* Effect.fail(licenseeOfAll)
              yield* refuseLicensee(different.licensee_id, before.is_sandbox)
            }
            const after = { ...different, updated_at: iso(now) }
            yield* operators.update(before, after)
            if (after.licensee_id !== null && after.licensee_id !== before.licensee_id) {
              yield* queueLicensee(after.licensee_id)
            }
            yield* record({ action: "operator.update", operatorId: id, subject: `operator:${id}`, before, after })
            return after
          }).pipe(slugTaken))
        // credentials cache the operator
        yield* credentials.invalidateOperator(operator.id)
        yield* methods.invalidate(operator.id)
        yield* switches.refresh
        yield* book.refresh
        return operator
      })

      const list = Effect.fn("Operators.list")((actor: Pick<Actor, "operators">) =>
        Effect.map(
          orTryAgain(operators.all(
            sql`${sql.and([sql`archived_at IS NULL`, ...within(sql, actor.operators, "id")])} ORDER BY id`
          )),
          (found) => found.map(shown)
        )
      )

      const setup = Effect.fn("Operators.setup")(
        function*(actor: Pick<Actor, "operators">, reference: string) {
          const id = yield* references.operatorId(reference)
          if (!isWithin(actor.operators, id)) return yield* Effect.fail(notFound)
          const now = toDate(yield* Clock.currentTimeMillis)
          const row = yield* oneOf(partsRows(
            sql`SELECT k.keys::float8 AS keys, k.first_call_at,
                (SELECT count(*) FROM webhook_endpoints WHERE operator_id = ${id} AND active)::float8 AS webhooks,
                (SELECT count(*) FROM payment_methods WHERE operator_id = ${id} AND active)::float8 AS payment_methods,
                (SELECT count(*) FROM (SELECT FROM games g JOIN providers p ON p.id = g.provider_id AND p.active WHERE g.active
                  LIMIT ${maxGames}) offered)::float8 AS games
              FROM (SELECT count(*) FILTER (WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${now})) AS keys,
                min(first_used_at) AS first_call_at FROM api_keys WHERE operator_id = ${id}) k`
          ))
          if (row === undefined) return yield* Effect.fail(notFound)
          const at = row.first_call_at
          const parts = { ...row, first_call_at: at === null ? null : iso(at.getTime()) }
          return { operator_id: id, ...parts, missing: missingSteps(parts) }
        },
        orTryAgain
      )

      return Operators.of({
        create,
        update,
        list,
        setup,
        resolve: Effect.fn("Operators.resolve")((reference) => orTryAgain(references.operatorId(reference))),
        scope: Effect.fn("Operators.scope")((actor, reference) => orTryAgain(references.scope(actor, reference)))
      })
    })
  )
}

/** Lists and updates AML alerts, and configures their rules, for staff (`docs/alerts.md`). */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import {
  type AlertRule,
  alertRules,
  alertTransitions,
  type RuleOverrides,
  settingsWith,
  severities
} from "../../domain/compliance/AlertRules.ts"
import { examinedAbove } from "../../domain/wallet/LargeCredits.ts"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import { Holds } from "./Holds.ts"
import { makeRuleBook } from "./RuleBook.ts"
import { iso, type Period, toDate } from "../../platform/Time.ts"
import { type Scope } from "../../store/OperatorScope.ts"
import type { Part, PartQuery } from "../../store/Cursors.ts"
import { listOf, periodFilters } from "../../store/Lists.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import { makeReferences } from "../../office/References.ts"
import type { Actor } from "../../office/Actor.ts"
import { makeAlertRecords } from "./internal/AlertRecords.ts"
import {
  type Alert,
  type alertOrders,
  type AlertUpdate,
  type listedAlertStatuses,
  type Rule,
  type RuleInput
} from "../../contract/compliance/StaffApi.ts"

/** Absent means any. */
export interface AlertQuery extends PartQuery, Period {
  readonly scope: Scope
  readonly status?: (typeof listedAlertStatuses)[number] | undefined
  readonly rule?: AlertRule | undefined
  readonly playerId?: number | undefined
  /** Id of the account that it is assigned to; null: none. */
  readonly assignedTo?: number | null | undefined
  /** Default: newest. */
  readonly sort?: (typeof alertOrders)[number] | undefined
}

/** Notes that are kept with one alert. */
const maxNotes = 200

type Alert = typeof Alert.Type

const operatorRows = rowsOf(Schema.Struct({ currency: Schema.String }))

const notFound = refuse("NOT_FOUND", "There is no such alert.")
const noOperator = refuse("NOT_FOUND", "There is no such operator.")

type Rule = typeof Rule.Type

const ruleFields = (
  operatorId: number,
  currency: string,
  rule: AlertRule,
  overrides: { readonly [rule in AlertRule]?: RuleOverrides }
): Rule => {
  const terms: RuleOverrides = settingsWith(overrides)[rule]
  return {
    operator_id: operatorId,
    rule,
    enabled: terms.enabled ?? true,
    severity: terms.severity ?? "medium",
    stop_withdrawals: terms.stopWithdrawals ?? false,
    threshold: terms.threshold ?? null,
    percent: terms.percent ?? null,
    count: terms.count ?? null,
    window_hours: terms.windowHours ?? null,
    currency
  }
}

/** Parts of a whole cannot be more than it; play can be asked for several times over. */
const maxPercent: { readonly [rule in AlertRule]?: number } = { structuring: 99, rapid_in_out: 100 }

/** The least threshold with an effect, where there is one. */
const minThreshold: { readonly [rule in AlertRule]?: number } = { large_credit: examinedAbove }

const refuseTerms = (before: Rule, input: Omit<RuleInput, "operator">): Refusal<"VALIDATION_FAILED"> | undefined => {
  const terms = ["threshold", "percent", "count", "window_hours"] as const
  const useless = terms.filter((name) => input[name] !== undefined && before[name] === null)
  const highest = maxPercent[before.rule] ?? Number.POSITIVE_INFINITY
  const lowest = minThreshold[before.rule] ?? 0
  const fields = {
    ...((input.threshold ?? lowest) < lowest ? { threshold: [`must be at least ${lowest}`] } : {}),
    ...Object.fromEntries(useless.map((name) => [name, [`is not a setting of the rule ${before.rule}`]])),
    ...(before.percent !== null && (input.percent ?? 0) > highest ? { percent: [`must be at most ${highest}`] } : {})
  }
  return Object.keys(fields).length === 0 ? undefined : refuseFields(fields)
}

const isRule = (text: string): text is AlertRule => alertRules.some((rule) => rule === text)

type Unavailable = Refusal<"TRY_AGAIN">

export class Alerts extends Context.Service<Alerts, {
  /** A cursor is the id of the last alert that was read. */
  readonly list: (query: AlertQuery) => Effect.Effect<Part<Alert>, Refusal<"VALIDATION_FAILED"> | Unavailable>
  readonly get: (alertId: number) => Effect.Effect<Alert, Refusal<"NOT_FOUND"> | Unavailable>
  /**
   * Changes the status of an alert, with or without a note, or adds a note. Closing releases its hold: `mayNotRelease` is the refusal of an actor
   * without that permission; absent: permitted.
   */
  readonly update: (
    actor: Actor,
    alertId: number,
    update: AlertUpdate,
    mayNotRelease?: Refusal<"INSUFFICIENT_SCOPE">
  ) => Effect.Effect<Alert, Refusal<"NOT_FOUND" | "VALIDATION_FAILED" | "INSUFFICIENT_SCOPE"> | Unavailable>
  /** All rules of an operator, as they are set. */
  readonly rules: (operator: string) => Effect.Effect<ReadonlyArray<Rule>, Refusal<"NOT_FOUND"> | Unavailable>
  /** Configures a rule of an operator, for events judged from now on. */
  readonly configure: (
    actor: Actor,
    rule: string,
    input: RuleInput
  ) => Effect.Effect<Rule, Refusal<"NOT_FOUND" | "VALIDATION_FAILED"> | Unavailable>
}>()("pitboss/compliance/Alerts") {
  static readonly layer = Layer.effect(
    Alerts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const holds = yield* Holds
      const book = yield* makeRuleBook
      const references = yield* makeReferences

      const alerts = yield* makeAlertRecords

      const find = (alertId: number) =>
        Effect.flatMap(
          alerts.find(sql`a.id = ${alertId}::float8::bigint`),
          (alert) => alert === undefined ? Effect.fail(notFound) : Effect.succeed(alert)
        )

      const at = {
        column: "a.created_at",
        kind: "instant" as const,
        of: ({ created_at: created }: Alert) => Date.parse(created)
      }
      const id = { column: "a.id", kind: "integer" as const, of: (alert: Alert) => alert.id }
      const rank = {
        column: "a.severity_rank",
        kind: "integer" as const,
        of: ({ severity }: Alert) => severities.length - 1 - severities.indexOf(severity)
      }
      const typed = { from: "compliance_alerts a" }

      const listed = listOf<
        Alert,
        Omit<AlertQuery, "scope" | "sort" | keyof PartQuery>,
        NonNullable<AlertQuery["sort"]>
      >(sql, {
        read: (where, end) => alerts.all(sql`${where} ${end}`),
        operator: "a.operator_id",
        filters: {
          ...periodFilters(sql, "a.created_at"),
          playerId: (value) => sql`a.player_id = ${value}::float8::bigint`,
          rule: (value) => sql`a.rule = ${value}`,
          // a literal, to match the partial index of those that wait
          status: (value) =>
            value === "closed"
              ? sql`a.status = ${value}`
              : value === "waiting"
              ? sql`a.status <> 'closed'`
              : sql`a.status = ${value} AND a.status <> 'closed'`,
          assignedTo: (value) => value === null ? sql`a.assigned_to IS NULL` : sql`a.assigned_to = ${value}`
        },
        orders: {
          newest: { keys: [at, id], descending: true, typed },
          oldest: { keys: [at, id], typed },
          severity: { keys: [rank, at, id], typed }
        }
      })

      const list = Effect.fn("Alerts.list")(
        ({ scope, sort = "newest", ...query }: AlertQuery) => listed.part(scope, query, sort),
        orTryAgain
      )

      const write = Effect.fnUntraced(function*(
        actor: Actor,
        alertId: number,
        update: AlertUpdate,
        mayNotRelease: Refusal<"INSUFFICIENT_SCOPE"> | undefined
      ) {
        const note = update.note?.trim() ?? ""
        return yield* auditLog.change(actor, ({ now, record }) =>
          Effect.gen(function*() {
            yield* sql`SELECT 1 FROM compliance_alerts WHERE id = ${alertId}::float8::bigint FOR NO KEY UPDATE`
            const before = yield* find(alertId)
            const status = update.status ?? before.status
            const ways = alertTransitions(before.status)
            if (status !== before.status && !ways.includes(status)) {
              return yield* Effect.fail(refuseFields({
                status: [
                  ways.length === 0
                    ? `cannot be changed any more: it is ${before.status}`
                    : `must be one of ${ways.join(", ")}: the status is ${before.status}`
                ]
              }))
            }
            if (status === before.status && note === "") return before
            if (mayNotRelease !== undefined && status === "closed" && before.stops_withdrawals) {
              return yield* Effect.fail(mayNotRelease)
            }
            if (note !== "" && before.notes.length >= maxNotes) {
              return yield* Effect.fail(
                refuseFields({ note: [`is one note too many: an alert has at most ${maxNotes}`] })
              )
            }
            const notes = note === "" ? [] : [{ at: iso(now), by: actor.label, status, note }]
            yield* sql`UPDATE compliance_alerts SET status = ${status}, updated_at = ${toDate(now)},
                closed_at = ${status === "closed" ? (before.closed_at ?? iso(now)) : null}::timestamptz,
                notes = notes || ${JSON.stringify(notes)}::text::jsonb
              WHERE id = ${alertId}::float8::bigint`
            const after = yield* find(alertId)
            yield* record({
              action: "alert.update",
              operatorId: before.operator_id,
              playerId: before.player_id,
              subject: `alert:${alertId}`,
              before: { status: before.status, stops_withdrawals: before.stops_withdrawals },
              after: { status: after.status, stops_withdrawals: after.stops_withdrawals },
              ...(note === "" ? {} : { reason: note })
            })
            return after
          }))
      })

      const update: Alerts["Service"]["update"] = Effect.fn("Alerts.update")(function*(
        actor,
        alertId,
        input,
        mayNotRelease
      ) {
        const alert = yield* write(actor, alertId, input, mayNotRelease)
        if (alert.status === "closed") {
          // on failure the job releases it
          yield* Effect.ignore(holds.release({ alertId, playerId: alert.player_id }, actor.label))
        }
        return alert
      })

      const currencyOf = Effect.fnUntraced(function*(operatorId: number) {
        const row = yield* oneOf(operatorRows(sql`SELECT currency FROM operators WHERE id = ${operatorId}`))
        return row === undefined ? yield* Effect.fail(noOperator) : row.currency
      })

      const rules = Effect.fn("Alerts.rules")(function*(operator: string) {
        const operatorId = yield* references.operatorId(operator)
        const currency = yield* currencyOf(operatorId)
        const overrides = (yield* book.overridesOf([operatorId])).get(operatorId) ?? {}
        return alertRules.map((rule) => ruleFields(operatorId, currency, rule, overrides))
      }, orTryAgain)

      const configure = Effect.fn("Alerts.configure")(
        function*(actor: Actor, rule: string, { operator, ...input }: RuleInput) {
          if (!isRule(rule)) {
            return yield* Effect.fail(refuseFields({ rule: [`must be one of: ${alertRules.join(", ")}`] }))
          }
          return yield* auditLog.change(actor, ({ now, record }) =>
            Effect.gen(function*() {
              const operatorId = yield* references.operatorId(operator)
              // serialised per operator: fields that are not sent keep their stored value
              yield* sql`SELECT 1 FROM operators WHERE id = ${operatorId} FOR NO KEY UPDATE`
              const currency = yield* currencyOf(operatorId)
              const all = (yield* book.overridesOf([operatorId])).get(operatorId) ?? {}
              const before = ruleFields(operatorId, currency, rule, all)
              const refusal = refuseTerms(before, input)
              if (refusal !== undefined) return yield* Effect.fail(refusal)
              const { stop_withdrawals: stopWithdrawals, window_hours: windowHours, ...terms } = input
              const overrides: RuleOverrides = {
                ...all[rule],
                ...terms,
                ...(stopWithdrawals === undefined ? {} : { stopWithdrawals }),
                ...(windowHours === undefined ? {} : { windowHours })
              }
              const after = ruleFields(operatorId, currency, rule, { ...all, [rule]: overrides })
              if (JSON.stringify(after) === JSON.stringify(before)) return before
              yield* sql`INSERT INTO compliance_settings (operator_id, rule, settings, updated_at)
                VALUES (${operatorId}, ${rule}, ${JSON.stringify(overrides)}::text::jsonb, ${toDate(now)})
                ON CONFLICT (operator_id, rule) DO UPDATE SET settings = excluded.settings, updated_at = excluded.updated_at`
              yield* record({
                action: "alert.configure",
                operatorId,
                subject: `alert_rule:${rule}`,
                before,
                after
              })
              return after
            }))
        }
      )

      return Alerts.of({
        list,
        get: Effect.fn("Alerts.get")((alertId) => orTryAgain(find(alertId))),
        update,
        rules,
        configure
      })
    })
  )
}

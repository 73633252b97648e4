/** Settings of the AML rules per operator: the defaults with the operator's overrides. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { numbers } from "../../platform/ArrayParameters.ts"
import {
  type AlertRule,
  alertRules,
  type RuleOverrides,
  type RuleSettings,
  settingsWith,
  severities
} from "../../domain/compliance/AlertRules.ts"
import { rowsOf } from "../../store/Rows.ts"

const optional = Schema.optionalKey

/** The column `compliance_settings.settings`. */
export const Overrides = Schema.Struct({
  enabled: optional(Schema.Boolean),
  severity: optional(Schema.Literals(severities)),
  stopWithdrawals: optional(Schema.Boolean),
  threshold: optional(Schema.Number),
  percent: optional(Schema.Number),
  count: optional(Schema.Number),
  windowHours: optional(Schema.Number)
})

const overrideRows = rowsOf(Schema.Struct({
  operatorId: Schema.Number,
  rule: Schema.Literals(alertRules),
  settings: Overrides
}))

export const makeRuleBook = Effect.map(SqlClient.SqlClient, (sql) => {
  /** Settings changed by staff, by operator and rule. */
  const overridesOf = Effect.fnUntraced(function*(operatorIds: ReadonlyArray<number>) {
    const ids = numbers([...new Set(operatorIds)])
    const rows = yield* overrideRows(
      sql`SELECT s.operator_id AS "operatorId", s.rule, s.settings
        FROM unnest(${ids}::float8[]) AS u(id) JOIN compliance_settings s ON s.operator_id = u.id::bigint`
    )
    const found = new Map<number, { [rule in AlertRule]?: RuleOverrides }>()
    for (const { operatorId, rule, settings } of rows) {
      found.set(operatorId, { ...found.get(operatorId), [rule]: settings })
    }
    return found
  })

  /** The settings of operators. */
  const settingsOf = Effect.fnUntraced(function*(operatorIds: ReadonlyArray<number>) {
    const overrides = yield* overridesOf(operatorIds)
    return new Map<number, RuleSettings>(
      [...new Set(operatorIds)].map((id) => [id, settingsWith(overrides.get(id) ?? {})])
    )
  })

  return { overridesOf, settingsOf }
})

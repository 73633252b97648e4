/** Raises a simulated alert in a sandbox, so that its operator can test the handling. */
import { Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AlertRule, Severity } from "../../domain/compliance/AlertRules.ts"
import { temporarilyUnavailable } from "../../domain/Refusal.ts"
import { inTransaction } from "../../platform/InTransaction.ts"
import { iso } from "../../platform/Time.ts"
import { OperatorClocks } from "../../store/OperatorClocks.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { makeAlertStore } from "./internal/AlertStore.ts"

interface Wanted {
  readonly operatorId: number
  readonly playerId: number
  readonly rule: AlertRule
  readonly severity: Severity
  /** Names the occurrence: another text is another alert. */
  readonly occurrence: string
}

const raisedRows = rowsOf(Schema.Struct({ id: Schema.Number }))

/** Raises an alert about a player of the operator, with the event that tells of it. */
export const makeRaiseAlert = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { raise } = yield* makeAlertStore
  const clocks = yield* OperatorClocks
  // not that of a request, which is the operator's own
  const clock = yield* Clock.Clock
  return Effect.fn("SandboxAlerts.raise")(
    function*({ occurrence, operatorId, playerId, rule, severity }: Wanted) {
      const now = clock.currentTimeMillisUnsafe()
      const row = yield* inTransaction(sql)(Effect.gen(function*() {
        yield* raise([{
          subject: { operatorId, playerId },
          finding: { rule, severity, occurrence, paymentId: null, details: {}, stopsWithdrawals: false }
        }], now)
        return yield* oneOf(raisedRows(
          sql`SELECT id FROM compliance_alerts
            WHERE player_id = ${playerId}::float8::bigint AND rule = ${rule} AND occurrence = ${occurrence}`
        ))
      }))
      if (row === undefined) return yield* Effect.fail(temporarilyUnavailable)
      return {
        id: row.id,
        player_id: playerId,
        rule,
        severity,
        status: "open" as const,
        created_at: iso(clocks.at(operatorId, now))
      }
    },
    Effect.catchTag("IdsUnavailable", () => Effect.fail(temporarilyUnavailable)),
    orTryAgain
  )
})

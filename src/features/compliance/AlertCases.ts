/** Staff work on a single alert: assignment, evidence, and manual holds on the player's withdrawals (`docs/alerts.md`). */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import { toDate } from "../../platform/Time.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import { makeAssignees } from "../../office/Assignees.ts"
import type { Actor } from "../../office/Actor.ts"
import { Holds } from "./Holds.ts"
import { makeAlertRecords } from "./internal/AlertRecords.ts"
import type { Alert, AlertEvidence } from "../../contract/compliance/StaffApi.ts"
import { makeAlertEvidence } from "./internal/AlertEvidence.ts"

type Alert = typeof Alert.Type

type Refused = Refusal<"NOT_FOUND" | "VALIDATION_FAILED" | "TRY_AGAIN">

const ruleRows = rowsOf(Schema.Struct({ hold: Schema.Literals(["none", "wanted", "placed"]) }))

const notFound = refuse("NOT_FOUND", "There is no such alert.")
const isClosed = refuseFields({ status: ["cannot be changed any more: it is closed"] })

export class AlertCases extends Context.Service<AlertCases, {
  /**
   * Assigns an alert to an account (`me`, or an id), or to none. The account must be active, have a role that works on alerts, and not be bound to
   * other operators. A closed alert keeps its assignee.
   */
  readonly assign: (actor: Actor, alertId: number, to: string) => Effect.Effect<Alert, Refused>
  /** Stops the player's withdrawals for an open alert, also where its rule did not or staff have lifted that. */
  readonly hold: (actor: Actor, alertId: number, reason: string) => Effect.Effect<Alert, Refused>
  /** Lets the player withdraw as far as this alert is concerned; it stays open. */
  readonly release: (actor: Actor, alertId: number, reason: string) => Effect.Effect<Alert, Refused>
  /** What an alert is judged by, as it is now. */
  readonly evidence: (
    alertId: number
  ) => Effect.Effect<typeof AlertEvidence.Type, Refusal<"NOT_FOUND" | "TRY_AGAIN">>
}>()("pitboss/compliance/AlertCases") {
  static readonly layer = Layer.effect(
    AlertCases,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const holds = yield* Holds
      const alerts = yield* makeAlertRecords
      const evidenceOf = yield* makeAlertEvidence
      const assigneeOf = yield* makeAssignees("alert.update", "alert")

      const find = (alertId: number) =>
        Effect.flatMap(
          alerts.find(sql`a.id = ${alertId}::float8::bigint`),
          (alert) => alert === undefined ? Effect.fail(notFound) : Effect.succeed(alert)
        )

      /** The open alert, locked until the change is done. */
      const open = Effect.fnUntraced(function*(alertId: number) {
        yield* sql`SELECT 1 FROM compliance_alerts WHERE id = ${alertId}::float8::bigint FOR NO KEY UPDATE`
        const alert = yield* find(alertId)
        return alert.status === "closed" ? yield* Effect.fail(isClosed) : alert
      })

      const assign = Effect.fn("AlertCases.assign")((actor: Actor, alertId: number, to: string) =>
        auditLog.change(actor, ({ now, record }) =>
          Effect.gen(function*() {
            const before = yield* open(alertId)
            const assignee = yield* assigneeOf(actor, to, before.operator_id)
            if (assignee === before.assigned_to) return before
            yield* sql`UPDATE compliance_alerts SET assigned_to = ${assignee}::float8::bigint, updated_at = ${
              toDate(now)
            }
              WHERE id = ${alertId}::float8::bigint`
            const after = yield* find(alertId)
            yield* record({
              action: "alert.assign",
              operatorId: before.operator_id,
              playerId: before.player_id,
              subject: `alert:${alertId}`,
              before: { assigned_to: before.assigned_to },
              after: { assigned_to: after.assigned_to }
            })
            return after
          }))
      )

      /** Records the requested state of a hold. The player's actor is updated afterwards; the job retries on failure. */
      const want = (actor: Actor, alertId: number, isHeld: boolean, reason: string) =>
        auditLog.change(actor, ({ now, record }) =>
          Effect.gen(function*() {
            const before = yield* open(alertId)
            const row = yield* oneOf(ruleRows(
              sql`SELECT hold FROM compliance_alerts WHERE id = ${alertId}::float8::bigint`
            ))
            if (isHeld ? before.stops_withdrawals : row?.hold === "none") return before
            yield* sql`UPDATE compliance_alerts SET hold = ${isHeld ? "wanted" : "none"}, updated_at = ${toDate(now)}
              WHERE id = ${alertId}::float8::bigint`
            yield* record({
              action: isHeld ? "alert.hold" : "alert.release",
              operatorId: before.operator_id,
              playerId: before.player_id,
              subject: `alert:${alertId}`,
              before: { stops_withdrawals: before.stops_withdrawals },
              after: { stops_withdrawals: isHeld },
              reason
            })
            return before
          }))

      const hold = Effect.fn("AlertCases.hold")(function*(actor: Actor, alertId: number, reason: string) {
        const { player_id: playerId, rule } = yield* want(actor, alertId, true, reason)
        yield* Effect.ignore(holds.placeOne({ alertId, playerId, rule }, actor.label))
        return yield* orTryAgain(find(alertId))
      })

      const release = Effect.fn("AlertCases.release")(function*(actor: Actor, alertId: number, reason: string) {
        const { player_id: playerId } = yield* want(actor, alertId, false, reason)
        yield* Effect.ignore(holds.release({ alertId, playerId }, actor.label))
        return yield* orTryAgain(find(alertId))
      })

      const evidence = Effect.fn("AlertCases.evidence")(
        function*(alertId: number) {
          const found = yield* evidenceOf(yield* find(alertId))
          return found ?? (yield* Effect.fail(notFound))
        },
        orTryAgain
      )

      return AlertCases.of({ assign, hold, release, evidence })
    })
  )
}

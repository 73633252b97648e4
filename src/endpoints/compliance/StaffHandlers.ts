/** Staff API handlers for AML alerts and alert rules. */
import { Clock, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { CurrentStaff } from "../../contract/common/StaffMiddleware.ts"
import { AlertCases } from "../../features/compliance/AlertCases.ts"
import { Alerts } from "../../features/compliance/Alerts.ts"
import { CurrentSession, secondFactorRefusal } from "../../features/staffSessions/CurrentSession.ts"
import { Operators } from "../../features/operators/Operators.ts"
import { periodOf } from "../../platform/Time.ts"
import { cursorPaged } from "../../http/Page.ts"
import { StaffBulk } from "../../office/StaffBulk.ts"
import { asStaff } from "../../http/StaffEnvelope.ts"

export const AlertHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "alert",
  Effect.fnUntraced(function*(handlers) {
    const alerts = yield* Alerts
    const cases = yield* AlertCases
    const bulk = yield* StaffBulk
    const operators = yield* Operators
    return handlers
      .handle("list", ({ query }) =>
        Effect.gen(function*() {
          const { assigned_to: of, cursor, limit, player: playerId, rule, sort, status } = query
          const actor = yield* CurrentStaff
          const scope = yield* operators.scope(actor, query.operator)
          // a token without an account has no alerts assigned
          const assignedTo = of === undefined
            ? undefined
            : of === "none"
            ? null
            : of === "me"
            ? actor.id ?? 0
            : Number(of)
          const filters = { status, rule, playerId, assignedTo, ...periodOf(query) }
          return cursorPaged(limit, yield* alerts.list({ scope, ...filters, sort, limit, cursor }))
        }))
      .handle("show", ({ params }) => Effect.map(alerts.get(params.alert), (data) => ({ data })))
      .handle("evidence", ({ params }) => Effect.map(cases.evidence(params.alert), (data) => ({ data })))
      .handle("update", ({ params, payload }) =>
        asStaff((actor) =>
          Effect.gen(function*() {
            const mayNotRelease = secondFactorRefusal(yield* CurrentSession, yield* Clock.currentTimeMillis)
            return yield* alerts.update(actor, params.alert, payload, mayNotRelease)
          })
        ))
      .handle("assign", ({ params, payload }) => asStaff((actor) => cases.assign(actor, params.alert, payload.staff)))
      .handle(
        "assign_many",
        ({ payload }) => bulk.run("alert", payload.alerts, (id, actor) => cases.assign(actor, id, payload.staff))
      )
      .handle("update_many", ({ payload: { alerts: ids, ...update } }) =>
        Effect.gen(function*() {
          const mayNotRelease = secondFactorRefusal(yield* CurrentSession, yield* Clock.currentTimeMillis)
          return yield* bulk.run("alert", ids, (id, actor) => alerts.update(actor, id, update, mayNotRelease))
        }))
      .handle("hold", ({ params, payload }) => asStaff((actor) => cases.hold(actor, params.alert, payload.reason)))
      .handle(
        "release",
        ({ params, payload }) => asStaff((actor) => cases.release(actor, params.alert, payload.reason))
      )
      .handle("rules", ({ query }) => Effect.map(alerts.rules(query.operator), (data) => ({ data })))
      .handle("configure", ({ params, payload }) => asStaff((actor) => alerts.configure(actor, params.rule, payload)))
  })
)

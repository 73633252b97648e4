/** Alerts and their rules as staff see and steer them. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi, CurrentStaff } from "../../contract/StaffApi.ts"
import { Alerts } from "./Alerts.ts"
import { Operators } from "../operators/Operators.ts"
import { asStaff } from "../../http/StaffEnvelope.ts"

export const AlertHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "alert",
  Effect.fnUntraced(function*(handlers) {
    const alerts = yield* Alerts
    const operators = yield* Operators
    return handlers
      .handle("list", ({ query }) =>
        Effect.gen(function*() {
          const { cursor: after, limit, player: playerId, rule, status } = query
          const scope = yield* operators.scope(yield* CurrentStaff, query.operator)
          const { items, next } = yield* alerts.list({ scope, status, rule, playerId, limit, after })
          return { data: items, meta: { limit, next_cursor: next === null ? null : String(next) } }
        }))
      .handle("show", ({ params }) => Effect.map(alerts.get(params.alert), (data) => ({ data })))
      .handle("update", ({ params, payload }) => asStaff((actor) => alerts.update(actor, params.alert, payload)))
      .handle("rules", ({ query }) => Effect.map(alerts.rules(query.operator), (data) => ({ data })))
      .handle("configure", ({ params, payload }) => asStaff((actor) => alerts.configure(actor, params.rule, payload)))
  })
)

/** Staff API handlers for compliance cases. */
import { Clock, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { CurrentStaff } from "../../contract/common/StaffMiddleware.ts"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { Cases } from "../../features/cases/Cases.ts"
import { CaseWork } from "../../features/cases/CaseWork.ts"
import { CurrentSession, secondFactorRefusal } from "../../features/staffSessions/CurrentSession.ts"
import { Operators } from "../../features/operators/Operators.ts"
import { walked } from "../../http/Page.ts"
import { asStaff, enveloped } from "../../http/StaffEnvelope.ts"

export const CaseHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "case",
  Effect.fnUntraced(function*(handlers) {
    const cases = yield* Cases
    const work = yield* CaseWork
    const operators = yield* Operators
    return handlers
      .handle("open", ({ payload }) => asStaff(({ label }) => cases.open({ ...payload, by: label })))
      .handle("list", ({ query }) =>
        Effect.gen(function*() {
          const { cursor, operator, per_page: limit, player: playerId, status, type } = query
          const scope = yield* operators.scope(yield* CurrentStaff, operator)
          return yield* walked(limit, yield* cases.list(scope, { playerId, type, status, limit, cursor }))
        }))
      .handle("show", ({ params }) => enveloped(cases.show(params.case)))
      .handle("update", ({ params, payload }) =>
        asStaff((actor) =>
          Effect.gen(function*() {
            const mayNotRelease = secondFactorRefusal(yield* CurrentSession, yield* Clock.currentTimeMillis)
            return yield* work.update(actor, params.case, payload, mayNotRelease)
          })
        ))
      .handle("add", ({ params, payload }) => asStaff((actor) => work.add(actor, params.case, payload.alerts)))
      .handle("sar", ({ params, payload }) => asStaff((actor) => work.report(actor, params.case, payload)))
      .handle("funds", ({ params, payload }) => asStaff((actor) => work.funds(actor, params.case, payload)))
  })
)

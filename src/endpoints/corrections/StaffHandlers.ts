/** Staff API handlers for balance corrections under the four-eyes rule. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { CurrentStaff } from "../../contract/common/StaffMiddleware.ts"
import { Corrections } from "../../features/corrections/Corrections.ts"
import { Operators } from "../../features/operators/Operators.ts"
import { walked } from "../../http/Page.ts"
import { asStaff } from "../../http/StaffEnvelope.ts"

export const CorrectionHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "correction",
  Effect.fnUntraced(function*(handlers) {
    const corrections = yield* Corrections
    const operators = yield* Operators
    return handlers
      .handle("list", ({ query }) =>
        Effect.gen(function*() {
          const scope = yield* operators.scope(yield* CurrentStaff, query.operator)
          const { cursor, per_page: limit, player: playerId, status } = query
          return yield* walked(limit, yield* corrections.list({ cursor, limit, scope, playerId, status }))
        }))
      .handle("approve", ({ params }) => asStaff((actor) => corrections.approve(actor, params.correction)))
      .handle(
        "reject",
        ({ params, payload }) =>
          asStaff((actor) => corrections.reject(actor, params.correction, payload.reason ?? null))
      )
  })
)

/** Staff API handlers for player obligations. */
import { Clock, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { Obligations } from "../../features/obligations/Obligations.ts"
import { CurrentSession, secondFactorRefusal } from "../../features/staffSessions/CurrentSession.ts"
import { walked } from "../../http/Page.ts"
import { asStaff } from "../../http/StaffEnvelope.ts"

export const ObligationHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "obligation",
  Effect.fnUntraced(function*(handlers) {
    const obligations = yield* Obligations
    return handlers
      .handle("list", ({ query }) =>
        Effect.gen(function*() {
          const { cursor, per_page: limit, player, state } = query
          return yield* walked(limit, yield* obligations.walk(player, { state, limit, cursor }))
        }))
      .handle(
        "waive",
        ({ params, payload: { reason } }) =>
          asStaff(({ label }) =>
            Effect.gen(function*() {
              const mayNotRelease = secondFactorRefusal(yield* CurrentSession, yield* Clock.currentTimeMillis)
              return yield* obligations.waive(params.obligation, { reason, actor: label, mayNotRelease })
            })
          )
      )
  })
)

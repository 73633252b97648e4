/** Staff API handlers for the game catalogue. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { asStaff } from "../../http/StaffEnvelope.ts"
import { walked } from "../../http/Page.ts"
import { Catalogue } from "../../features/games/Catalogue.ts"

export const GameHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "game",
  Effect.fnUntraced(function*(handlers) {
    const catalogue = yield* Catalogue
    return handlers
      .handle("create", ({ payload }) => asStaff((actor) => catalogue.create(actor, payload)))
      .handle("update", ({ params, payload }) => asStaff((actor) => catalogue.update(actor, params.game, payload)))
      .handle("list", ({ query }) =>
        Effect.gen(function*() {
          const { active, per_page: limit, ...asked } = query
          const isActive = active === undefined ? undefined : active === "true"
          return yield* walked(limit, yield* catalogue.list({ ...asked, limit, active: isActive }))
        }))
  })
)

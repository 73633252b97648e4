/** Operator API handlers for marketing consents, and for audiences: which of the given players may be contacted now. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../contract/Api.ts"
import { CurrentOperator } from "../../contract/common/Middleware.ts"
import { Audiences } from "../../features/consents/Audiences.ts"
import { Consents } from "../../features/consents/Consents.ts"

export const ConsentsHandlers = HttpApiBuilder.group(
  Api,
  "consents",
  Effect.fnUntraced(function*(handlers) {
    const consents = yield* Consents
    const audiences = yield* Audiences
    return handlers
      .handle("list", ({ params }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          return { data: yield* consents.list(operator.id, params.player) }
        }))
      .handle("change", ({ params, payload }) =>
        Effect.gen(function*() {
          const { apiKey, operator } = yield* CurrentOperator
          const author = { by: "operator", actor: `key:${apiKey.key}`, reason: null } as const
          return { data: yield* consents.change(operator.id, params.player, payload.consents, author) }
        }))
      .handle("audience", ({ payload: { channel, player_ids: playerIds, product } }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          return { data: yield* audiences.find(operator.id, { channel, product, playerIds }) }
        }))
  })
)

/** Handlers of API keys. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { act, wrap } from "../../http/Acting.ts"
import { ApiKeys } from "./ApiKeys.ts"

export const KeyHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "key",
  Effect.fnUntraced(function*(handlers) {
    const keys = yield* ApiKeys
    return handlers
      .handle("create", ({ payload }) => act((actor) => keys.create(actor, payload)))
      .handle("rotate", ({ params, query }) => act((actor) => keys.rotate(actor, params.key, query.operator)))
      .handle("revoke", ({ params, query }) => act((actor) => keys.revoke(actor, params.key, query.operator)))
      .handle("list", ({ query }) => wrap(keys.list(query.operator)))
  })
)

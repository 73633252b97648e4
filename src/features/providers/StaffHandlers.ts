/** Handlers of game providers. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { act, wrap } from "../../http/Acting.ts"
import { Providers } from "./Providers.ts"

export const ProviderHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "provider",
  Effect.fnUntraced(function*(handlers) {
    const providers = yield* Providers
    return handlers
      .handle("create", ({ payload }) => act((actor) => providers.create(actor, payload)))
      .handle("update", ({ params, payload }) => act((actor) => providers.update(actor, params.provider, payload)))
      .handle("rotate", ({ params }) => act((actor) => providers.rotate(actor, params.provider)))
      .handle("list", () => wrap(providers.list))
  })
)

/** Handlers of game providers. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { asStaff, enveloped } from "../../http/StaffEnvelope.ts"
import { Providers } from "./Providers.ts"

export const ProviderHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "provider",
  Effect.fnUntraced(function*(handlers) {
    const providers = yield* Providers
    return handlers
      .handle("create", ({ payload }) => asStaff((actor) => providers.create(actor, payload)))
      .handle("update", ({ params, payload }) => asStaff((actor) => providers.update(actor, params.provider, payload)))
      .handle("rotate", ({ params }) => asStaff((actor) => providers.rotate(actor, params.provider)))
      .handle("show", ({ params }) => enveloped(providers.show(params.provider)))
      .handle("calls", ({ params }) => enveloped(providers.calls(params.provider)))
      .handle("list", () => enveloped(providers.list))
  })
)

/** Staff API handlers for game providers. */
import { Clock, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { asStaff, enveloped } from "../../http/StaffEnvelope.ts"
import { CatalogueSync } from "../../features/providers/CatalogueSync.ts"
import { Providers } from "../../features/providers/Providers.ts"
import { Reconciliation } from "../../features/providers/Reconciliation.ts"

export const ProviderHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "provider",
  Effect.fnUntraced(function*(handlers) {
    const providers = yield* Providers
    const catalogues = yield* CatalogueSync
    const reconciliation = yield* Reconciliation
    return handlers
      .handle("create", ({ payload }) => asStaff((actor) => providers.create(actor, payload)))
      .handle("update", ({ params, payload }) => asStaff((actor) => providers.update(actor, params.provider, payload)))
      .handle("rotate", ({ params }) => asStaff((actor) => providers.rotate(actor, params.provider)))
      .handle("sync", ({ params, payload }) =>
        asStaff((actor) =>
          Effect.flatMap(
            providers.idOf(params.provider),
            (id) => catalogues.sync(actor, id, payload.activate ?? false)
          )
        ))
      .handle("reconcile", ({ params, query }) =>
        enveloped(Effect.gen(function*() {
          const now = yield* Clock.currentTimeMillis
          return yield* reconciliation.reconcile(yield* providers.idOf(params.provider), query.date, now)
        })))
      .handle("show", ({ params }) => enveloped(providers.show(params.provider)))
      .handle("calls", ({ params }) => asStaff((actor) => providers.calls(actor, params.provider)))
      .handle("list", () => enveloped(providers.list))
  })
)

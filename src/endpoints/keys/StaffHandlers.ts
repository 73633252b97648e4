/** Staff API handlers for operators' API keys. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { asStaff } from "../../http/StaffEnvelope.ts"
import { ApiKeys } from "../../features/keys/ApiKeys.ts"

export const KeyHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "key",
  Effect.fnUntraced(function*(handlers) {
    const keys = yield* ApiKeys
    return handlers
      .handle("create", ({ payload }) => asStaff((actor) => keys.create(actor, payload)))
      .handle(
        "update",
        ({ params, payload, query }) => asStaff((actor) => keys.update(actor, params.key, payload, query.operator))
      )
      .handle("rotate", ({ params, query }) => asStaff((actor) => keys.rotate(actor, params.key, query.operator)))
      .handle("revoke", ({ params, query }) => asStaff((actor) => keys.revoke(actor, params.key, query.operator)))
      .handle("list", ({ query }) => asStaff((actor) => keys.list(actor, query.operator)))
  })
)

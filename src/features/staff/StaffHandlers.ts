/** Handlers of staff accounts. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { act, wrap } from "../../http/Acting.ts"
import { StaffAccounts } from "./Staff.ts"

export const StaffHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "staff",
  Effect.fnUntraced(function*(handlers) {
    const accounts = yield* StaffAccounts
    return handlers
      .handle("create", ({ payload }) => act((actor) => accounts.create(actor, payload)))
      .handle("update", ({ params, payload }) => act((actor) => accounts.update(actor, params.staff, payload)))
      .handle("rotate", ({ params }) => act((actor) => accounts.rotate(actor, params.staff)))
      .handle("retire_bootstrap", () => act(accounts.retireBootstrap))
      .handle("list", () => wrap(accounts.list))
  })
)

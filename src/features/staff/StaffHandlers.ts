/** Handlers of staff accounts. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { asStaff, enveloped } from "../../http/StaffEnvelope.ts"
import { StaffAccounts } from "./Staff.ts"

export const StaffHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "staff",
  Effect.fnUntraced(function*(handlers) {
    const accounts = yield* StaffAccounts
    return handlers
      .handle("create", ({ payload }) => asStaff((actor) => accounts.create(actor, payload)))
      .handle("update", ({ params, payload }) => asStaff((actor) => accounts.update(actor, params.staff, payload)))
      .handle("rotate", ({ params }) => asStaff((actor) => accounts.rotate(actor, params.staff)))
      .handle("retire_bootstrap", () => asStaff(accounts.retireBootstrap))
      .handle("list", () => enveloped(accounts.list))
  })
)

/** Handlers of staff accounts. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { asStaff, enveloped } from "../../http/StaffEnvelope.ts"
import { Operators } from "../operators/Operators.ts"
import { StaffSignIn } from "../staffSessions/StaffSignIn.ts"
import { StaffAccounts } from "./Staff.ts"

export const StaffHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "staff",
  Effect.fnUntraced(function*(handlers) {
    const accounts = yield* StaffAccounts
    const operators = yield* Operators
    const signIn = yield* StaffSignIn

    /** With the ids of the operators that are named. */
    const withIds = Effect.fnUntraced(
      function*<A extends object>(
        { operators: named, ...input }: A & { readonly operators?: ReadonlyArray<string> | null }
      ) {
        if (named === undefined) return input
        return { ...input, operators: named === null ? null : yield* Effect.forEach(new Set(named), operators.resolve) }
      }
    )

    return handlers
      .handle(
        "create",
        ({ payload }) => asStaff((actor) => Effect.flatMap(withIds(payload), (input) => accounts.create(actor, input)))
      )
      .handle(
        "update",
        ({ params, payload }) =>
          asStaff((actor) => Effect.flatMap(withIds(payload), (input) => accounts.update(actor, params.staff, input)))
      )
      .handle("rotate", ({ params }) => asStaff((actor) => accounts.rotate(actor, params.staff)))
      .handle("ticket", ({ payload }) => asStaff((actor) => signIn.issueTicket(actor, payload.staff ?? actor.id)))
      .handle("retire_bootstrap", () => asStaff(accounts.retireBootstrap))
      .handle("list", () => enveloped(accounts.list))
  })
)

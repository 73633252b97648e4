/** Staff API handlers for staff accounts. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import type { CurrentStaff } from "../../contract/common/StaffMiddleware.ts"
import { asStaff, enveloped } from "../../http/StaffEnvelope.ts"
import { Operators } from "../../features/operators/Operators.ts"
import { CurrentSession, type StaffSession } from "../../features/staffSessions/CurrentSession.ts"
import { SignInTickets } from "../../features/staffSessions/SignInTickets.ts"
import { StaffAccounts } from "../../features/staff/Staff.ts"

export const StaffHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "staff",
  Effect.fnUntraced(function*(handlers) {
    const accounts = yield* StaffAccounts
    const operators = yield* Operators
    const tickets = yield* SignInTickets

    /** With the ids of the operators that are named. */
    const withIds = Effect.fnUntraced(
      function*<A extends object>(
        { operators: named, ...input }: A & { readonly operators?: ReadonlyArray<string> | null }
      ) {
        if (named === undefined) return input
        return { ...input, operators: named === null ? null : yield* Effect.forEach(new Set(named), operators.resolve) }
      }
    )

    /** The actor, and the session that acts; undefined: a bearer token does. */
    const inSession = <A, E, R>(
      effect: (actor: CurrentStaff["Service"], session: StaffSession | undefined) => Effect.Effect<A, E, R>
    ) => asStaff((actor) => Effect.flatMap(CurrentSession, (session) => effect(actor, session)))

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
      .handle("rotate", ({ params }) => inSession((actor, session) => accounts.rotate(actor, params.staff, session)))
      .handle(
        "ticket",
        ({ payload }) => inSession((actor, session) => tickets.issue(actor, payload.staff ?? actor.id, session))
      )
      .handle("retire_bootstrap", () => asStaff(accounts.retireBootstrap))
      .handle("list", () => enveloped(accounts.list))
      .handle("colleagues", () => asStaff(accounts.colleagues))
  })
)

import { Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { CurrentStaff, StaffAuth } from "../../api/BackofficeApi.ts"
import { rolesFor } from "../../backoffice/Authorisation.ts"
import { StaffAccounts } from "../../backoffice/Staff.ts"
import { refuse } from "../../domain/Refusal.ts"
import { bearer } from "../Bearer.ts"
import { withFormRules } from "../FormRules.ts"
import { answerCause } from "../Refusals.ts"
import { RequestIds } from "../RequestIds.ts"

const noToken = refuse("MISSING_CREDENTIALS", "Send a staff token: Authorization: Bearer <token>.")
const unknownToken = refuse("INVALID_API_KEY", "The staff token is unknown or no longer valid.")

/** Who acts, and whether the role allows it: the name of the endpoint is the name of the action. */
export const StaffAuthLive = Layer.effect(
  StaffAuth,
  Effect.gen(function*() {
    const accounts = yield* StaffAccounts
    const ids = yield* RequestIds

    return StaffAuth.of((handler, { endpoint, group }) => {
      const action = `${group.identifier}.${endpoint.identifier}`
      const roles = rolesFor(action)
      const withForm = withFormRules(handler)

      const run = Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        const token = bearer(request.headers["authorization"])
        if (token === undefined) return yield* Effect.fail(noToken)
        const actor = yield* accounts.authenticate(token)
        if (actor === undefined) return yield* Effect.fail(unknownToken)
        if (!roles.includes(actor.role)) {
          return yield* Effect.fail(
            refuse("INSUFFICIENT_SCOPE", `This takes one of the roles ${roles.join(", ")}.`, { required_roles: roles })
          )
        }
        yield* accounts.refuseBootstrap(actor, action)
        return yield* Effect.provideService(withForm, CurrentStaff, actor)
      }).pipe(Effect.catchCause((cause) => Effect.provideService(answerCause(cause), RequestIds, ids)))

      // A caller that goes away must not stop halfway what it asked for.
      return endpoint.method === "GET" ? run : Effect.uninterruptible(run)
    })
  })
)

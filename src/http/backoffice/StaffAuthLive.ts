import { Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { CurrentStaff, StaffAuth } from "../../api/BackofficeApi.ts"
import { rolesFor } from "../../backoffice/Authorisation.ts"
import { StaffAccounts } from "../../backoffice/Staff.ts"
import { StaffReads } from "../../backoffice/StaffReads.ts"
import { refuse } from "../../domain/Refusal.ts"
import { bearer } from "../Bearer.ts"
import { withFormRules } from "../FormRules.ts"
import { answerCause } from "../Refusals.ts"
import { RequestIds } from "../RequestIds.ts"
import { originOf } from "../RequestOrigin.ts"
import { StaffTokens } from "./StaffTokens.ts"

/** Who acts, and whether the role allows it: the name of the endpoint is the name of the action. */
export const StaffAuthLive = Layer.effect(
  StaffAuth,
  Effect.gen(function*() {
    const ids = yield* RequestIds
    const accounts = yield* StaffAccounts
    const reads = yield* StaffReads
    const tokens = yield* StaffTokens

    return StaffAuth.of((handler, { endpoint, group }) => {
      const action = `${group.identifier}.${endpoint.identifier}`
      const roles = rolesFor(action)
      const withForm = withFormRules(handler)

      const run = Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        const actor = yield* tokens.authenticate(bearer(request.headers["authorization"]), originOf(request))
        if (!roles.includes(actor.role)) {
          return yield* Effect.fail(
            refuse("INSUFFICIENT_SCOPE", `This takes one of the roles ${roles.join(", ")}.`, { required_roles: roles })
          )
        }
        yield* accounts.refuseBootstrap(actor, action)
        const response = yield* Effect.provideService(withForm, CurrentStaff, actor)
        if (response.status < 300) yield* reads.note(actor, action, request.url)
        return response
      }).pipe(Effect.catchCause((cause) => Effect.provideService(answerCause(cause), RequestIds, ids)))

      // A caller that goes away must not stop halfway what it asked for.
      return endpoint.method === "GET" ? run : Effect.uninterruptible(run)
    })
  })
)

import { Clock, Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { CurrentStaff, StaffAuth } from "../../api/BackofficeApi.ts"
import { rolesFor } from "../../backoffice/Authorisation.ts"
import { StaffAccounts } from "../../backoffice/Staff.ts"
import { refuse } from "../../domain/Refusal.ts"
import { sha256 } from "../../platform/Secrets.ts"
import { steadyClock } from "../../platform/SteadyClock.ts"
import { AuthenticationFailures } from "../AuthenticationFailures.ts"
import { makeBackOff } from "../BackOff.ts"
import { bearer } from "../Bearer.ts"
import { withFormRules } from "../FormRules.ts"
import { answerCause } from "../Refusals.ts"
import { RequestIds } from "../RequestIds.ts"
import { originOf } from "../RequestOrigin.ts"
import { type Origin, Strangers } from "../Strangers.ts"

const noToken = refuse("MISSING_CREDENTIALS", "Send a staff token: Authorization: Bearer <token>.")
const unknownToken = refuse("INVALID_API_KEY", "The staff token is unknown or no longer valid.")

/** Tokens that are remembered as having worked. */
const maxWorked = 1000

const tooManyFailures = (seconds: number) =>
  refuse("RATE_LIMITED", "Too many staff tokens of this address were wrong.", { retry_after_seconds: seconds })

/** Who acts, and whether the role allows it: the name of the endpoint is the name of the action. */
export const StaffAuthLive = Layer.effect(
  StaffAuth,
  Effect.gen(function*() {
    const accounts = yield* StaffAccounts
    const ids = yield* RequestIds
    const strangers = yield* Strangers
    const failures = yield* AuthenticationFailures
    const clock = steadyClock(yield* Clock.Clock)
    const backOff = makeBackOff()
    /** Digests of tokens that have worked, the first of them first. */
    const worked = new Set<string>()

    const remember = (digest: string): void => {
      worked.delete(digest)
      for (const first of worked) {
        if (worked.size < maxWorked) break
        worked.delete(first)
      }
      worked.add(digest)
    }

    /** Who holds a token. An address that tries wrong ones waits longer and longer; a token that has worked is looked up all the same. */
    const authenticate = Effect.fnUntraced(function*(token: string, origin: Origin) {
      const address = strangers.addressOf(origin)
      const digest = Buffer.from(sha256(token)).toString("base64")
      const leftMs = worked.has(digest) ? 0 : backOff.leftMs(address, clock.currentTimeMillisUnsafe())
      if (leftMs > 0) {
        yield* failures.note("staff", unknownToken, origin)
        return yield* Effect.fail(tooManyFailures(Math.ceil(leftMs / 1000)))
      }
      const actor = yield* accounts.authenticate(token)
      if (actor !== undefined) {
        remember(digest)
        return actor
      }
      backOff.fail(address, clock.currentTimeMillisUnsafe())
      return yield* Effect.fail(yield* failures.note("staff", unknownToken, origin))
    })

    return StaffAuth.of((handler, { endpoint, group }) => {
      const action = `${group.identifier}.${endpoint.identifier}`
      const roles = rolesFor(action)
      const withForm = withFormRules(handler)

      const run = Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        const token = bearer(request.headers["authorization"])
        const origin = originOf(request)
        if (token === undefined) return yield* Effect.fail(yield* failures.note("staff", noToken, origin))
        const actor = yield* authenticate(token, origin)
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

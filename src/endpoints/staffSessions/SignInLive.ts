/** Guards staff sign-in with rate limits and a back-off per address. */
import { Clock, Context, Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { SignInGuard } from "../../contract/StaffApi.ts"
import { type Refusal, type RefusalCode, refuse } from "../../domain/Refusal.ts"
import type { SignInProblem } from "../../domain/staff/Staff.ts"
import { AnonymousLimits } from "../../http/AnonymousLimits.ts"
import { AuthenticationFailures } from "../../http/AuthenticationFailures.ts"
import { makeBackOff } from "../../http/BackOff.ts"
import { Endpoints } from "../../http/Endpoints.ts"
import { withFormRules } from "../../http/FormRules.ts"
import { answerCause, isRefusal } from "../../http/Refusals.ts"
import { RequestIds } from "../../http/RequestIds.ts"
import { originOf } from "../../http/RequestOrigin.ts"
import { smallBody } from "../../http/SignedBody.ts"
import { monotonicClock } from "../../platform/MonotonicClock.ts"
import { Settings } from "../../platform/Settings.ts"
import { isForeign, userAgentOf } from "../../features/staffSessions/Rules.ts"
import type { Browser } from "../../features/staffSessions/StaffSessions.ts"

/** Failed sign-ins of an address before the first wait. */
const freeFailures = 50

const foreign = refuse("INSUFFICIENT_SCOPE", "Sign in from the pages of the back office.", { reason: "other_origin" })

const tooManyFailures = (seconds: number) =>
  refuse("RATE_LIMITED", "Too many sign-ins from this address failed. Wait before the next one.", {
    retry_after_seconds: seconds
  })

/** Sign-in attempts by address: `guard` refuses during the back-off, and counts failures. */
export class SignInAttempts extends Context.Service<SignInAttempts, {
  readonly guard: <A, E, R>(
    attempt: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | Refusal, R | HttpServerRequest.HttpServerRequest>
  /** The browser of the request. */
  readonly browser: Effect.Effect<Browser, never, HttpServerRequest.HttpServerRequest>
}>()("pitboss/staffSessions/SignInAttempts") {
  static readonly layer = Layer.effect(
    SignInAttempts,
    Effect.gen(function*() {
      const limits = yield* AnonymousLimits
      const failures = yield* AuthenticationFailures
      const clock = monotonicClock(yield* Clock.Clock)
      const backOff = makeBackOff(freeFailures)

      const guard = <A, E, R>(attempt: Effect.Effect<A, E, R>) =>
        Effect.gen(function*() {
          const origin = originOf(yield* HttpServerRequest.HttpServerRequest)
          const tooMany = limits.take(origin)
          if (tooMany !== undefined) return yield* Effect.fail(tooMany)
          const caller = limits.callerOf(origin)
          const leftMs = backOff.leftMs(caller, clock.currentTimeMillisUnsafe())
          if (leftMs > 0) return yield* Effect.fail(tooManyFailures(Math.ceil(leftMs / 1000)))
          return yield* attempt.pipe(Effect.catch((error): Effect.Effect<never, E | Refusal> => {
            if (!isRefusal(error) || error.code !== "INVALID_CREDENTIALS") return Effect.fail(error)
            backOff.fail(caller, clock.currentTimeMillisUnsafe())
            return Effect.flatMap(failures.note("staff", error, origin), (noted) => Effect.fail(noted))
          }))
        })

      const browser = Effect.map(HttpServerRequest.HttpServerRequest, (request) => ({
        address: limits.addressOf(originOf(request)),
        userAgent: userAgentOf(request.headers["user-agent"])
      }))

      return SignInAttempts.of({ guard, browser })
    })
  )
}

/** Decoding, origin check and back-off of unauthenticated endpoints. */
export const SignInGuardLive = Layer.effect(
  SignInGuard,
  Effect.gen(function*() {
    const ids = yield* RequestIds
    const attempts = yield* SignInAttempts
    const endpoints = yield* Endpoints
    const { backofficeUrl } = yield* Settings

    return SignInGuard.of((handler, { endpoint }) => {
      const guarded = attempts.guard(Effect.flatMap(
        HttpServerRequest.HttpServerRequest,
        (request) => Effect.andThen(smallBody(request), withFormRules(handler))
      ))
      const run = Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) => {
        const source = {
          origin: headers["origin"],
          host: headers["host"],
          requestedWith: headers["x-requested-with"]
        }
        const isRefused = endpoint.method !== "GET" && isForeign(source, backofficeUrl)
        return isRefused ? Effect.fail(foreign) : guarded
      }).pipe(Effect.catchCause((cause) => Effect.provideService(answerCause(cause), RequestIds, ids)))
      const serving = endpoint.method === "GET" ? run : Effect.uninterruptible(run)
      endpoints.add(endpoint, serving, { isDirect: false })
      return serving
    })
  })
)

const problemOf: { readonly [code in RefusalCode]?: SignInProblem } = {
  RATE_LIMITED: "wait",
  INSUFFICIENT_SCOPE: "role",
  VALIDATION_FAILED: "last_admin"
}

/** Address of the sign-in page with an error code. The page maps codes to text, so that a link cannot make it show another text. */
export const refusedWith = (error: { readonly code?: RefusalCode }, fallback: SignInProblem): string =>
  `/sign-in?problem=${(error.code === undefined ? undefined : problemOf[error.code]) ?? fallback}`

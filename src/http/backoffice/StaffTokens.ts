import { Clock, Context, Effect, Layer } from "effect"
import { type Actor, StaffAccounts } from "../../backoffice/Staff.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { sha256 } from "../../platform/Secrets.ts"
import { steadyClock } from "../../platform/SteadyClock.ts"
import { AuthenticationFailures } from "../AuthenticationFailures.ts"
import { makeBackOff } from "../BackOff.ts"
import { type Origin, Strangers } from "../Strangers.ts"

/** Tokens that are remembered as having worked. */
const maxWorked = 1000

const noToken = refuse("MISSING_CREDENTIALS", "Send a staff token: Authorization: Bearer <token>.")
const unknownToken = refuse("INVALID_API_KEY", "The staff token is unknown or no longer valid.")

const tooManyFailures = (seconds: number) =>
  refuse("RATE_LIMITED", "Too many staff tokens of this address were wrong.", { retry_after_seconds: seconds })

/**
 * Looks up staff tokens. An address that tries wrong ones waits longer and longer; a token that has worked is looked up all the same, so
 * that a stranger behind the same proxy locks out nobody who works.
 */
export class StaffTokens extends Context.Service<StaffTokens, {
  readonly authenticate: (
    token: string | undefined,
    origin: Origin
  ) => Effect.Effect<Actor, Refusal<"MISSING_CREDENTIALS" | "INVALID_API_KEY" | "RATE_LIMITED" | "TRY_AGAIN">>
}>()("pitboss/http/backoffice/StaffTokens") {
  static readonly layer = Layer.effect(
    StaffTokens,
    Effect.gen(function*() {
      const accounts = yield* StaffAccounts
      const strangers = yield* Strangers
      const failures = yield* AuthenticationFailures
      const clock = steadyClock(yield* Clock.Clock)
      const backOff = makeBackOff()
      /** Digests, the one that worked first in front. */
      const worked = new Set<string>()

      const remember = (digest: string): void => {
        worked.delete(digest)
        for (const first of worked) {
          if (worked.size < maxWorked) break
          worked.delete(first)
        }
        worked.add(digest)
      }

      const authenticate = Effect.fnUntraced(function*(token: string | undefined, origin: Origin) {
        if (token === undefined) return yield* Effect.fail(yield* failures.note("staff", noToken, origin))
        const caller = strangers.callerOf(origin)
        const digest = Buffer.from(sha256(token)).toString("base64")
        const leftMs = worked.has(digest) ? 0 : backOff.leftMs(caller, clock.currentTimeMillisUnsafe())
        if (leftMs > 0) {
          yield* failures.note("staff", unknownToken, origin)
          return yield* Effect.fail(tooManyFailures(Math.ceil(leftMs / 1000)))
        }
        const actor = yield* accounts.authenticate(token)
        if (actor !== undefined) {
          remember(digest)
          return actor
        }
        backOff.fail(caller, clock.currentTimeMillisUnsafe())
        return yield* Effect.fail(yield* failures.note("staff", unknownToken, origin))
      })

      return StaffTokens.of({ authenticate })
    })
  )
}

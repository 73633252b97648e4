/** Answers of the authentication middlewares: every failure becomes a response, and a refused caller is counted. */
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { AuthenticationFailures, type Claimant } from "../AuthenticationFailures.ts"
import { answerCause, isRefusal, type Retry } from "../Refusals.ts"
import { RequestIds } from "../RequestIds.ts"
import { originOf } from "../RequestOrigin.ts"

export const makeAnswering = Effect.fnUntraced(function*(claimant: Claimant) {
  const ids = yield* RequestIds
  const failures = yield* AuthenticationFailures
  return {
    answering: (onFailure?: Retry) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.catchCause(effect, (cause) => Effect.provideService(answerCause(cause, onFailure), RequestIds, ids)),
    /** `key`: the public id that the caller names. */
    counting: (request: HttpServerRequest.HttpServerRequest, key?: string) =>
      Effect.catchIf(
        isRefusal,
        (refusal) => Effect.flatMap(failures.note(claimant, refusal, originOf(request), key), Effect.fail)
      )
  }
})

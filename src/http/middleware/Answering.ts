/** Turns every failure in an authentication middleware into an HTTP response, and counts failed authentications. */
import { Cause, Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { AuthenticationFailures, type CallerKind } from "../AuthenticationFailures.ts"
import { elsewhereOf } from "../../store/PlayerActors.ts"
import { answerCause, isRefusal } from "../Refusals.ts"
import { RequestIds } from "../RequestIds.ts"
import { originOf } from "../RequestOrigin.ts"

export const makeAnswering = Effect.fnUntraced(function*(callerKind: CallerKind) {
  const ids = yield* RequestIds
  const failures = yield* AuthenticationFailures
  const answered = (cause: Cause.Cause<unknown>) => Effect.provideService(answerCause(cause), RequestIds, ids)
  return {
    answering: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.catchCause(effect, answered),
    /** As `answering`, except that the refusal for a player of another node propagates to the forwarding code. */
    answeringHere: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.catchCause(effect, (cause) => {
        const failure = Cause.findErrorOption(cause)
        return failure._tag === "Some" && elsewhereOf(failure.value) !== undefined
          ? Effect.fail(failure.value)
          : answered(cause)
      }),
    /** `key`: public id sent by the caller. */
    counting: (request: HttpServerRequest.HttpServerRequest, key?: string) =>
      Effect.catchIf(
        isRefusal,
        (refusal) => Effect.flatMap(failures.note(callerKind, refusal, originOf(request), key), Effect.fail)
      )
  }
})

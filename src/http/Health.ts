import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { refuse } from "../domain/Refusal.ts"
import { type Ready, Readiness } from "./Readiness.ts"
import { draining } from "../contract/common/Envelope.ts"
import { jsonResponse, refusalResponse } from "./Refusals.ts"

const alive = jsonResponse(200, JSON.stringify({ status: "ok" }))
const notReading = refuse("TRY_AGAIN", "The database does not answer.")
const notJoined = refuse("TRY_AGAIN", "This node does not know yet which players are its own.")
const clockDiffers = refuse("TRY_AGAIN", "The clock of this node differs from the database's.")
const notWriting = refuse("TRY_AGAIN", "The database accepts no commits.")

const answerOf = (ready: Ready) => {
  switch (ready) {
    case "ready":
      return alive
    case "draining":
      return refusalResponse(draining)
    case "clock_differs":
      return refusalResponse(clockDiffers)
    case "not_joined":
      return refusalResponse(notJoined)
    case "not_writing":
      return refusalResponse(notWriting)
    case "not_reading":
      return refusalResponse(notReading)
  }
}

/**
 * `/health/live`: the process answers. `/health/ready`: the node accepts requests: the database answers, commits
 * succeed, the owners of players are known, its clock is the database's, and neither a drain nor a handover has begun.
 */
export const Health = Layer.unwrap(Effect.gen(function*() {
  const { check } = yield* Readiness
  return Layer.mergeAll(
    HttpRouter.add("GET", "/health/live", alive),
    // shared by all waiting callers: a disconnect must not interrupt it
    HttpRouter.add("GET", "/health/ready", Effect.map(check, answerOf), { uninterruptible: true })
  )
})).pipe(Layer.provide(Readiness.layer))

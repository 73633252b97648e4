/** Health checks of the node, for load balancers, monitoring and inventories. */
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { type Refusal, refuse } from "../domain/Refusal.ts"
import { version } from "../platform/Version.ts"
import { type Ready, Readiness } from "./Readiness.ts"
import { draining } from "../contract/common/Envelope.ts"
import { jsonResponse, refusalResponse } from "./Refusals.ts"

const answer = (body: object) => jsonResponse(200, JSON.stringify(body))
const alive = answer({ status: "ok" })
const wellOff = answer({ status: "ok", version })

const refusals: { readonly [status in Exclude<Ready, "ready">]: Refusal } = {
  draining,
  clock_differs: refuse("TRY_AGAIN", "The clock of this node differs from the database's."),
  not_joined: refuse("TRY_AGAIN", "This node has not joined the cluster yet."),
  not_writing: refuse("TRY_AGAIN", "The database accepts no commits."),
  not_reading: refuse("TRY_AGAIN", "The database does not answer.")
}

const readyAnswer = (ready: Ready) => ready === "ready" ? alive : refusalResponse(refusals[ready])

const healthAnswer = (status: Ready) =>
  status === "ready"
    ? wellOff
    : refusalResponse({ ...refusals[status], details: { ...refusals[status].details, status, version } })

/**
 * `/health/live`: the process answers. `/health/ready`: the node accepts requests: the database answers, commits
 * succeed, the owners of players are known, its clock is the database's, and neither a drain nor a handover has begun.
 * `/health`: the same with the version, for people and inventories.
 */
export const Health = Layer.unwrap(Effect.gen(function*() {
  const { check } = yield* Readiness
  return Layer.mergeAll(
    HttpRouter.add("GET", "/health/live", alive),
    // shared by all waiting callers: a disconnect must not interrupt it
    HttpRouter.add("GET", "/health/ready", Effect.map(check, readyAnswer), { uninterruptible: true }),
    HttpRouter.add("GET", "/health", Effect.map(check, healthAnswer), { uninterruptible: true })
  )
})).pipe(Layer.provide(Readiness.layer))

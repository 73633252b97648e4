/** Readiness, for load balancers and monitoring. */
import { Context, Effect, Layer } from "effect"
import { Nodes } from "../cluster/Nodes.ts"
import { ServingClient } from "../platform/Database.ts"
import { withMonotonicClock } from "../platform/MonotonicClock.ts"
import { PlayerActors } from "../store/PlayerActors.ts"
import { Drain } from "./Drain.ts"

/** The journal's limit of a statement: a longer stall is no slowness. */
const maxStalledMs = 5000

export type Ready = "ready" | "draining" | "not_joined" | "not_writing" | "not_reading"

/** Asks the database at most once a second; the state of commits is known. */
export class Readiness extends Context.Service<Readiness, {
  readonly check: Effect.Effect<Ready>
}>()("pitboss/http/Readiness") {
  static readonly layer = Layer.effect(
    Readiness,
    Effect.gen(function*() {
      const sql = yield* ServingClient
      const drain = yield* Drain
      const actors = yield* PlayerActors
      const nodes = yield* Nodes
      const ping = yield* sql`SELECT 1`.pipe(
        Effect.timeout("2 seconds"),
        Effect.match({ onSuccess: (): Ready => "ready", onFailure: (): Ready => "not_reading" }),
        Effect.cachedWithTTL("1 second"),
        Effect.map(withMonotonicClock)
      )
      const check = Effect.suspend((): Effect.Effect<Ready> =>
        drain.isDraining() || nodes.isLeaving()
          ? Effect.succeed("draining")
          : !nodes.isJoined()
          ? Effect.succeed("not_joined")
          : actors.writesStalledMs() >= maxStalledMs
          ? Effect.succeed("not_writing")
          : ping
      )
      return { check }
    })
  )
}

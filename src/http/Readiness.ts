/** Readiness of the node for load balancers and monitoring: drain, clock, cluster membership, commits and reads. */
import { Context, Effect, Layer } from "effect"
import { Nodes } from "../cluster/Nodes.ts"
import { ServingClient } from "../platform/Database.ts"
import { withMonotonicClock } from "../platform/MonotonicClock.ts"
import { PlayerActors } from "../store/PlayerActors.ts"
import { Drain } from "./Drain.ts"

/** Statement time-out of the journal: a longer stall is a failure, not slowness. */
const maxStalledMs = 5000

export type Ready = "ready" | "draining" | "clock_differs" | "not_joined" | "not_writing" | "not_reading"

/** Queries the database at most once a second; the state of commits is in memory. */
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
          : nodes.isAside()
          ? Effect.succeed("clock_differs")
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

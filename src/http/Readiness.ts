/** Whether the service can serve, asked by whoever routes to it and by whoever watches it. */
import { Context, Effect, Layer } from "effect"
import { ServingClient } from "../platform/Database.ts"
import { withMonotonicClock } from "../platform/MonotonicClock.ts"
import { PlayerActors } from "../store/PlayerActors.ts"
import { Drain } from "./Drain.ts"

/** As long as the journal gives the server for a statement: what takes longer is not slow but stuck. */
const maxStalledMs = 5000

export type Ready = "ready" | "draining" | "not_writing" | "not_reading"

/** The database is asked at most once a second; of commits it is known how the last ones went. */
export class Readiness extends Context.Service<Readiness, {
  readonly check: Effect.Effect<Ready>
}>()("pitboss/http/Readiness") {
  static readonly layer = Layer.effect(
    Readiness,
    Effect.gen(function*() {
      const sql = yield* ServingClient
      const drain = yield* Drain
      const actors = yield* PlayerActors
      const ping = yield* sql`SELECT 1`.pipe(
        Effect.timeout("2 seconds"),
        Effect.match({ onSuccess: (): Ready => "ready", onFailure: (): Ready => "not_reading" }),
        Effect.cachedWithTTL("1 second"),
        Effect.map(withMonotonicClock)
      )
      const check = Effect.suspend((): Effect.Effect<Ready> =>
        drain.isDraining()
          ? Effect.succeed("draining")
          : actors.writesStalledMs() >= maxStalledMs
          ? Effect.succeed("not_writing")
          : ping
      )
      return { check }
    })
  )
}

import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { SqlClient } from "effect/sql"
import { refuse } from "../domain/Refusal.ts"
import { PlayerActors } from "../players/PlayerActors.ts"
import { Drain } from "./Drain.ts"
import { draining, jsonResponse, refusalResponse } from "./Refusals.ts"

const alive = jsonResponse(200, JSON.stringify({ status: "ok" }))
const notReady = refuse("TRY_AGAIN", "The database does not answer.")
const notWriting = refuse("TRY_AGAIN", "The database takes no commits.")

/** As long as the journal gives the server for a statement: what takes longer is not slow but stuck. */
const maxStalledMs = 5000

/**
 * `/health/live`: the process answers. `/health/ready`: it can serve, because the database answers, commits go through, and it is
 * not going down. The database is asked at most once a second; of commits it is known how the last ones went.
 */
export const Health = Layer.unwrap(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const drain = yield* Drain
  const actors = yield* PlayerActors
  const ping = yield* sql`SELECT 1`.pipe(
    Effect.timeout("2 seconds"),
    Effect.match({ onSuccess: () => alive, onFailure: () => refusalResponse(notReady) }),
    Effect.cachedWithTTL("1 second")
  )
  const ready = Effect.suspend(() =>
    drain.isDraining()
      ? Effect.succeed(refusalResponse(draining))
      : actors.writesStalledMs() >= maxStalledMs
      ? Effect.succeed(refusalResponse(notWriting))
      : ping
  )
  return Layer.mergeAll(
    HttpRouter.add("GET", "/health/live", alive),
    // What one caller asks is the answer of all who wait: nobody's leaving may stop it.
    HttpRouter.add("GET", "/health/ready", ready, { uninterruptible: true })
  )
}))

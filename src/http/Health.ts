import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { SqlClient } from "effect/sql"
import { refuse } from "../domain/Refusal.ts"
import { Drain } from "./Drain.ts"
import { draining, jsonResponse, refusalResponse } from "./Refusals.ts"

const alive = jsonResponse(200, JSON.stringify({ status: "ok" }))
const notReady = refuse("TRY_AGAIN", "The database does not answer.")

/**
 * `/health/live`: the process answers. `/health/ready`: it can serve, because the database answers and it is not going
 * down. The database is asked at most once a second.
 */
export const Health = Layer.unwrap(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const drain = yield* Drain
  const ping = yield* sql`SELECT 1`.pipe(
    Effect.timeout("2 seconds"),
    Effect.match({ onSuccess: () => alive, onFailure: () => refusalResponse(notReady) }),
    Effect.cachedWithTTL("1 second")
  )
  const ready = Effect.suspend(() => drain.isDraining() ? Effect.succeed(refusalResponse(draining)) : ping)
  return Layer.mergeAll(
    HttpRouter.add("GET", "/health/live", alive),
    // What one caller asks is the answer of all who wait: nobody's leaving may stop it.
    HttpRouter.add("GET", "/health/ready", ready, { uninterruptible: true })
  )
}))

/** Keeps a request in flight for as long as a scene needs it: the test holds the row that its commit has to write. */
import { Deferred, Effect, Fiber, Schedule } from "effect"
import { SqlClient } from "effect/sql"

/** Completes when a statement on the test's database waits for a lock. */
export const someoneWaits = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
).pipe(
  Effect.map((rows) => rows.length > 0),
  Effect.repeat({ until: (waits) => waits, schedule: Schedule.spaced("10 millis") }),
  Effect.timeout("60 seconds")
)

/** Holds a player's hot row; gives how to let go. */
export const holdPlayer = Effect.fnUntraced(function*(playerId: number) {
  const sql = yield* SqlClient.SqlClient
  const held = yield* Deferred.make<void>()
  const letGo = yield* Deferred.make<void>()
  const holding = yield* Effect.forkChild(sql.withTransaction(
    sql`SELECT FROM accounts WHERE player_id = ${playerId} FOR UPDATE`.pipe(
      Effect.andThen(Deferred.succeed(held, undefined)),
      Effect.andThen(Deferred.await(letGo))
    )
  ))
  yield* Deferred.await(held)
  return Effect.andThen(Deferred.succeed(letGo, undefined), Fiber.join(holding))
})

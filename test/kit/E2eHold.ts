/**
 * Keeps a request in flight for as long as a test needs: the write of a player's hot row waits at a gate in the database
 * until the test opens it. No lock is involved, so that no lock time-out ends the wait; the statement time-out
 * does, after some seconds.
 */
import { Deferred, Effect, Fiber, Schedule } from "effect"
import { SqlClient } from "effect/sql"

const build = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE IF NOT EXISTS test_gates (player_id bigint PRIMARY KEY)`
  yield* sql`GRANT SELECT ON test_gates TO PUBLIC`
  yield* sql`CREATE OR REPLACE FUNCTION test_gate() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      WHILE EXISTS (SELECT FROM test_gates WHERE player_id = NEW.player_id) LOOP
        PERFORM pg_sleep(0.002);
      END LOOP;
      RETURN NEW;
    END $$`
  yield* sql`CREATE OR REPLACE TRIGGER test_gate BEFORE UPDATE ON accounts FOR EACH ROW EXECUTE FUNCTION test_gate()`
})

/** Completes when a write waits at the gate. */
export const untilSomeoneWaits = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()`
).pipe(
  Effect.map((rows) => rows.length > 0),
  Effect.repeat({ until: (waits) => waits, schedule: Schedule.spaced("5 millis") }),
  Effect.timeout("60 seconds")
)

/** Closes the gate before a player; gives how to open it. */
export const holdPlayer = Effect.fnUntraced(function*(playerId: number) {
  const sql = yield* SqlClient.SqlClient
  yield* build
  yield* sql`INSERT INTO test_gates (player_id) VALUES (${playerId})`
  return Effect.asVoid(sql`DELETE FROM test_gates WHERE player_id = ${playerId}`)
})

/** Locks a player's row in a separate transaction; returns the effect that ends it. */
export const lockAccount = Effect.fnUntraced(function*(playerId: number) {
  const sql = yield* SqlClient.SqlClient
  const holds = yield* Deferred.make<void>()
  const release = yield* Deferred.make<void>()
  const holding = yield* Effect.forkChild(sql.withTransaction(Effect.gen(function*() {
    yield* sql`SELECT 1 FROM accounts WHERE player_id = ${playerId} FOR UPDATE`
    yield* Deferred.succeed(holds, undefined)
    yield* Deferred.await(release)
  })))
  yield* Deferred.await(holds)
  return Effect.andThen(Deferred.succeed(release, undefined), Fiber.join(holding))
})

/** The answer to a request whose commit, of this player, is cut off from the service while the database works on it: of unknown outcome. */
export const losingCommit = <A, E, R>(playerId: number, request: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const release = yield* holdPlayer(playerId)
    const asking = yield* Effect.forkChild(request)
    // until one is met asleep: between two sleeps it looks at its gate
    yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE wait_event = 'PgSleep' AND datname = current_database()`.pipe(
      Effect.repeat({ until: (ended) => ended.length > 0 })
    )
    const answer = yield* Fiber.join(asking)
    yield* release
    return answer
  })

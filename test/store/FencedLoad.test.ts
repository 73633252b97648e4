import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { makePlayerStore } from "../../src/store/internal/PlayerStore.ts"
import { addOperator, addPlayer, layerTestService } from "../kit/TestService.ts"

// Goal: a load behind the fence sees all that the commit it waited for wrote, in every table: a player who was just locked must
// not be loaded as active. Method: hold the row in a transaction that locks the player, load while it is held, let it commit.
layer(layerTestService(), { excludeTestServices: true })("a load behind the fence", (it) => {
  it.effect("waits for the commit before it and sees all of it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const store = yield* makePlayerStore
      const playerId = yield* addPlayer(yield* addOperator("fence"), "ada")
      const held = yield* Deferred.make<void>()
      const release = yield* Deferred.make<void>()
      const commit = yield* Effect.forkChild(sql.withTransaction(Effect.gen(function*() {
        yield* sql`UPDATE accounts SET version = version + 1, real_balance = 5 WHERE player_id = ${playerId}`
        yield* sql`UPDATE players SET status = 'locked' WHERE id = ${playerId}`
        yield* Deferred.succeed(held, undefined)
        yield* Deferred.await(release)
      })))
      yield* Deferred.await(held)
      const load = yield* Effect.forkChild(store.load(playerId, true))
      const waits = Effect.map(
        sql`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
        (rows) => rows.length > 0
      )
      yield* Effect.repeat(waits, {
        until: (isWaiting) => isWaiting,
        schedule: Schedule.spaced("10 millis"),
        times: 500
      })
      assert.isTrue(yield* waits, "the load waits for the row")
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(commit)
      const loaded = yield* Fiber.join(load)
      assert.deepInclude(loaded?.state, { status: "locked", real: 5 })
      assert.strictEqual(loaded?.version, 2)
    }))
})

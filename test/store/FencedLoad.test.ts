import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { JournalClient } from "../../src/platform/Database.ts"
import { makePlayerStore } from "../../src/store/internal/PlayerStore.ts"
import { addOperator, addPlayer, layerTestService } from "../kit/TestService.ts"

// Goal: a load behind the fence sees all writes of the previous commit, in every table: a player who was just locked must not be loaded
// as active. While that commit may still happen, its player is refused, and no other player of the load. Method: hold the row in a
// transaction that locks the player, load two players while it is held and after it has committed.
layer(layerTestService(), { excludeTestServices: true })("a fenced load", (it) => {
  it.effect("fails while another transaction locks the account, and sees that transaction's changes after its commit", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const store = yield* makePlayerStore
      const operator = yield* addOperator("fence")
      const [playerId, other] = [yield* addPlayer(operator, "ada"), yield* addPlayer(operator, "bob")]
      const held = yield* Deferred.make<void>()
      const release = yield* Deferred.make<void>()
      const commit = yield* Effect.forkChild(sql.withTransaction(Effect.gen(function*() {
        yield* sql`UPDATE accounts SET version = version + 1, real_balance = 5 WHERE player_id = ${playerId}`
        yield* sql`UPDATE players SET status = 'locked' WHERE id = ${playerId}`
        yield* Deferred.succeed(held, undefined)
        yield* Deferred.await(release)
      })))
      yield* Deferred.await(held)
      const [refused, loaded] = yield* Effect.all([Effect.flip(store.load(playerId, true)), store.load(other, true)], {
        concurrency: 2
      })
      assert.strictEqual(refused._tag, "StoreUnavailable")
      assert.strictEqual(loaded?.version, 1)
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(commit)
      const after = yield* store.load(playerId, true)
      assert.deepInclude(after?.state, { status: "locked", real: 5 })
      assert.strictEqual(after?.version, 2)
    }))

  // Goal: the players of a commit of unknown outcome are fenced by one statement, not by one each. Method: twenty players at once, over a
  // client that counts.
  it.effect("fences many players at once in one statement", () =>
    Effect.gen(function*() {
      const client = yield* JournalClient
      let fences = 0
      const counting = new Proxy(client, {
        get: (target, property) =>
          property !== "unsafe" ? Reflect.get(target, property) : (...args: Parameters<typeof client.unsafe>) => {
            if (args[0].startsWith("UPDATE accounts SET version")) fences++
            return target.unsafe(...args)
          }
      })
      const store = yield* Effect.provideService(makePlayerStore, JournalClient, counting)
      const operator = yield* addOperator("doubt")
      const names = Array.from({ length: 20 }, (_, index) => `player ${index}`)
      const players = yield* Effect.forEach(names, (name) => addPlayer(operator, name))
      const loaded = yield* Effect.forEach(players, (playerId) => store.load(playerId, true), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(loaded.map((one) => [one?.state.id, one?.version]), players.map((id) => [id, 1]))
      assert.strictEqual(fences, 1)
    }))
})

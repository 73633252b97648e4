import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Ids } from "../../src/platform/Ids.ts"
import { addGame, addStudio, addTenant, seat } from "../kit/Casino.ts"
import { layerPublicApi } from "../kit/E2eServer.ts"
import { makeAgent, plainCall, portOf } from "../kit/HttpCalls.ts"
import { nodesOfRun } from "../kit/NodesInProcess.ts"

/** Connections of the general pool, in tests. */
const connections = 6

/** Completes when `count` statements wait for a lock. */
const waitFor = (count: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
  ).pipe(
    Effect.map((rows) => rows.length),
    Effect.repeat({ until: (waiting) => waiting === count, schedule: Schedule.spaced("5 millis") }),
    Effect.timeout("30 seconds"),
    TestClock.withLive
  )

layer(layerPublicApi, { timeout: "60 seconds" })("slow reads", (it) => {
  // Goal: endless reads stop no play, and requests that need their connections get TRY_AGAIN. Method: lists that
  // wait for a lock, one for every connection of the general pool; a bet, a win whose bet has to be looked up, a message's status, a wallet and
  // readiness, before and after the cached keys expire; then one list more.
  // the connections are those of one node
  it.effect.skipIf(nodesOfRun > 1)(
    "leave database connections free for bets, wins and other short requests",
    () =>
      Effect.gen(function*() {
        const port = yield* portOf
        const agent = yield* makeAgent()
        const tenant = yield* addTenant(agent, port, "slow")
        const studio = yield* addStudio(agent, port, "slow-studio")
        const game = yield* addGame(studio.id, "slow-game")
        const { playerId, ref, token } = yield* seat(tenant.call, studio.call, game, {
          username: "slow-player",
          balance: 10_000
        })
        const ids = yield* Ids
        const wallet = "/api/v1/provider/wallet"
        const post = (path: string, body: object) => studio.call.send(`${wallet}${path}`, { method: "POST", body })
        const play = Effect.fnUntraced(function*(id: string) {
          const bet = {
            request_id: id,
            transaction_id: id,
            round_id: id,
            game_id: game.externalId,
            amount: 10,
            currency: "EUR"
          }
          assert.strictEqual((yield* post("/bet", { ...bet, session_token: token })).status, 200)
          const win = { ...bet, transaction_id: `${id}-win`, player_ref: ref, bet_transaction_id: `${id}-unknown` }
          assert.deepInclude(yield* post("/win", win), { status: 404 })
          assert.strictEqual((yield* studio.call.send(`${wallet}/transactions/${id}`)).status, 200)
          assert.strictEqual((yield* tenant.call.send(`/api/v1/operator/players/${playerId}/wallet`)).status, 200)
          assert.strictEqual((yield* plainCall("/health/ready")).status, 200)
          // more ids than a process holds
          yield* Effect.forEach([1, 2], () => ids.reserve(4096))
        })
        const list = tenant.call.send("/api/v1/operator/players")
        const sql = yield* SqlClient.SqlClient
        const mayEnd = yield* Deferred.make<void>()
        const locked = yield* Deferred.make<void>()
        yield* Effect.forkScoped(sql.withTransaction(Effect.gen(function*() {
          yield* sql`LOCK TABLE player_counts IN ACCESS EXCLUSIVE MODE`
          yield* Deferred.succeed(locked, undefined)
          yield* Deferred.await(mayEnd)
        })))
        yield* Deferred.await(locked)
        const lists = yield* Effect.forEach(
          Array.from({ length: connections }),
          () => Effect.forkChild(list, { startImmediately: true })
        )
        yield* waitFor(connections)
        yield* play("one")
        yield* TestClock.adjust("3 seconds")
        yield* play("two")
        const oneMore = yield* Effect.forkChild(list, { startImmediately: true })
        // the request arrives in real time; its timeout is on the test clock
        const moving = yield* Effect.forkChild(Effect.forever(Effect.andThen(
          TestClock.adjust("1 second"),
          TestClock.withLive(Effect.sleep("20 millis"))
        )))
        const refused = yield* Fiber.join(oneMore)
        yield* Fiber.interrupt(moving)
        assert.deepInclude(refused, { status: 503 })
        assert.include(refused.text, "TRY_AGAIN")
        yield* Deferred.succeed(mayEnd, undefined)
        for (const each of lists) assert.strictEqual((yield* Fiber.join(each)).status, 200)
      }).pipe(Effect.scoped)
  )
})

import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Ids } from "../../src/platform/Ids.ts"
import { exchange, makeAgent } from "../kit/E2eHttp.ts"
import { layerE2eServer, portOf } from "../kit/E2eServer.ts"
import { addGame, addStudio, addTenant, callWallet, seat, settledOf } from "../kit/E2eWorld.ts"
import { assertRefused } from "../kit/PublicApi.ts"
import { ServiceSql } from "../kit/TestService.ts"

// Goal: reports, searches and verifications, however many and however slow, do not block bets. Method: every general
// connection of the service sleeps in the database; meanwhile every read that a bet may need beside its commit is requested.

layer(layerE2eServer)("while every general connection is busy", (it) => {
  it.effect("bets, look-ups, ids and the probe of readiness are answered", () =>
    Effect.gen(function*() {
      const agent = yield* makeAgent()
      const port = yield* portOf
      const { call: operator } = yield* addTenant(agent, port, "patient")
      const studio = yield* addStudio(agent, port, "studio")
      const game = yield* addGame(studio.id, "dice")
      const at = yield* seat(operator, studio.call, game, { username: "ada", balance: 1000 })
      const general = yield* ServiceSql
      const sleeping = yield* Effect.forEach(
        Array.from({ length: 12 }),
        () => Effect.forkChild(general`SELECT pg_sleep(600)`)
      )
      const sql = yield* SqlClient.SqlClient
      yield* TestClock.withLive(
        sql`SELECT count(*)::integer AS busy FROM pg_stat_activity
          WHERE wait_event = 'PgSleep' AND datname = current_database()`.pipe(
          Effect.repeat({ until: ([row]) => row?.["busy"] === 6 })
        )
      )

      const round = { game_id: game.externalId, round_id: "r1", currency: "EUR" }
      const bet = { ...round, request_id: "b1", transaction_id: "b1", session_token: at.token, amount: 100 }
      assert.strictEqual((yield* Effect.flatMap(callWallet(studio.call, "bet", bet), settledOf)).balance, 900)
      const unknown = {
        ...round,
        request_id: "w1",
        transaction_id: "w1",
        player_ref: at.ref,
        amount: 5,
        round_closed: false
      }
      assertRefused(
        yield* callWallet(studio.call, "win", { ...unknown, bet_transaction_id: "never" }),
        404,
        "BET_NOT_FOUND"
      )
      yield* (yield* Ids).reserve(4096)
      yield* (yield* Ids).reserve(4096)
      const ready = yield* exchange(agent, port, "/health/ready")
      assert.strictEqual(ready.status, 200)
      yield* Effect.forEach(sleeping, Fiber.interrupt, { discard: true })
    }))
})

import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { vi } from "vitest"
import { Launches } from "../../src/features/launches/Launches.ts"
import { register } from "../kit/Clients.ts"
import { addGame, addStudio, addTenant } from "../kit/E2eWorld.ts"
import { makeAgent } from "../kit/E2eHttp.ts"
import { layerE2eServer, portOf } from "../kit/E2eServer.ts"
import { nodesOfRun } from "../kit/NodesInProcess.ts"

/** A header that leaves a request to the router, and so to its handler in a fiber. */
const toRouter = { expect: "the router" }

/** An answer without the values that differ between two sessions. */
const comparable = (text: string): unknown =>
  JSON.parse(
    text.replaceAll(/"(session_token|expires_at)":"[^"]*"/g, "\"$1\":\"\"").replaceAll(/token=[\w.-]+/g, "token=")
  )

// Goal: a launch has the same outcome with and without a fiber. Method: the same requests, good and bad, for two players side by
// side, one of them through the router; their sessions, as stored.
layer(layerE2eServer, { timeout: "60 seconds" })("launches without a fiber", (it) => {
  it.effect("are answered as by their handlers", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      const agent = yield* makeAgent()
      const { call } = yield* addTenant(agent, port, "launches")
      const studio = yield* addStudio(agent, port, "launches")
      const slot = yield* addGame(studio.id, "launches-slot")
      const closed = yield* addGame(studio.id, "launches-closed", { active: false })
      const missing = { id: 9_000_000_000_000_000 }
      const sides = yield* Effect.forEach(
        [{ name: "direct", headers: {} }, { name: "routed", headers: toRouter }],
        (side) => Effect.map(register(call, side.name), (playerId) => ({ ...side, playerId }))
      )
      const started = vi.spyOn(yield* Launches, "startLaunch")
      const ask = (status: number, game: { readonly id: number }, body: object) =>
        Effect.gen(function*() {
          const [direct, routed] = yield* Effect.forEach(sides, ({ headers, playerId }) =>
            Effect.map(
              call.send(`/api/v1/operator/players/${playerId}/games/${game.id}/launch`, {
                method: "POST",
                body,
                headers
              }),
              ({ status, text }) => ({ status, body: comparable(text) })
            ))
          assert.deepStrictEqual(direct, routed)
          assert.strictEqual(direct?.status, status, JSON.stringify([game, body, direct]))
        })
      // the game is in memory from here on
      yield* ask(200, slot, {})
      yield* ask(200, slot, { mode: "real", platform: "mobile", ip: "203.0.113.7" })
      yield* ask(200, slot, { mode: "demo" })
      yield* ask(422, slot, { mode: "play" })
      yield* ask(404, closed, {})
      yield* ask(404, missing, {})
      for (const { playerId } of sides) {
        const { status } = yield* call.send(`/api/v1/operator/players/${playerId}/status`, {
          method: "PUT",
          body: { status: "locked", reason: "test" }
        })
        assert.strictEqual(status, 200)
      }
      yield* ask(422, slot, {})
      const sql = yield* SqlClient.SqlClient
      const sessions = yield* Effect.forEach(sides, ({ playerId }) =>
        sql`SELECT game_id::int AS game, mode, platform, ip FROM game_sessions WHERE player_id = ${playerId} ORDER BY id`)
      assert.deepStrictEqual(sessions[0], sessions[1])
      assert.strictEqual(sessions[0]?.length, 3)
      if (nodesOfRun === 1) {
        // those of the first player with a game in memory that is on offer
        assert.strictEqual(
          started.mock.results.filter(({ value }) =>
            value === true
          ).length,
          3
        )
      }
    }))
})

import { assert, layer } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import { vi } from "vitest"
import { Players } from "../../src/features/players/Players.ts"
import { ResponsibleGaming } from "../../src/features/responsibleGaming/ResponsibleGaming.ts"
import { Ledger } from "../../src/features/wallet/Ledger.ts"
import { Wallet } from "../../src/features/wallet/Wallet.ts"
import { addTenant, register } from "../kit/Casino.ts"
import { layerPublicApi } from "../kit/E2eServer.ts"
import { makeAgent, portOf } from "../kit/HttpCalls.ts"
import { nodesOfRun } from "../kit/NodesInProcess.ts"

/** A header that leaves a request to the router, and so to its handler in a fiber. */
const toRouter = { expect: "the router" }

/** Paths below a player, with the status of the answer. */
const scenes: ReadonlyArray<readonly [status: number, path: string]> = [
  [200, ""],
  [200, "?"],
  [200, "/wallet"],
  [422, "/wallet?at=2126-01-01T00:00:00Z"],
  [200, "/limits"],
  [200, "/transactions"],
  [200, "/transactions?per_page=2"],
  [200, "/transactions?per_page=2&page=2"],
  [200, "/transactions?page=1000000"],
  [200, "/transactions?per_page=1e1"],
  [200, "/transactions?per_page=2&type=deposit"],
  [200, "/transactions?per_page=2&cursor="],
  [422, "/transactions?per_page=2&other=1"],
  [422, "/transactions?constructor=1"],
  [200, "/transactions?_=1"],
  [200, "/transactions?per%5Fpage=%32"],
  [422, "/transactions?per_page=0"],
  [422, "/transactions?per_page=x"],
  [422, "/transactions?page=1&page=2"]
]

// Goal: a read has the same answer with and without a fiber: the router serves what is unusual (docs/decisions/0041-one-way-through-http.md), by handlers that
// decode queries by their schemas. Commands have one form for both. Method: the same requests, plain and through the router.
layer(layerPublicApi, { timeout: "60 seconds" })("the fast path of reads (no fiber)", (it) => {
  it.effect("gives the same answers as the router's request handlers", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      const agent = yield* makeAgent()
      const { call } = yield* addTenant(agent, port, "reads")
      const stranger = yield* register((yield* addTenant(agent, port, "reads-other")).call, "stranger")
      const playerId = yield* register(call, "reader")
      for (const amount of [500, 600, 700]) {
        yield* call.post(`/api/v1/operator/players/${playerId}/deposits`, { amount, external_reference: `r${amount}` })
      }
      const started = {
        wallet: vi.spyOn(yield* Wallet, "viewAtOnce"),
        limits: vi.spyOn(yield* ResponsibleGaming, "getAtOnce"),
        ledger: vi.spyOn(yield* Ledger, "startList"),
        profile: vi.spyOn(yield* Players, "startGet")
      }
      const read = (path: string, headers: { readonly [name: string]: string } = {}) =>
        Effect.map(
          call.send(path, { headers }),
          ({ headers, status, text }) => ({
            status,
            text,
            type: headers["content-type"],
            limit: headers["x-ratelimit-limit"],
            cache: headers["cache-control"]
          })
        )
      const paths = [
        ...scenes.map(([status, path]) => [status, `/api/v1/operator/players/${playerId}${path}`] as const),
        ...["", "/wallet", "/limits", "/transactions"].flatMap((path) =>
          [stranger, 9_000_000_000_000_000].map((id) => [404, `/api/v1/operator/players/${id}${path}`] as const)
        )
      ]
      // all at once: each is answered by its own rows
      const direct = yield* Effect.forEach(paths, ([, path]) => read(path), { concurrency: "unbounded" })
      if (nodesOfRun === 1) {
        const begun = Object.values(started).map(({ mock }) =>
          mock.results.filter(({ value }) => value !== undefined).length
        )
        // none that is malformed, filtered, walked, or of a player who is not in memory
        assert.deepStrictEqual(begun.slice(0, 3), [1, 1, 6])
        assert.strictEqual(started.profile.mock.calls.length, 3)
      }
      for (const [index, [status, path]] of paths.entries()) {
        const routed = yield* read(path, toRouter)
        assert.deepStrictEqual(direct[index], routed, path)
        assert.strictEqual(routed.status, status, path)
      }
    }))

  it.effect("fails only for the player whose row cannot be decoded, when several players are read by one statement", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      const agent = yield* makeAgent()
      const sql = yield* SqlClient.SqlClient
      const { call, operator } = yield* addTenant(agent, port, "damaged")
      const players = yield* Effect.forEach(["one", "two", "three"], (name) => register(call, name))
      yield* sql`UPDATE players SET created_at = 'infinity' WHERE id = ${players[1]}`
      const { get } = yield* Players
      // by one statement: asked for in one turn of the event loop
      const exits = yield* Effect.forEach(players, (playerId) => Effect.exit(get(operator.id, playerId)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(exits.map(Exit.hasDies), [false, true, false])
      assert.deepStrictEqual(exits.map(Exit.isSuccess), [true, false, true])
    }))
})

import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { audit } from "../support/E2eAudit.ts"
import { databaseUrl, layerOwnDatabase } from "../support/E2eDatabase.ts"
import { callerOf, makeAgent } from "../support/E2eHttp.ts"
import { type Line, Notebook, replayAll, runJournalist, until } from "../support/E2eJournalist.ts"
import { chanceOf, seedOfRun } from "../support/E2eRandom.ts"
import { addGame, addStudio, addTenant, dataOf, seat } from "../support/E2eWorld.ts"
import { freePort, startService } from "../support/ServiceProcess.ts"

// Goal: whatever moment the service dies at, what it acknowledged stands, once, and what it did not acknowledge stands once or
// not at all. Method: the service as a process on a real PostgreSQL; journalists play through signed HTTP and write everything
// down; at ten random moments between two of their events the process is killed with SIGKILL and started again; in the end the
// books are compared, every settled message is sent once more, and the books are compared again.

const kills = 10
const journalists = 10
const players = 4

const seed = seedOfRun()

layer(layerOwnDatabase, { excludeTestServices: true })("kill -9 under load", (it) => {
  it.effect(`loses and doubles nothing in ten kills (E2E_SEED=${seed})`, () =>
    Effect.gen(function*() {
      const url = yield* databaseUrl
      const port = yield* freePort
      const agent = yield* makeAgent()
      const start = startService({ port, databaseUrl: url, environment: { LOG_LEVEL: "error" } })
      let service = yield* start

      const { call: operator } = yield* addTenant(agent, port, "acme")
      const studio = yield* addStudio(agent, port, "studio")
      const game = yield* addGame(studio.id, "dice")
      const chance = chanceOf(seed)
      const seats = yield* Effect.forEach(
        Array.from({ length: players }, (_, index) => `player${index}`),
        (username) => seat(operator, studio.call, game, { username, balance: chance.pick([500, 20_000, 1_000_000]) })
      )
      const references = new Set(seats.map((_, index) => `first-player${index}`))

      const notebook = new Notebook()
      const lines: ReadonlyArray<Line> = [{ operator, provider: callerOf(agent, port, studio.call.signer) }]
      let isOver = false
      const playing = yield* Effect.forkChild(Effect.forEach(
        Array.from({ length: journalists }, (_, index) => index),
        (index) =>
          runJournalist({
            name: `j${index}`,
            notebook,
            seats,
            chance: chanceOf(seed, index + 1),
            lines,
            isOver: () => isOver
          }),
        { concurrency: "unbounded" }
      ))

      const cutOff: Array<number> = []
      for (let kill = 1; kill <= kills; kill++) {
        // counted in events of the journalists, so that a slow machine is killed at the same moments as a fast one
        let left = chance.between(30, 400)
        notebook.onEvent = () => {
          if (--left !== 0) return
          cutOff.push(notebook.waiting)
          service.kill("SIGKILL")
        }
        const ending = yield* service.exited
        assert.deepStrictEqual(ending, { code: null, signal: "SIGKILL" }, service.output())
        service = yield* start
      }
      const answersBefore = notebook.answers
      notebook.onEvent = () => {}
      yield* until(() => notebook.answers >= answersBefore + 100)
      isOver = true
      yield* Fiber.join(playing)

      // each kill found the journalists waiting for something
      assert.lengthOf(cutOff, kills)
      assert.isAtLeast(Math.min(...cutOff), 1)
      assert.isAtLeast(notebook.lost, kills)

      const found = yield* audit(notebook, { references })
      assert.deepStrictEqual(found.complaints, [])
      for (const { playerId } of seats) {
        const wallet = yield* dataOf(
          yield* operator.get(`/api/v1/operator/players/${playerId}/wallet`),
          200,
          Schema.Struct({ balance: Schema.Int })
        )
        assert.strictEqual(wallet.balance, found.balances.get(playerId))
      }

      yield* replayAll(notebook, { operator, provider: studio.call })
      const again = yield* audit(notebook, { references })
      assert.deepStrictEqual(again, found)

      // and the audit is one that can fail
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM provider_transactions WHERE kind = 'bet' AND transaction_id =
        (SELECT min(transaction_id) FROM provider_transactions WHERE kind = 'bet')`
      yield* sql`UPDATE ledger_entries SET amount = amount + 1 WHERE seq = 1 AND player_id =
        (SELECT min(player_id) FROM ledger_entries)`
      const { complaints } = yield* audit(notebook, { references })
      for (const what of ["stands for nothing", "the chain breaks", "deposits - stakes + wins"]) {
        assert.isTrue(complaints.some((complaint) => complaint.includes(what)), what)
      }
    }), 300_000)
})

import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { layerChainUnkeyed } from "../kit/Chains.ts"
import { LedgerAudit } from "../../src/features/ledger/LedgerAudit.ts"
import { audit } from "../kit/HistoryAudit.ts"
import { databaseUrl, layerOwnDatabase } from "../kit/E2eDatabase.ts"
import { addGame, addPaymentMethod, addStudio, addTenant, callWallet, seat, settledOf } from "../kit/Casino.ts"
import { callerOf, exchange, makeAgent, staffOf } from "../kit/HttpCalls.ts"
import { History, type Line } from "../kit/History.ts"
import { playAll, replayAll, until } from "../kit/Client.ts"
import { withdrawalMethod } from "../kit/Operations.ts"
import { chanceOf, seedOfRun } from "../kit/Chance.ts"
import { addStaff, exceptAddedStaff } from "../kit/Keys.ts"
import { freePort, startService } from "../kit/ServiceProcess.ts"

// Goal: two services on one database never both write a player, and no effect is lost or doubled between them. Method: two
// processes; first bets that alternate between them, so that each is fenced every time; then clients
// that play the same players through both, half of all messages through both at once, and compare the tables.

const Overtaken = Schema.Array(Schema.Struct({ version: Schema.Number, entries: Schema.Number }))

const clients = 8
const seed = seedOfRun()

layer(layerOwnDatabase, { excludeTestServices: true })("two services on one database", (it) => {
  it.effect(`lose nothing and book nothing twice (E2E_SEED=${seed})`, () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const url = yield* databaseUrl
      const [firstPort, secondPort] = [yield* freePort, yield* freePort]
      const agent = yield* makeAgent()
      const environment = { LOG_LEVEL: "error" }
      const services = yield* Effect.forEach(
        [firstPort, secondPort],
        (port) => startService({ port, databaseUrl: url, environment }),
        { concurrency: 2 }
      )

      const { call: operator, operator: { id: operatorId } } = yield* addTenant(agent, firstPort, "acme")
      yield* addPaymentMethod(operatorId, withdrawalMethod)
      const studio = yield* addStudio(agent, firstPort, "studio")
      const game = yield* addGame(studio.id, "dice")
      const token = yield* addStaff("Grace")
      const lines: ReadonlyArray<Line> = services.map(({ backofficePort, port }) => ({
        operator: callerOf(agent, port, operator.signer),
        provider: callerOf(agent, port, studio.call.signer),
        staff: staffOf(agent, () => backofficePort, token)
      }))

      // alternating: the fenced one is refused by the database, reloads, and then completes the request
      const single = yield* seat(operator, studio.call, game, { username: "single", balance: 1000 })
      const standing = sql`SELECT version::float8 AS version, entry_seq::float8 AS entries FROM accounts
        WHERE player_id = ${single.playerId}`.pipe(Effect.flatMap(Schema.decodeUnknownEffect(Overtaken)))
      const [before] = yield* standing
      const turns = 20
      for (let turn = 0; turn < turns; turn++) {
        const line = [firstPort, secondPort][turn % 2]
        assert(line !== undefined && before !== undefined)
        const settled = yield* settledOf(
          yield* callWallet(callerOf(agent, line, studio.call.signer), "bet", {
            request_id: `turn${turn}`,
            transaction_id: `turn${turn}`,
            session_token: single.token,
            game_id: game.externalId,
            round_id: "turns",
            amount: 10,
            currency: "EUR"
          })
        )
        assert.deepInclude(settled, { status: "processed", balance: 990 - 10 * turn, wallet_seq: 2 + turn })
      }
      const [after] = yield* standing
      assert(before !== undefined && after !== undefined)
      assert.strictEqual(after.entries - before.entries, turns)
      // every turn but the first of each was decided on a stale version: refused by the version check, which only a commit
      // raises, and then right about the balance
      assert.strictEqual(after.version - before.version, turns)

      const chance = chanceOf(seed)
      const seats = yield* Effect.forEach(
        ["player0", "player1", "player2", "player3"],
        (username) => seat(operator, studio.call, game, { username, balance: chance.pick([500, 20_000, 1_000_000]) })
      )
      const history = new History()
      let isOver = false
      const playing = yield* playAll(clients, {
        history,
        seats,
        chanceOf: (stream) => chanceOf(seed, stream),
        lines,
        isOver: () => isOver
      })
      yield* until(() => history.answers >= 800, playing)
      isOver = true
      yield* Fiber.join(playing)

      const references = new Set(seats.map((_, index) => `first-player${index}`))
      const others = new Set([single.playerId])
      const found = yield* audit(history, { references, others })
      assert.deepStrictEqual(found.violations, [])
      assert.strictEqual(history.lost, 0)
      assert.isAtLeast(history.intents.filter(({ outcomes }) => outcomes.length > 1).length, 50)

      // the maintained totals lost and doubled nothing either
      const proof = yield* Effect.flatMap(LedgerAudit, ({ verify }) => verify(undefined)).pipe(
        Effect.provide(LedgerAudit.layer.pipe(Layer.provide(layerChainUnkeyed)))
      )
      assert.deepStrictEqual(exceptAddedStaff(proof.violations), [])

      // either of them replays the other's answers
      yield* Effect.forEach(lines, (line) => replayAll(history, line), { concurrency: 2 })
      assert.deepStrictEqual(yield* audit(history, { references, others }), found)

      for (const { hasExited } of services) assert.isFalse(hasExited())
      for (const port of [firstPort, secondPort]) {
        assert.strictEqual((yield* exchange(agent, port, "/health/ready")).status, 200)
      }
    }), 300_000)
})

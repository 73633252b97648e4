import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { callerOf, makeAgent } from "../kit/E2eHttp.ts"
import { layerE2eServer, portOf } from "../kit/E2eServer.ts"
import { addGame, addStudio, addTenant, dataOf, deposit, seat, settledOf, tell } from "../kit/E2eWorld.ts"
import { addApiKey } from "../kit/Keys.ts"

// Goal: operators get the report that the specification describes, of their own players, and are told what is wrong with what they
// ask. Method: the service over HTTP with a test clock; a small day whose figures are known.

const path = "/api/v1/operator/reports/ggr"

const Play = { bets: Schema.Int, wins: Schema.Int, ggr: Schema.Int, rounds: Schema.Int, players: Schema.Int }
const Report = Schema.Struct({
  from: Schema.String,
  to: Schema.String,
  currency: Schema.String,
  include_test_players: Schema.Boolean,
  casino: Schema.Struct({
    ...Play,
    by_type: Schema.Struct({ rng: Schema.Struct(Play), live: Schema.Struct(Play) }),
    by_provider: Schema.Array(Schema.Unknown)
  }),
  bonus_conversions: Schema.Int,
  net_gaming_revenue: Schema.Int,
  payments: Schema.Record(Schema.String, Schema.Int),
  players: Schema.Struct({ registered: Schema.Int }),
  unconverted: Schema.Array(Schema.Unknown)
})

const live = layerE2eServer.pipe(
  Layer.provideMerge(Layer.effectDiscard(TestClock.setTime(Date.parse("2026-11-20T12:00:00.000Z"))))
)

layer(live)("the GGR report over HTTP", (it) => {
  it.effect("tells an operator's days, and whose they are", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const agent = yield* makeAgent()
      const port = yield* portOf
      const acme = yield* addTenant(agent, port, "acme")
      const rival = yield* addTenant(agent, port, "rival")
      const studio = yield* addStudio(agent, port, "studio")
      const game = yield* addGame(studio.id, "dice")
      const roulette = yield* addGame(studio.id, "roulette", { type: "live" })
      const one = yield* seat(acme.call, studio.call, game, { username: "one", balance: 1000 })
      const two = yield* seat(acme.call, studio.call, roulette, { username: "two", balance: 500 })
      const send = (who: typeof one, kind: string, id: string, amount: number, more: object = {}) =>
        Effect.flatMap(
          tell(studio.call, kind, {
            request_id: id,
            transaction_id: id,
            ...(kind === "bet" ? { session_token: who.token } : { player_ref: who.ref, round_closed: true }),
            game_id: who.game.externalId,
            round_id: `r${who.playerId}`,
            amount,
            currency: "EUR",
            ...more
          }),
          settledOf
        )
      yield* send(one, "bet", "b1", 300)
      yield* send(one, "win", "w1", 120, { bet_transaction_id: "b1" })
      yield* send(two, "bet", "b2", 50)
      yield* TestClock.adjust("12 hours")
      yield* tell(studio.call, "rollback", {
        request_id: "x2",
        transaction_id: "x2",
        player_ref: two.ref,
        target_transaction_id: "b2"
      }).pipe(Effect.flatMap(settledOf))
      yield* deposit(acme.call, one.playerId, 70, "later")

      const ask = (query: string, call = acme.call) => call.get(`${path}?${query}`)
      const report = yield* dataOf(yield* ask("from=2026-11-20&to=2026-11-20"), 200, Report)
      const rng = { bets: 300, wins: 120, ggr: 180, rounds: 1, players: 1 }
      const live = { bets: 50, wins: 0, ggr: 50, rounds: 1, players: 1 }
      const casino = { bets: 350, wins: 120, ggr: 230, rounds: 2, players: 2 }
      const provider = { provider_id: studio.id, provider: "studio", bonus_bets: 0 }
      assert.deepStrictEqual(report, {
        from: "2026-11-20",
        to: "2026-11-20",
        currency: "EUR",
        include_test_players: false,
        casino: {
          ...casino,
          by_type: { rng, live },
          by_provider: [{ ...provider, bets: 350, wins: 120, ggr: 230, rounds: 2 }]
        },
        bonus_conversions: 0,
        net_gaming_revenue: 230,
        payments: {
          deposits: 1500,
          depositing_players: 2,
          withdrawals: 0,
          withdrawing_players: 0,
          net_deposits: 1500,
          chargebacks: 0
        },
        players: { registered: 2 },
        unconverted: []
      })
      const next = yield* dataOf(yield* ask("from=2026-11-21&to=2026-11-21"), 200, Report)
      assert.deepInclude(next.casino, { bets: -50, ggr: -50, rounds: 0, players: 0 })
      assert.deepInclude(next.payments, { deposits: 70, depositing_players: 1 })
      const both = yield* dataOf(yield* ask("from=2026-11-20&to=2026-11-21"), 200, Report)
      assert.deepInclude(both.casino, { bets: 300, wins: 120, ggr: 180, rounds: 2, players: 2 })
      assert.deepInclude(both.payments, { deposits: 1570, depositing_players: 2 })

      // somebody else's report is empty, and test players are told when asked for
      const others = yield* dataOf(yield* ask("from=2026-11-20&to=2026-11-21", rival.call), 200, Report)
      assert.deepInclude(others.casino, { bets: 0, rounds: 0, players: 0, by_provider: [] })
      assert.deepStrictEqual(others.players, { registered: 0 })
      yield* sql`UPDATE players SET is_test = true WHERE id = ${one.playerId}`
      const real = yield* dataOf(yield* ask("from=2026-11-20&to=2026-11-20"), 200, Report)
      assert.deepStrictEqual(real.players, { registered: 1 })
      const all = yield* dataOf(yield* ask("from=2026-11-20&to=2026-11-20&include_test_players=true"), 200, Report)
      assert.deepInclude(all, { include_test_players: true, players: { registered: 2 } })

      const refusals: ReadonlyArray<readonly [query: string, fields: ReadonlyArray<string>]> = [
        ["", ["from", "to"]],
        ["from=2026-11-20", ["to"]],
        ["from=2026-11-31&to=2026-12-01", ["from"]],
        ["from=20261120&to=2026-1-1", ["from", "to"]],
        ["from=2026-11-20T00:00:00Z&to=2026-11-21", ["from"]],
        ["from=2026-11-20&to=2026-11-19", ["to"]],
        ["from=2025-11-20&to=2026-11-21", ["to"]],
        ["from=2026-11-20&to=2026-11-20&include_test_players=maybe", ["include_test_players"]]
      ]
      for (const [query, fields] of refusals) {
        const reply = yield* ask(query)
        assert.deepStrictEqual([reply.status, reply.code], [422, "VALIDATION_FAILED"], query)
        assert.deepStrictEqual(Object.keys(reply.details).toSorted(), [...fields], query)
      }
      assert.strictEqual((yield* ask("from=2025-11-21&to=2026-11-21")).status, 200)

      const scopeless = callerOf(agent, port, yield* addApiKey(acme.operator.id, { scopes: ["players:read"] }))
      const refused = yield* ask("from=2026-11-20&to=2026-11-20", scopeless)
      assert.deepStrictEqual([refused.status, refused.code], [403, "INSUFFICIENT_SCOPE"])
      const turnkey = yield* addTenant(agent, port, "turnkey")
      yield* sql`UPDATE operators SET cooperation_model = 'turnkey', disabled_features = '{reports}'
        WHERE id = ${turnkey.operator.id}`
      const off = yield* ask("from=2026-11-20&to=2026-11-20", turnkey.call)
      assert.deepStrictEqual([off.status, off.code], [403, "FEATURE_NOT_AVAILABLE"])
    }))
})

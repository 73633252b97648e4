import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { addApiKey } from "../kit/Keys.ts"
import { assertRefused, call, dataOf, deposit, layerPublicApi, noon, openOperator, register } from "../kit/PublicApi.ts"

// Goal: an operator learns what a player's balances were at any moment, and the same whenever it asks. Method: money that moves at known
// times of the test's clock, asked about over HTTP.

layer(layerPublicApi)("a wallet at a moment", (it) => {
  it.effect("is what the ledger said then", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { key, operator } = yield* openOperator("moments")
      yield* sql`INSERT INTO bonuses (id, operator_id, name, type, default_amount, wagering_multiplier, valid_days, created_at,
          updated_at)
        VALUES (1, ${operator.id}, 'Ten', 'no_deposit', 1000, 10, 7, now(), now())`
      const { id } = yield* register(key, "ada")
      const wallet = (at: string) => call(key, `/players/${id}/wallet?at=${encodeURIComponent(at)}`)
      const second = (count: number) => new Date(Date.parse(noon) + count * 1000).toISOString()
      yield* TestClock.adjust("10 seconds")
      yield* deposit(key, id, 500)
      yield* TestClock.adjust("10 seconds")
      dataOf(yield* call(key, `/players/${id}/bonuses`, { body: { bonus_id: 1 } }), 201)
      yield* TestClock.adjust("10 seconds")
      yield* deposit(key, id, 50)

      const seen = Effect.fnUntraced(function*(at: string) {
        const data = dataOf(yield* wallet(at))
        assert.hasAllKeys(data, ["player_id", "currency", "balance", "bonus_balance", "at", "wallets"])
        assert.deepInclude(data, { player_id: id, currency: "EUR" })
        const [real, bonus] = data.wallets
        assert.deepStrictEqual([real.type, real.balance, real.currency], ["real", data.balance, "EUR"])
        assert.deepStrictEqual([bonus.type, bonus.balance, bonus.currency], ["bonus", data.bonus_balance, "EUR"])
        return [data.at, data.balance, data.bonus_balance, real.updated_at, bonus.updated_at]
      })
      const expected = [
        ["2000-01-01T00:00:00.000Z", 0, 0, noon, noon],
        [noon, 0, 0, noon, noon],
        ["2026-11-20T12:00:09.999Z", 0, 0, noon, noon],
        [second(10), 500, 0, second(10), noon],
        ["2026-11-20T12:00:19.999Z", 500, 0, second(10), noon],
        [second(20), 500, 1000, second(10), second(20)],
        [second(30), 550, 1000, second(30), second(20)]
      ] as const
      for (const row of expected) assert.deepStrictEqual(yield* seen(row[0]), [...row])
      yield* TestClock.adjust("1 hour")
      yield* deposit(key, id, 1)
      for (const row of expected) assert.deepStrictEqual(yield* seen(row[0]), [...row])
      // the same moment in other words
      assert.deepStrictEqual((yield* seen("2026-11-20T14:00:10+02:00")).slice(0, 2), [second(10), 500])
      // without a moment it is as ever
      const now = dataOf(yield* call(key, `/players/${id}/wallet`))
      assert.deepInclude(now, { balance: 551, bonus_balance: 1000, unverified_withdrawal_allowance: null })
      assert.notProperty(now, "at")
    }))

  it.effect("is refused for what is no moment of the past, and for whoever may not know", () =>
    Effect.gen(function*() {
      const { key, operator } = yield* openOperator("refusing")
      const { id } = yield* register(key, "ada")
      const wallet = (at: string, signer = key, player = id) => call(signer, `/players/${player}/wallet?${at}`)
      const now = yield* Clock.currentTimeMillis
      dataOf(yield* wallet(`at=${new Date(now).toISOString()}`))
      assertRefused(yield* wallet(`at=${new Date(now + 1).toISOString()}`), 422, "VALIDATION_FAILED", {
        at: ["must not be in the future"]
      })
      for (
        const at of [
          "at=",
          "at",
          "at=today",
          "at=2026-11-20",
          "at=1763640000",
          "at=2026-02-30T00:00:00Z",
          "at=2026-11-20T12:00:00"
        ]
      ) {
        assertRefused(yield* wallet(at), 422, "VALIDATION_FAILED", {
          at: ["must be a date and time like 2026-11-20T12:00:00Z"]
        })
      }
      const past = "at=2026-11-20T00:00:00Z"
      const rival = yield* openOperator("rival")
      for (const at of [past, "at=2999-01-01T00:00:00Z", "at=x"]) {
        assertRefused(yield* wallet(at, rival.key), 404, "NOT_FOUND")
        assertRefused(yield* wallet(at, key, 999_999_999), 404, "NOT_FOUND")
      }
      const other = yield* addApiKey(operator.id, { scopes: ["players:read"] })
      assertRefused(yield* wallet(past, other), 403, "INSUFFICIENT_SCOPE", { required_scopes: ["wallet:read"] })
    }))
})

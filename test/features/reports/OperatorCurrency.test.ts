import { assert, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { RatePairs } from "../../../src/store/internal/ReportSections.ts"
import { Reports } from "../../../src/features/reports/Reports.ts"
import { TestDatabase } from "../../kit/TestDatabase.ts"

// Goal: after staff change an operator's currency its report is in the new one, and each commit uses one set of rates.
// Method: sums as commits before and after the change wrote them, one of them of a player who stayed in memory; and two
// players of one operator, one of them loaded before the change.

it("a commit reports all sums of an operator in one currency, even if the operator's currency has changed meanwhile", () => {
  const before = { operatorId: 1, currency: "EUR", baseCurrency: "EUR" }
  const after = { ...before, baseCurrency: "USD" }
  const [ownFirst, ownLast] = [new RatePairs(), new RatePairs()]
  assert.deepStrictEqual([ownFirst.placeOf(before), ownFirst.placeOf(after)], [null, null])
  assert.deepStrictEqual(ownFirst.all, [])
  assert.deepStrictEqual([ownLast.placeOf(after), ownLast.placeOf(before)], [0, 0])
  assert.deepStrictEqual(ownLast.all, [{ pair: 0, currency: "EUR", base: "USD" }])
  assert.strictEqual(ownLast.placeOf({ ...before, operatorId: 2 }), null)
  assert.strictEqual(ownLast.placeOf({ ...before, currency: "SEK" }), 1)
})

layer(Reports.layer.pipe(Layer.provideMerge(TestDatabase.layer)))("an operator whose currency has changed", (it) => {
  it.effect("has amounts that are already in the new currency reported without an exchange rate", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO operators (id, slug, name, currency, created_at, updated_at)
        VALUES (1, 'one', 'one', 'USD', now(), now())`
      yield* sql`INSERT INTO exchange_rates (currency, base, rate, factor, created_at)
        VALUES ('USD', 'EUR', 0.9, 0.9, now()), ('EUR', 'USD', 1.1, 1.1, now())`
      // dollars converted to the operator's former euros, and dollars as its own currency; euros likewise
      yield* sql`INSERT INTO daily_sums (operator_id, day, is_test, currency, exchange_rate_id, provider_id, is_live, shard, entries,
          rounds, bets, bonus_bets, wins, bonus_conversions, deposits, chargebacks, withdrawals)
        VALUES (1, '2026-06-01', false, 'USD', 1, 0, false, 0, 1, 0, 0, 0, 0, 0, 1000, 0, 0),
          (1, '2026-06-02', false, 'USD', 0, 0, false, 0, 1, 0, 0, 0, 0, 0, 200, 0, 0),
          (1, '2026-06-02', false, 'EUR', 2, 0, false, 0, 1, 0, 0, 0, 0, 0, 10, 0, 0),
          (1, '2026-06-01', false, 'EUR', 0, 0, false, 0, 1, 0, 0, 0, 0, 0, 7, 0, 0)`
      const report = yield* (yield* Reports).ggr(1, { from: "2026-06-01", to: "2026-06-02", includeTestPlayers: false })
      assert.strictEqual(report.payments.deposits, 1211)
      assert.deepStrictEqual(report.unconverted.map(({ currency, deposits }) => ({ currency, deposits })), [
        { currency: "EUR", deposits: 7 }
      ])
    }))
})

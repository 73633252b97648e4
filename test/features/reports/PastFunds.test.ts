import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { Funds } from "../../../src/contract/reports/SeriesResource.ts"
import { KeyFigures } from "../../../src/features/reports/KeyFigures.ts"
import { addOperator, layerTestService } from "../../kit/TestService.ts"

// Goal: funds of a past midnight are the sums of all entries until then, whoever has moved since. Method: ledgers of thousands of players over ten
// days, written as rows, some at a midnight and just before it; the report against a plain sum of the ledger.

const dayMs = 86_400_000
const first = Date.parse("2026-11-01T00:00:00.000Z")
const players = 6000

/** Players of two operators and currencies, every fiftieth a test player, every eighth without an entry, registered over the ten days. */
const scene = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { id: one } = yield* addOperator("past-one")
  const { id: other } = yield* addOperator("past-other")
  const base = 1_000_000
  yield* sql`INSERT INTO players (id, operator_id, username, email, first_name, last_name, birth_date, country, currency, is_test,
      created_at, updated_at)
    SELECT ${base} + i, CASE WHEN i % 3 = 0 THEN ${other} ELSE ${one} END, 'f' || i, 'f' || i || '@mail.example', 'A', 'B', DATE '1990-01-01',
      'MT', CASE WHEN i % 4 = 0 THEN 'USD' ELSE 'EUR' END, i % 50 = 0, at, at
    FROM generate_series(1, ${players}::int) i, LATERAL (SELECT ${new Date(
    first
  )}::timestamptz + i % 10 * interval '1 day' AS at) t`
  // of some players the last entries of both wallets are before most of the midnights
  yield* sql`INSERT INTO ledger_entries (player_id, seq, id, operator_id, wallet, type, amount, balance_after, created_at)
    SELECT player_id, seq, player_id * 100 + seq, operator_id, wallet, 'casino_win', amount,
      sum(amount) OVER (PARTITION BY player_id, wallet ORDER BY seq), created_at
    FROM (
      SELECT p.id AS player_id, n AS seq, p.operator_id, CASE WHEN (p.id + n) % 5 = 0 THEN 'bonus' ELSE 'real' END AS wallet,
        CASE WHEN n % 4 = 3 AND (p.id + n) % 5 <> 0 THEN -(p.id % 60) ELSE p.id % 97 + n END AS amount,
        p.created_at + CASE p.id % 3 WHEN 0 THEN n * interval '12 hours' WHEN 1 THEN n * interval '24 hours' - interval '1 millisecond'
          ELSE n * interval '7 minutes' END AS created_at
      FROM players p CROSS JOIN LATERAL generate_series(1, (p.id % 8)::int) n WHERE p.id > ${base}
    ) entries`
  yield* sql`INSERT INTO accounts (player_id, operator_id, entry_seq, real_balance, bonus_balance, real_updated_at, bonus_updated_at)
    SELECT p.id, p.operator_id, coalesce(max(e.seq), 0), coalesce(sum(e.amount) FILTER (WHERE e.wallet = 'real'), 0),
      coalesce(sum(e.amount) FILTER (WHERE e.wallet = 'bonus'), 0),
      coalesce(max(e.created_at) FILTER (WHERE e.wallet = 'real'), p.created_at),
      coalesce(max(e.created_at) FILTER (WHERE e.wallet = 'bonus'), p.created_at)
    FROM players p LEFT JOIN ledger_entries e ON e.player_id = p.id WHERE p.id > ${base} GROUP BY p.id`
  return { one, other }
})

const live = layerTestService().pipe(Layer.provideMerge(Layer.effectDiscard(TestClock.setTime(first + 30 * dayMs))))

layer(live)("player funds at a past midnight", (it) => {
  it.effect("12.1: are the sums of the ledger up to that midnight, by operator, currency and wallet", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { fundsAt } = yield* KeyFigures
      const { one, other } = yield* scene
      for (
        const [day, scope] of [["2026-11-01", null], ["2026-11-02", null], ["2026-11-05", [one]], ["2026-11-09", [
          one,
          other
        ]], ["2026-11-30", null]] as const
      ) {
        const summed = yield* sql<
          typeof Funds.Type
        >`SELECT operator_id, currency, wallet, sum(amount)::float8 AS amount,
            count(*) FILTER (WHERE amount <> 0)::float8 AS players
          FROM (
            SELECT p.id, p.operator_id, p.currency, w.wallet, coalesce(sum(e.amount), 0) AS amount
            FROM players p CROSS JOIN (VALUES ('real'), ('bonus')) w (wallet)
              LEFT JOIN ledger_entries e ON e.player_id = p.id AND e.wallet = w.wallet AND e.created_at < ${day}::text::timestamptz
            WHERE NOT p.is_test AND p.created_at < ${day}::text::timestamptz
              AND p.operator_id = ANY(string_to_array(${(scope ?? [one, other]).join(",")}, ',')::bigint[])
            GROUP BY 1, 2, 3, 4
          ) held GROUP BY 1, 2, 3 ORDER BY 1, 2, 3 DESC`
        const at = `${day}T00:00:00.000Z`
        assert.deepStrictEqual(yield* fundsAt(scope, day), summed.map((row) => ({ ...row, at })), day)
      }
    }))

  it.effect("12.1: are refused for a midnight so recent that a running commit may still be dated before it", () =>
    Effect.gen(function*() {
      const { fundsAt } = yield* KeyFigures
      const today = new Date(first + 30 * dayMs).toISOString().slice(0, 10)
      const refused = yield* Effect.flip(fundsAt([], today))
      assert.deepStrictEqual([refused.code, Object.keys(refused.details)], ["VALIDATION_FAILED", ["at"]])
      yield* TestClock.adjust("61 seconds")
      assert.deepStrictEqual(yield* fundsAt([-1], today), [])
    }))
})

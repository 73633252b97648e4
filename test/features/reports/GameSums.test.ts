import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { dayMs } from "../../../src/features/reports/Days.ts"
import { GameSums } from "../../../src/features/reports/GameSums.ts"
import { addSlice } from "../../../src/features/reports/internal/GameQuery.ts"
import { utcDay } from "../../../src/platform/Time.ts"
import { makeByIndex } from "../../../src/store/ByIndex.ts"
import { TestDatabase } from "../../kit/TestDatabase.ts"

// Goal: sums by game stay bounded, and lose nothing by it. Method: more games than a report has rows and sums older than are kept, by statement;
// the plan of PostgreSQL. That they are the ledger's is proved beside the report (Reports.test.ts).

const games = 1200

const scene = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO operators (id, slug, name, currency, created_at, updated_at) VALUES (1, 'one', 'One', 'EUR', now(), now())`
  yield* sql`INSERT INTO providers (id, slug, name, key, secret_sealed, created_at, updated_at)
    VALUES (1, 'acme', 'Acme', 'pv', '\\x00', now(), now())`
  yield* sql`INSERT INTO games (id, provider_id, external_id, name, type, category, created_at, updated_at)
    SELECT n, 1, 'g' || n, 'Game ' || n, 'rng', 'slots', now(), now() FROM generate_series(1, ${games}::int) n`
})

/** Sums of `count` games on a day: of game n stakes of n, a win of 1, a round. */
const played = (day: string, count: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`INSERT INTO game_sums
        SELECT 1, ${day}::text::date, 1, n, false, 'EUR', '', 2, 1, n, 0, 1, 0, 0, 0 FROM generate_series(1, ${count}::int) n`
  )

layer(
  GameSums.layer.pipe(
    Layer.provide(TestDatabase.layerService),
    Layer.provideMerge(Layer.effectDiscard(scene)),
    Layer.provideMerge(TestDatabase.layer)
  ),
  { excludeTestServices: true }
)("sums per game", (it) => {
  it.effect("have a row for each of the thousand games with the highest stakes, and one for all others", () =>
    Effect.gen(function*() {
      const { report } = yield* GameSums
      const day = utcDay(yield* Clock.currentTimeMillis)
      yield* played(day, games)
      const { asOf, rows } = yield* report(1, { from: day, to: day, includeTestPlayers: false })
      assert.isNull(asOf)
      assert.strictEqual(rows.length, 1001)
      assert.deepInclude(rows[0], {
        key: String(games),
        name: `Game ${games}`,
        provider: "Acme",
        bets: games,
        rounds: 1
      })
      assert.deepInclude(rows.at(-1), { key: "others", name: "Other games", provider: null, wins: 200, rounds: 200 })
      assert.strictEqual(rows.reduce((sum, { bets }) => sum + bets, 0), games * (games + 1) / 2)
    }))

  it.effect("are kept for 400 days", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { addUp } = yield* GameSums
      const now = yield* Clock.currentTimeMillis
      const daysAgo = (days: number) => utcDay(now - days * dayMs)
      yield* Effect.forEach([399, 402, 500], (days) => played(daysAgo(days), 1))
      yield* sql`INSERT INTO game_sums_walk VALUES ('game_sums', ${daysAgo(600)}::text::date, now())`
      assert.deepStrictEqual(yield* addUp, { done: 0, hasMore: false })
      const kept = yield* sql`SELECT day::text AS day FROM game_sums WHERE day < ${daysAgo(1)}::text::date`
      assert.deepStrictEqual(kept, [{ day: daysAgo(399) }])
      assert.deepStrictEqual(yield* sql`SELECT since::text AS since FROM game_sums_walk`, [{ since: daysAgo(400) }])
    }))

  it.effect("are computed through the time indexes", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const byIndex = yield* makeByIndex
      // an empty table is read by whatever index it has
      yield* sql`INSERT INTO provider_transactions (provider_id, transaction_id, player_id, kind, status, amount, game_id, round_id, real_amount,
          bonus_amount, entry_ids, created_at, operator_id)
        SELECT 1, 't-' || n, n, 'bet', 'processed', 10, 1, 'r-' || n, -10, 0, ARRAY[n], TIMESTAMPTZ '2026-11-20' + n * INTERVAL '10 seconds', 1
        FROM generate_series(1, 30000) n`
      yield* sql`INSERT INTO rounds (player_id, game_id, round_id, real_stake, bonus_stake, paid_wins, closed, opened_at, operator_id)
        SELECT n, 1, 'r-' || n, 10, 0, 0, true, TIMESTAMPTZ '2026-11-20' + n * INTERVAL '10 seconds', 1 FROM generate_series(1, 30000) n`
      yield* sql`SELECT brin_summarize_new_values('provider_transactions_created_at'), brin_summarize_new_values('rounds_opened_at')`
      yield* sql`ANALYZE provider_transactions, rounds`
      const moment = (text: string) => `TIMESTAMPTZ '2026-11-20 ${text}'`
      const statement = addSlice.replaceAll("$1", moment("12:00")).replaceAll("$2", moment("12:05"))
        .replaceAll("$3", "'2026-11-20'")
      const rows = yield* byIndex(sql.unsafe<object>(`EXPLAIN ${statement}`))
      const plan = rows.flatMap((row) => Object.values(row)).join("\n")
      for (
        const index of [
          "ledger_entries_blocks",
          "provider_transactions_created_at",
          "rounds_opened_at",
          "original_rounds_created_at"
        ]
      ) {
        assert.include(plan, index)
      }
      assert.notMatch(plan, /Seq Scan on (ledger_entries|provider_transactions|rounds|original_rounds|players)/)
    }))
})

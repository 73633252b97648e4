import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { reportText } from "../../../src/features/reports/internal/ReportQuery.ts"
import { TestDatabase } from "../../kit/TestDatabase.ts"

// Goal: a report reads only its operator's days, however many others have. Method: many rows of several operators, and
// PostgreSQL's plan.

layer(TestDatabase.layer)("the GGR report query", (it) => {
  it.effect("uses indexes and no sequential scan", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO operators (id, slug, name, currency, created_at, updated_at)
        SELECT n, 'o' || n, 'o', 'EUR', now(), now() FROM generate_series(1, 30) n`
      yield* sql`INSERT INTO daily_sums SELECT n, date '2026-01-01' + d, false, 'EUR', 0, p, false, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0
        FROM generate_series(1, 30) n, generate_series(0, 364) d, generate_series(0, 4) p`
      yield* sql`INSERT INTO daily_players SELECT n, date '2026-01-01' + d, date '2026-01-01' + d - b, 'casino', false, 0, 1
        FROM generate_series(1, 30) n, generate_series(0, 364) d, generate_series(1, 5) b`
      yield* sql`INSERT INTO players (id, operator_id, username, email, first_name, last_name, birth_date, country, currency,
          created_at, updated_at)
        SELECT 100 + n, n % 30 + 1, 'u' || n, n || '@example.com', 'Ada', 'Player', '1990-01-01', 'MT', 'EUR',
          timestamptz '2026-01-01 00:00Z' + n * interval '1 hour', now() FROM generate_series(1, 8000) n`
      yield* sql`ANALYZE daily_sums, daily_players, players`
      const plan = yield* sql.unsafe<{ readonly "QUERY PLAN": string }>(
        `EXPLAIN ${reportText}`,
        ["7", "2026-03-01", "2026-03-07", false]
      )
      const text = plan.map((row) => row["QUERY PLAN"]).join("\n")
      for (const table of ["daily_sums", "daily_players", "players"]) {
        assert.notInclude(text, `Seq Scan on ${table}`, text)
      }
      for (const index of ["daily_sums_pkey", "daily_players_pkey", "players_registered"]) assert.include(text, index)
    }))
})

import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { OperatorsOfRows } from "../../../src/features/operators/OperatorsOfRows.ts"
import { TestDatabase } from "../../kit/TestDatabase.ts"
import { adminQuery, asService } from "../../kit/TestServer.ts"
import { addOperator, addPlayer, layerTestService } from "../../kit/TestService.ts"

// Goal: every row of play gets its operator, whichever version wrote it. Method: rows without an operator, as the previous version
// wrote them, before and after the migration; the job over them.

const tables = ["game_sessions", "provider_transactions", "rounds"] as const

/** Rows of two players of two operators as the previous version writes them. */
const addRows = Effect.fnUntraced(function*(players: ReadonlyArray<number>, from: number, to: number) {
  const sql = yield* SqlClient.SqlClient
  const list = `{${players.join(",")}}`
  yield* sql`INSERT INTO provider_transactions (provider_id, transaction_id, player_id, kind, status, amount, real_amount,
      bonus_amount, entry_ids, created_at)
    SELECT 1, 't' || n, (${list}::text::bigint[])[1 + n % 2], 'bet', 'processed', 1, -1, 0, '{}', now()
    FROM generate_series(${from}::int, ${to}::int) n`
  yield* sql`INSERT INTO rounds (player_id, game_id, round_id, real_stake, bonus_stake, paid_wins, closed, opened_at)
    SELECT (${list}::text::bigint[])[1 + n % 2], 1, n::text, 1, 0, 0, false, now() FROM generate_series(${from}::int, ${to}::int) n`
  yield* sql`INSERT INTO game_sessions (id, player_id, game_id, mode, opened_at, expires_at)
    SELECT n, (${list}::text::bigint[])[1 + n % 2], 1, 'real', now(), now() FROM generate_series(${from}::int, ${to}::int) n`
})

const all = (without: number) => tables.map((table) => `${table}: ${without} without, 0 with another one`)

/** Number of rows of each table without an operator, and with another one than their player's. */
const wrong = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  return yield* Effect.forEach(tables, (table) =>
    Effect.map(
      sql<
        { readonly missing: number; readonly others: number }
      >`SELECT (count(*) FILTER (WHERE t.operator_id IS NULL))::int AS missing,
          (count(*) FILTER (WHERE t.operator_id <> a.operator_id))::int AS others
        FROM ${sql(table)} t JOIN accounts a ON a.player_id = t.player_id`,
      ([row]) => `${table}: ${row?.missing} without, ${row?.others} with another one`
    ))
})

layer(layerTestService())("the operator of rows", (it) => {
  it.effect("is filled in for what was there before, and passes over what is being written", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const job = yield* OperatorsOfRows
      const players = [
        yield* addPlayer(yield* addOperator("one"), "ada"),
        yield* addPlayer(yield* addOperator("two"), "ben")
      ]
      yield* sql`INSERT INTO providers (id, slug, name, key, secret_sealed, created_at, updated_at)
        VALUES (1, 'p', 'P', 'p', '', now(), now())`
      yield* sql`INSERT INTO games (id, provider_id, external_id, name, type, category, created_at, updated_at)
        VALUES (1, 1, 'g', 'G', 'rng', 'slots', now(), now())`
      for (const table of tables) yield* sql`ALTER TABLE ${sql(table)} DISABLE TRIGGER fill_operator`
      yield* addRows(players, 1, 9000)
      for (const table of tables) yield* sql`ALTER TABLE ${sql(table)} ENABLE TRIGGER fill_operator`
      assert.deepStrictEqual(yield* wrong, all(9000))
      yield* sql`UPDATE operator_walk SET pages = pg_relation_size(name::regclass) / 8192`

      // a round that a bet changes concurrently, as the previous version does
      const { done } = yield* sql.withTransaction(Effect.gen(function*() {
        yield* sql`UPDATE rounds SET paid_wins = 1 WHERE round_id = '7'`
        return yield* job.run
      }))
      assert.strictEqual(done, 26_999)
      assert.deepStrictEqual(yield* wrong, all(0))
      assert.deepStrictEqual(yield* job.run, { done: 0, hasMore: false })

      // rows that the previous version writes from now on
      yield* addRows(players, 9001, 9010)
      assert.deepStrictEqual(yield* wrong, all(0))
    }))

  it.effect("is the player's, whatever the service's connection says", () =>
    Effect.gen(function*() {
      const { url } = yield* TestDatabase
      for (const table of tables) yield* adminQuery(asService(url), `UPDATE ${table} SET operator_id = 1`)
      assert.deepStrictEqual(yield* wrong, all(0))
    }))
})

import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { LedgerEntries } from "../../../src/features/ledger/LedgerEntries.ts"
import { makePlayersByWords } from "../../../src/features/players/PlayersByWords.ts"
import { makeByIndex } from "../../../src/store/ByIndex.ts"
import { rowsRead } from "../../kit/RowsRead.ts"
import { TestDatabase } from "../../kit/TestDatabase.ts"

// Goal: staff queries across players use an index for any number of rows. Method: tens of thousands of rows by statement;
// PostgreSQL's plan names the index, and counts the rows read.

const count = 60_000

const generate = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO operators (id, slug, name, currency, created_at, updated_at)
    VALUES (1, 'one', 'One', 'EUR', now(), now()), (2, 'two', 'Two', 'EUR', now(), now())`
  yield* sql`INSERT INTO players (id, operator_id, external_id, username, email, first_name, last_name, birth_date, country, currency,
      created_at, updated_at)
    SELECT 100000 + n, 1 + n % 2, 'crm-' || n, 'u_' || md5(n::text), md5(n::text) || '@mail.example', 'A', 'B', '1990-01-01', 'MT', 'EUR',
      now(), now() FROM generate_series(0, 5000) n`
  yield* sql`INSERT INTO ledger_entries (player_id, seq, id, operator_id, wallet, type, amount, balance_after, game_round_id, created_at)
    SELECT 100000 + n % 5000, 1 + n / 5000, 1000000 + n, 1 + n % 2, 'real', CASE WHEN n = 7 THEN 'chargeback' ELSE 'casino_bet' END, -10, 0,
      'r-' || md5(n::text), TIMESTAMPTZ '2020-01-01' + n * INTERVAL '10 seconds'
    FROM generate_series(0, ${count - 1}) n ORDER BY n`
  yield* sql`INSERT INTO provider_transactions (provider_id, transaction_id, player_id, kind, status, amount, round_id, real_amount,
      bonus_amount, entry_ids, created_at, operator_id)
    SELECT 1, 't-' || n, 100000 + n % 5000, 'bet', 'processed', 10, 'r-' || md5(n::text), -10, 0, ARRAY[1000000 + n],
      TIMESTAMPTZ '2020-01-01' + n * INTERVAL '10 seconds', 1 + n % 2
    FROM generate_series(0, ${count - 1}) n ORDER BY n`
  yield* sql`INSERT INTO payment_requests (id, operator_id, player_id, type, status, amount, currency, created_at, updated_at)
    SELECT n, 1 + n % 2, 100000 + n % 5000, 'deposit', 'paid', 1 + n * 7919 % 10000, 'EUR', TIMESTAMPTZ '2020-01-01' + n * INTERVAL '1 minute',
      now() FROM generate_series(1, 20000) n`
  // of one register of an operator nothing is newer than the thousands of another
  yield* sql`INSERT INTO register_checks (id, operator_id, player_id, kind, event, verdict, asked_at, answered_at, request_id, profile,
      profile_version, ask_again)
    SELECT n, 1, 100000, CASE WHEN n < 10 THEN 'spelpaus' ELSE 'rofus' END, 'login', 'clear', at, at, n, 'none', 1, false
    FROM generate_series(1, 5000) n, LATERAL (SELECT TIMESTAMPTZ '2020-01-01' + n * INTERVAL '1 minute' AS at) t`
  yield* sql`SELECT brin_summarize_new_values('ledger_entries_blocks'), brin_summarize_new_values('provider_transactions_of_round')`
  yield* sql`ANALYZE players, ledger_entries, provider_transactions, payment_requests, register_checks`
})

const live = LedgerEntries.layer.pipe(
  Layer.provideMerge(Layer.effectDiscard(generate)),
  Layer.provideMerge(TestDatabase.layer)
)

/** PostgreSQL's plan of a statement, as text. */
const planOf = (statement: Effect.Effect<ReadonlyArray<object>, unknown>) =>
  Effect.map(statement, (rows) => rows.flatMap((row) => Object.values(row)).join("\n"))

layer(live, { timeout: 120_000, excludeTestServices: true })("queries across players", (it) => {
  it.effect("use an index for every kind of search", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const indexed = yield* makeByIndex
      const plans = {
        ledger_entries_blocks: sql`EXPLAIN SELECT player_id FROM ledger_entries WHERE id = 1030000`,
        provider_transactions_of_round: sql`EXPLAIN SELECT player_id FROM provider_transactions WHERE round_id = 'r-x'`,
        payment_requests_newest:
          sql`EXPLAIN SELECT id FROM payment_requests ORDER BY created_at DESC, id DESC LIMIT 26`,
        payment_requests_currency_amount: sql`EXPLAIN SELECT id FROM payment_requests WHERE currency = 'EUR'
          ORDER BY amount DESC, id DESC LIMIT 26`,
        register_checks_kind_time:
          sql`EXPLAIN SELECT verdict FROM register_checks WHERE operator_id = 1 AND kind = 'spelpaus'
          ORDER BY asked_at DESC, id DESC LIMIT 1`,
        players_username: sql`EXPLAIN SELECT id FROM players WHERE operator_id = 1 AND lower(username) LIKE 'u\\_ab%'
          ORDER BY lower(username) USING ~<~ LIMIT 5`,
        players_email:
          sql`EXPLAIN SELECT id FROM players WHERE operator_id = 1 AND email LIKE 'ab%' ORDER BY email USING ~<~ LIMIT 5`,
        players_external_id: sql`EXPLAIN SELECT id FROM players WHERE operator_id = 1 AND external_id LIKE 'crm-12%'
          ORDER BY external_id USING ~<~ LIMIT 5`
      }
      for (const [index, statement] of Object.entries(plans)) {
        const plan = yield* indexed(planOf(statement))
        assert.include(plan, index)
        assert.notInclude(plan, "Seq Scan", plan)
      }
    }))

  it.effect("read a bounded number of entries for a page", () =>
    Effect.gen(function*() {
      const entries = yield* LedgerEntries
      const list = (query: object, limit = 25) => entries.list({ scope: null, limit, ...query })
      const first = yield* list({})
      assert.strictEqual(first.items[0]?.id, 1_000_000 + count - 1)
      assert.isBelow(yield* rowsRead("ledger_entries", list({ transaction: "1030000" })), 10_000)
      assert.isBelow(yield* rowsRead("ledger_entries", list({ playerId: 100_077, minAmount: 1 })), 100)
      /** Follows the cursors to the end. */
      const walk = Effect.fnUntraced(function*(query: object) {
        let cursor: string | undefined
        const found: Array<number> = []
        let pages = 0
        do {
          const part = yield* list({ ...query, cursor })
          found.push(...part.items.map(({ id }) => id))
          cursor = part.next ?? undefined
          pages++
        } while (cursor !== undefined)
        return { found, pages }
      })
      // one entry among very many is found by following cursors, and no page reads all of them
      const rare = yield* walk({ type: "chargeback", scope: [2] })
      assert.deepStrictEqual(rare.found, [1_000_007])
      assert.isAbove(rare.pages, 1)
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO ledger_entries (player_id, seq, id, operator_id, wallet, type, amount, balance_after, created_at)
        SELECT 105000, n, 5000000 + n, 1, 'real', 'casino_bet', CASE WHEN n = 7 THEN -70 ELSE -10 END, 0,
          TIMESTAMPTZ '2019-01-01' + n * INTERVAL '1 minute' FROM generate_series(1, 12000) n`
      assert.isBelow(yield* rowsRead("ledger_entries", list({ playerId: 105_000, minAmount: 70 })), 6000)
      assert.deepStrictEqual(yield* walk({ playerId: 105_000, minAmount: 70 }), { found: [5_000_007], pages: 3 })
      // more entries in one millisecond than a page reads: the cursor continues behind it
      yield* sql`INSERT INTO ledger_entries (player_id, seq, id, operator_id, wallet, type, amount, balance_after, created_at)
        SELECT 105000, 20000 + n, 6000000 + n, 1, 'real', 'correction_up', 1, 0, TIMESTAMPTZ '2018-01-01'
        FROM generate_series(1, 25000) n`
      const { found } = yield* walk({ type: "tournament_prize", to: Date.UTC(2018, 5, 1) })
      assert.deepStrictEqual(found, [])
    }))

  it.effect("find players by the beginning of a name, with exact matches first", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const byWords = yield* makePlayersByWords
      const [one] = yield* sql<{ readonly username: string }>`SELECT username FROM players WHERE id = 100042`
      assert.deepStrictEqual(yield* byWords(null, one?.username.toUpperCase() ?? "", 5), [100_042])
      assert.deepStrictEqual((yield* byWords(null, "crm-42", 5))[0], 100_042)
      assert.isTrue((yield* byWords([2], "crm-42", 5)).every((id) => id % 2 === 1))
    }))
})

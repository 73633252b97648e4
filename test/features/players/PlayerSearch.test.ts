import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as fc from "fast-check"
import { layerPersonal } from "../../kit/Personal.ts"
import { holdsByIndex, isRare, SearchBounds } from "../../../src/features/players/internal/PlayerSearch.ts"
import { numberCursors } from "../../../src/store/Cursors.ts"
import { Outbox } from "../../../src/store/Outbox.ts"
import { layerNoRegisters } from "../../kit/NoRegisters.ts"
import { ProfileBook } from "../../../src/store/ProfileBook.ts"
import { Players } from "../../../src/features/players/Players.ts"
import { Ids } from "../../../src/platform/Ids.ts"
import { runs } from "../../kit/Runs.ts"
import { rowsRead } from "../../kit/RowsRead.ts"
import { TestDatabase } from "../../kit/TestDatabase.ts"

// Goal: a search finds exactly the players with the text in their username, e-mail or last name, and by an index, so that
// it still answers with a million of them. Method: tens of thousands of generated players; results are compared with a
// filter over all of them, and PostgreSQL's plan shows the access path.

const playersCount = 10_000

const generate = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO operators (id, slug, name, currency, created_at, updated_at)
    SELECT id, 'operator-' || id, 'Operator', 'EUR', now(), now() FROM generate_series(1, 2) AS id`
  yield* sql`
    INSERT INTO players (id, operator_id, username, email, first_name, last_name, birth_date, country, currency,
      created_at, updated_at, personal_id_digest, document_number_digest, exclusion_type, exclusion_since)
    SELECT id, 1 + id % 2, 'u_' || substr(hash, 1, 8) || id, substr(hash, 9, 9) || '.' || id || '@mail' || id % 7 || '.example',
      'First', (ARRAY['Müller', 'O''Neill', 'Šimůnek', 'Ο Νίκος', '山田', 'de la Cruz', 'İnce', 'X Æ'])[1 + id % 8] || substr(hash, 20, 4),
      DATE '1950-01-01' + (id * 7 % 18000)::int, 'MT', 'EUR', now(), now(),
      sha256(convert_to('P' || id, 'UTF8')), sha256(convert_to('D' || id, 'UTF8')),
      CASE WHEN id % 10 = 0 THEN 'self_exclusion' END, CASE WHEN id % 10 = 0 THEN now() END
    FROM (SELECT id, md5(id::text) AS hash FROM generate_series(100000, ${99_999 + playersCount}) AS id) AS generated`
  yield* sql`ANALYZE players`
})

const live = Players.layer.pipe(
  Layer.provide(layerPersonal),
  Layer.provide(ProfileBook.layerBuiltIn),
  Layer.provide(layerNoRegisters),
  Layer.provideMerge(Outbox.layer),
  Layer.provideMerge(Ids.layer),
  Layer.provideMerge(Layer.effectDiscard(generate)),
  Layer.provideMerge(TestDatabase.layer)
)

/** PostgreSQL's plan of a statement, as text. */
const planOf = (statement: Effect.Effect<ReadonlyArray<object>, unknown>) =>
  Effect.map(statement, (rows) => rows.flatMap((row) => Object.values(row)).join("\n"))

layer(live, { timeout: 60_000, excludeTestServices: true })("searching players", (it) => {
  it.effect("finds and counts a rare text through the search index", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      for (const text of ["c81e72", "ller4f", "山田a1", "o'neill0", "x1y2", "nobody"]) {
        assert.isTrue(yield* isRare(sql, [1], text, 1_000_000, 500), text)
        const plan = yield* planOf(
          sql`EXPLAIN SELECT count(*), (array_agg(id::float8 ORDER BY id DESC))[1:25] FROM players
            WHERE ${sql.and([sql`operator_id = ${1}`, holdsByIndex(sql, text)])}`
        )
        assert.include(plan, "Bitmap Index Scan on players_search", text)
        assert.notInclude(plan, "Seq Scan", text)
      }
      // a common text is found by a backward scan from the newest, which needs only the order of the index
      for (const text of ["a", ".example", "mail3", "u_"]) {
        assert.isFalse(yield* isRare(sql, [1], text, 1_000_000, 500), text)
      }
      // a small number of players is filtered one by one, whatever the text
      assert.isFalse(yield* isRare(sql, [1], "nobody", 10_000, 500))
    }))

  it.effect("returns the same results and totals as a scan of all players", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const players = yield* Players
      const bounds = { countAllUpTo: 0, maxCounted: 7, maxScanned: 2500 }
      const all = yield* sql<{ readonly id: number; readonly fields: ReadonlyArray<string> }>`
        SELECT id::float8 AS id, ARRAY[lower(username), lower(email), lower(last_name)] AS fields
        FROM players WHERE operator_id = 1 ORDER BY id DESC`
      const piece = fc.tuple(fc.nat(all.length - 1), fc.nat(2), fc.nat(20), fc.integer({ min: 1, max: 9 })).map(
        ([player, field, from, length]) =>
          Array.from(all[player]?.fields[field] ?? "").slice(from, from + length).join("")
      ).filter((text) => text !== "")
      // texts that many players have, then any
      const common = ["u_", ".example", "mail3", "ller", "Šim", "山田", "@", "."]
      const texts = common.concat(fc.sample(
        fc.oneof(piece, fc.constantFrom("%", "_", "\\", "x_", "a%b", "zzzz", "e.", "''", "\n", "1@", "Ü")),
        { numRuns: runs(12, 52) }
      ))
      let found = 0
      let bounded = 0
      for (const search of texts) {
        // PostgreSQL lowers the text, so that case folding is defined once
        const [lowered] = yield* sql<{ readonly text: string }>`SELECT lower(${search}) AS text`
        const expected = all.filter(({ fields }) => fields.some((field) => field.includes(lowered?.text ?? "")))
        const { items, total } = yield* players.list(1, { page: 1, perPage: 100, search })
        assert.strictEqual(total, expected.length, JSON.stringify(search))
        assert.deepStrictEqual(
          items.map(({ id }) => id),
          expected.slice(0, 100).map(({ id }) => id),
          JSON.stringify(search)
        )
        const walked = yield* players.walk(1, { limit: 2, search })
        const rest = walked.next === null
          ? { items: [], next: null }
          : yield* players.walk(1, { cursor: walked.next, limit: 98, search })
        assert.deepStrictEqual([...walked.items, ...rest.items], items)
        assert.strictEqual(rest.next !== null, total > 100)
        if (total > 0) found++

        // among many players a search returns the same and counts no further than needed
        const far = yield* Effect.provideService(
          Effect.all([
            players.list(1, { page: 1, perPage: 100, search }),
            players.list(1, { page: 2, perPage: 3, search }),
            players.walk(1, { limit: 100, search })
          ]),
          SearchBounds,
          bounds
        )
        assert.deepStrictEqual(far[0].items, items)
        assert.deepStrictEqual(far[1].items, items.slice(3, 6))
        assert.deepStrictEqual(far[2].items, items)
        for (const [index, most] of [[0, 100], [1, 7]] as const) {
          const { more, total: told } = far[index]
          if (more === true) bounded++
          assert.strictEqual(told, more === true ? most : expected.length)
          assert.isTrue(more !== true || expected.length > most)
        }
      }
      assert.isAtLeast(found, common.length)
      assert.isAtLeast(bounded, common.length)
    }), 60_000)

  // Goal: the cost of a page is independent of the number of players. Method: PostgreSQL counts the rows read for one.
  it.effect("reads fewer than 100 rows for a page of 25", () =>
    Effect.gen(function*() {
      const players = yield* Players
      const lists = [
        players.list(1, { page: 1, perPage: 25 }),
        players.list(1, { page: 2, perPage: 25, status: "active" }),
        players.list(1, { page: 1, perPage: 25, kycStatus: "verified" }),
        players.list(1, { page: 1, perPage: 25, email: "nobody@nowhere.example" }),
        players.walk(1, { limit: 25 }),
        players.walk(1, { cursor: numberCursors.write(105_000), limit: 25 }),
        players.walk(1, { cursor: numberCursors.write(105_000), limit: 25, search: ".example" })
      ]
      for (const [index, list] of lists.entries()) {
        assert.isBelow(yield* rowsRead("players", list), 100, `list ${index}`)
      }
    }))

  it.effect("compares an identity with excluded players through indexes", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = new Date(yield* Clock.currentTimeMillis)
      const plan = yield* planOf(sql`EXPLAIN SELECT id FROM players
        WHERE operator_id = 1 AND exclusion_type IS NOT NULL AND (exclusion_until IS NULL OR exclusion_until > ${now})
          AND (birth_date = '1980-01-01' OR personal_id_digest = '\\x07' OR document_number_digest = '\\x07')`)
      for (const index of ["birth_date", "personal_id_digest", "document_digest"]) {
        assert.include(plan, `Bitmap Index Scan on players_excluded_${index}`)
      }
    }))
})

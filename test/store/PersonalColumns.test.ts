import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { otherColumns, personalColumns } from "../../src/domain/privacy/PersonalColumns.ts"
import { rowsOf } from "../../src/store/Rows.ts"
import { TestDatabase } from "../kit/TestDatabase.ts"

const rows = rowsOf(Schema.Struct({ name: Schema.String }))

const namesOf = (tables: { readonly [table: string]: { readonly [group: string]: string } }) =>
  Object.entries(tables).flatMap(([table, groups]) =>
    Object.values(groups).flatMap((names) => names.split(" ").map((name) => `${table}.${name}`))
  )

// Goal: nobody adds a column that may tell of a person without saying how long it is kept. Method: the migrated tables against the one file that says it.
layer(TestDatabase.layer)("personal columns", (it) => {
  it.effect("11.2: every column of text, bytes, JSON and dates has one data class, or a reason why it is not personal", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const found = yield* rows(sql`SELECT t.relname || '.' || a.attname AS name
        FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
        JOIN pg_type y ON y.oid = a.atttypid LEFT JOIN pg_type e ON e.oid = y.typelem AND y.typlen = -1 AND y.typelem <> 0
        WHERE t.relnamespace = current_schema::regnamespace AND t.relkind IN ('r', 'p') AND NOT t.relispartition
          AND coalesce(e.typname, y.typname) NOT IN ('int2', 'int4', 'int8', 'float8', 'numeric', 'bool', 'timestamptz', 'timestamp')
        ORDER BY 1`)
      const said = [...namesOf(personalColumns), ...namesOf(otherColumns)].sort()
      assert.deepStrictEqual(said, found.map(({ name }) => name).sort())
      assert.strictEqual(new Set(said).size, said.length)
    }))
})

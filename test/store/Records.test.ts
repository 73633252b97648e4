import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { equalTo, recordsOf } from "../../src/store/Records.ts"
import { TestDatabase } from "../kit/TestDatabase.ts"

const Note = Schema.Struct({
  id: Schema.Number,
  title: Schema.String,
  is_open: Schema.Boolean,
  tags: Schema.Array(Schema.String),
  terms: Schema.Record(Schema.String, Schema.Number),
  rate: Schema.Number,
  closed_at: Schema.NullOr(Schema.String),
  title_length: Schema.Number
})

const note = (id: number, title: string): typeof Note.Type => ({
  id,
  title,
  is_open: true,
  tags: [],
  terms: { "7": 50 },
  rate: 1.25,
  closed_at: null,
  title_length: title.length
})

// Goal: a stored record is returned in the form of the wire, and an update writes changed fields only. Method: a table with a renamed
// column, a list, JSON, a numeric, an instant and a computed field; a trigger counts the updates.
layer(TestDatabase.layer, { excludeTestServices: true })("recordsOf", (it) => {
  it.effect("writes and reads records, and updates only fields that differ", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE notes (id bigint PRIMARY KEY, title text, open boolean, tags text[], terms jsonb, rate numeric,
        closed_at timestamptz, secret bytea, writes integer NOT NULL DEFAULT 0)`
      yield* sql`CREATE FUNCTION count_write() RETURNS trigger LANGUAGE plpgsql AS
        ${sql.literal("'BEGIN NEW.writes := OLD.writes + 1; RETURN NEW; END'")}`
      yield* sql`CREATE TRIGGER count_write BEFORE UPDATE ON notes FOR EACH ROW EXECUTE FUNCTION count_write()`
      const notes = yield* recordsOf("notes", Note, {
        columns: { is_open: "open" },
        reads: { rate: "rate::float8" },
        computed: { title_length: "length(title)" }
      })
      const writes = Effect.map(sql`SELECT writes, secret FROM notes WHERE id = 1`, ([row]) => row)
      const first = note(1, "one")
      yield* notes.insert(first, { secret: new Uint8Array([1, 2]) })
      yield* notes.insert({ ...note(2, "three"), tags: ["a", "b"], is_open: false })
      assert.deepStrictEqual(yield* notes.find(sql`id = 1`), first)
      assert.isUndefined(yield* notes.find(sql`id = 3`))

      yield* notes.update(first, first)
      assert.deepInclude(yield* writes, { writes: 0 })
      const after = { ...first, closed_at: "2026-11-22T12:00:00.000Z", tags: ["x"] }
      yield* notes.update(first, after)
      assert.deepStrictEqual(yield* notes.find(sql`id = 1`), after)
      assert.deepStrictEqual(yield* writes, { writes: 1, secret: new Uint8Array([1, 2]) })

      assert.strictEqual(yield* notes.count(sql`true`), 2)
      assert.strictEqual(yield* notes.count(sql.and(equalTo(sql, { open: true, title: undefined }))), 1)
    }))
})

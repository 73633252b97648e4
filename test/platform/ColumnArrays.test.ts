import { assert, layer } from "@effect/vitest"
import { PgTypes } from "@effect/sql-pg"
import { Effect, Exit, Result } from "effect"
import { columnArray, type WireType, type WireValue } from "../../src/platform/ColumnArrays.ts"
import { JournalClient } from "../../src/platform/Database.ts"
import { TestDatabase } from "../kit/TestDatabase.ts"

const oids: { readonly [type in WireType]: number } = {
  float8: PgTypes.OID.float8,
  text: PgTypes.OID.text,
  timestamptz: PgTypes.OID.timestamptz,
  boolean: PgTypes.OID.bool,
  bytea: PgTypes.OID.bytea
}

const columns: ReadonlyArray<readonly [WireType, ReadonlyArray<WireValue>]> = [
  ["float8", [0, -1, 1.5, Number.MAX_SAFE_INTEGER, null, -Number.MAX_SAFE_INTEGER]],
  ["text", [
    "",
    "plain",
    null,
    "Zoë 🎰",
    "a text of more than sixty-four bytes, which is written in another way than short ones"
  ]],
  ["text", ["x".repeat(100_000), "é".repeat(50)]],
  ["timestamptz", [0, 946_684_800_000, 946_684_799_999, -1, 1_795_000_000_123, null, 9_000_000_000_000]],
  ["boolean", [true, false, null]],
  ["bytea", [new Uint8Array(), new Uint8Array([0, 255, 7]), null]],
  ["float8", [null, null]],
  ["text", []]
]

layer(TestDatabase.layer)("columnArray", (it) => {
  // Goal: the database reads the same array as from the driver's own codec. Method: it compares the two, element by element.
  it.effect("equals the array that the driver's own codec writes", () =>
    Effect.gen(function*() {
      const sql = yield* JournalClient
      for (const [type, values] of columns) {
        const rows = values.map((value) => ({ value }))
        const own = Result.getOrThrow(PgTypes.array(values, oids[type]))
        const [row] = yield* sql.unsafe(
          `SELECT $1::${type}[] IS NOT DISTINCT FROM $2::${type}[] AS "isSame", cardinality($1::${type}[]) AS length`,
          [columnArray(type, rows, ({ value }) => value), own]
        )
        assert.deepStrictEqual(row, { isSame: true, length: values.length }, type)
      }
    }))

  it.effect("represents instants exactly even if their microseconds exceed a safe integer", () =>
    Effect.gen(function*() {
      const sql = yield* JournalClient
      const last = Date.parse("9999-12-31T23:59:59.999Z")
      const [row] = yield* sql.unsafe(
        `SELECT ($1::timestamptz[])[1] = '9999-12-31 23:59:59.999+00' AS "isExact"`,
        [columnArray("timestamptz", [last], (value) => value)]
      )
      assert.deepStrictEqual(row, { isExact: true })
    }))

  it.effect("fails its statement when a value has the wrong type for its column, and leaves the connection usable", () =>
    Effect.gen(function*() {
      const sql = yield* JournalClient
      const wrong: ReadonlyArray<readonly [WireType, WireValue]> = [
        ["float8", "1"],
        ["text", 1],
        ["timestamptz", Number.NaN],
        ["boolean", 1],
        ["bytea", "x"]
      ]
      for (const [type, value] of wrong) {
        const failed = yield* Effect.exit(
          sql.unsafe(`SELECT $1::${type}[]`, [columnArray(type, [value], (row) => row)])
        )
        assert.isTrue(Exit.isFailure(failed), type)
      }
      assert.deepStrictEqual(yield* sql`SELECT 1 AS one`, [{ one: 1 }])
    }))
})

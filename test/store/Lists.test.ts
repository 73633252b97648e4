import { assert, it, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { listOf, newestFirst, type unscopedListOf } from "../../src/store/Lists.ts"
import { rowsOf } from "../../src/store/Rows.ts"
import { toDate } from "../../src/platform/Time.ts"
import { TestDatabase } from "../kit/TestDatabase.ts"

const Row = Schema.Struct({ id: Schema.Number, name: Schema.String, kind: Schema.String, at: Schema.Date })
type Row = typeof Row.Type

interface Filters {
  readonly kind?: string | undefined
  readonly owner?: number | null | undefined
}

const rows = rowsOf(Row)
const names = ["Zed", "alpha", "Éclair", "Beta", "beta", "Alpha"]

// Goal: a list by cursor is the list, in any order, for any scope and filter, whatever the size of its parts. Method: a table with equal times and
// equal names, walked in parts of every size and compared with the whole; pages beside it.
layer(TestDatabase.layer, { excludeTestServices: true })("listOf", (it) => {
  it.effect("returns every row of its operator scope once and in order, by cursor and by page", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE things (id bigint PRIMARY KEY, operator_id bigint NOT NULL, owner bigint,
        name text COLLATE "und-x-icu" NOT NULL, kind text NOT NULL, at timestamptz NOT NULL)`
      for (let id = 1; id <= 24; id++) {
        const [operator, owner, at] = [
          1 + id % 2,
          id % 3 === 0 ? null : 5,
          toDate(1_795_176_000_000 + Math.floor(id / 5))
        ]
        yield* sql`INSERT INTO things VALUES (${id}, ${operator}, ${owner}::int8, ${names[id % 6] ?? ""},
          ${id % 4 === 0 ? "odd" : "plain"}, ${at})`
      }
      const name = { column: "things.name", kind: "text" as const, of: (row: Row) => row.name }
      const id = { column: "things.id", kind: "integer" as const, of: (row: Row) => row.id }
      const things = listOf<Row, Filters, "newest" | "name" | "last" | "typed">(sql, {
        read: (where, end) => rows(sql`SELECT id::float8, name, kind, at FROM things WHERE ${where} ${end}`),
        operator: "operator_id",
        filters: {
          kind: (value) => sql`kind = ${value}`,
          owner: (value) => value === null ? sql`owner IS NULL` : sql`owner = ${value}`
        },
        orders: {
          newest: newestFirst("things.at", "things.id", ({ at }) => at.getTime()),
          name: { keys: [name, id] },
          last: { keys: [id], descending: true },
          typed: { ...newestFirst("at", "things.id", ({ at }) => at.getTime()), typed: { from: "things" } }
        }
      })
      const orders = {
        newest: "at DESC, things.id DESC",
        name: "name, things.id",
        last: "things.id DESC",
        typed: "at DESC, things.id DESC"
      } as const
      const cases: ReadonlyArray<readonly [scope: ReadonlyArray<number> | null, filters: Filters, where: string]> = [
        [null, {}, "true"],
        [[1], {}, "operator_id = 1"],
        [[1, 2], { kind: "odd" }, "kind = 'odd'"],
        [[2], { owner: null }, "operator_id = 2 AND owner IS NULL"],
        [[], {}, "false"]
      ]
      for (const order of ["newest", "name", "last", "typed"] as const) {
        for (const [scope, filters, where] of cases) {
          const whole = (yield* rows(
            sql`SELECT id::float8, name, kind, at FROM things WHERE ${sql.literal(where)} ORDER BY ${
              sql.literal(orders[order])
            }`
          )).map((row) => row.id)
          for (const limit of [1, 2, 5, 24, 100]) {
            const walked: Array<number> = []
            for (let cursor: string | null = ""; cursor !== null;) {
              const part: { readonly items: ReadonlyArray<Row>; readonly next: string | null } = yield* things.part(
                scope,
                { ...filters, limit, cursor },
                order
              )
              assert.isAtMost(part.items.length, limit)
              walked.push(...part.items.map((row) => row.id))
              cursor = part.next
            }
            assert.deepStrictEqual(walked, whole, `${order} ${where} by ${limit}`)
          }
          const { items, total } = yield* things.page(
            scope,
            { ...filters, page: 2, perPage: 3 },
            order,
            () => Effect.succeed(whole.length)
          )
          assert.deepStrictEqual([items.map((row) => row.id), total], [whole.slice(3, 6), whole.length])
        }
      }

      const byName = yield* things.part([1, 2], { limit: 24 }, "name")
      assert.deepStrictEqual([...new Set(byName.items.map((row) => row.name))], [
        "alpha",
        "Alpha",
        "beta",
        "Beta",
        "Éclair",
        "Zed"
      ])
      assert.deepStrictEqual((yield* things.part(null, { limit: 5, kind: "\u0000" }, "name")).items, [])
      assert.deepInclude(yield* things.find([1], { kind: "odd" }), { kind: "odd" })
      assert.isUndefined(yield* things.find([2], { kind: "odd" }))
      // a place of another operator is none
      assert.deepStrictEqual((yield* things.part([1], { limit: 5, cursor: "9" }, "typed")).items, [])
      const refused = yield* Effect.flip(things.part(null, { limit: 5, cursor: "9" }, "newest"))
      assert.property(refused, "details")
    }))
})

type Scoped = Parameters<typeof listOf<Row, Filters, "newest">>[1]
type Unscoped = Parameters<typeof unscopedListOf<Row, Filters, "newest">>[1]
type ScopeOfShared = Parameters<ReturnType<typeof unscopedListOf<Row, Filters, "newest">>["part"]>[0]

/** True where the one type is not assignable to the other; else nothing is. */
type IsRefused<Given, By> = Given extends By ? never : true

// Goal: whose rows a list has is always said, and no scope is given to a list that would ignore it. Method: the compiler, for which each line is wrong as
// soon as such a list can be made.
it("a list that is created or read without an operator scope does not compile", () => {
  const withoutColumn: IsRefused<Omit<Scoped, "operator">, Scoped> = true
  const withoutReason: IsRefused<Omit<Scoped, "operator">, Unscoped> = true
  // a filter that need not be asked for bounds nothing
  const ofRecordThatMayBeAbsent: IsRefused<Omit<Scoped, "operator"> & { readonly record: "owner" }, Unscoped> = true
  const inScopeThatIsIgnored: IsRefused<ReadonlyArray<number>, ScopeOfShared> = true
  assert.isTrue(withoutColumn && withoutReason && ofRecordThatMayBeAbsent && inScopeThatIsIgnored)
})

/**
 * Tables declared by one record shape, with the names and encoding of the wire: the fields of the shape are the columns, an instant is ISO text.
 * Select, insert and update derive from the shape, so that a field is declared once.
 */
import { Effect, Schema } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { iso } from "../platform/Time.ts"
import { oneOf, rowsOf } from "./Rows.ts"

interface Options {
  /** Columns named differently from the field. */
  readonly columns?: { readonly [field: string]: string }
  /** Select expressions of columns whose driver value is not in the field's form, or whose name is not plain. */
  readonly reads?: { readonly [field: string]: string }
  /** Expressions of fields without a column: never written. */
  readonly computed?: { readonly [field: string]: string }
  /** FROM clause, if more than the table. */
  readonly from?: string
}

/** Bound value of a column: an object as JSON, an array as an array (no `jsonb` column of a record holds one). */
const bound = (value: unknown): unknown =>
  value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof Uint8Array)
    ? JSON.stringify(value)
    : value

const counts = rowsOf(Schema.Struct({ total: Schema.Number }))

const read = (row: object): object =>
  Object.fromEntries(
    Object.entries(row).map(([field, value]) => [field, value instanceof Date ? iso(value.getTime()) : value])
  )

/**
 * Record access of a table. `bonuses.find(sql\`id = ${id} FOR UPDATE\`)` returns one record, `insert` and `update` write one; columns without a field
 * (a sealed secret) are passed in addition. A row of another shape is a defect: the migrations define it.
 */
export const recordsOf = <Fields extends Schema.Struct.Fields>(
  table: string,
  Shape: Schema.Struct<Fields> & { readonly DecodingServices: never },
  { columns = {}, computed = {}, from = table, reads = {} }: Options = {}
) =>
  Effect.map(SqlClient.SqlClient, (sql) => {
    type Item = Schema.Struct<Fields>["Type"]
    const decode = Schema.decodeUnknownEffect(Schema.Array(Shape))
    const columnOf = (field: string): string => columns[field] ?? field
    const fields = Object.keys(Shape.fields)
    const expressionOf = (field: string): string => computed[field] ?? reads[field] ?? columnOf(field)
    const selected = sql.literal(
      fields.map((field) => expressionOf(field) === field ? field : `${expressionOf(field)} AS ${field}`).join(", ")
    )
    const source = sql.literal(from)
    const rowOf = (record: object, more: object) =>
      Object.fromEntries(
        Object.entries({ ...record, ...more }).filter(([field]) => computed[field] === undefined)
          .map(([field, value]) => [columnOf(field), bound(value)])
      )
    const all = (condition: Statement.Fragment): Effect.Effect<ReadonlyArray<Item>, SqlError.SqlError> =>
      Effect.flatMap(
        sql`SELECT ${selected} FROM ${source} WHERE ${condition}`,
        (rows) => Effect.orDie(decode(rows.map(read)))
      )
    return {
      /** Records under a condition, which may end in an order and a lock. */
      all,
      /** First record of {@link all}. */
      find: (condition: Statement.Fragment) => oneOf(all(condition)),
      /** Number of records under a condition. */
      count: (condition: Statement.Fragment) =>
        Effect.map(
          counts(sql`SELECT count(*) AS total FROM ${source} WHERE ${condition}`),
          ([counted]) => counted?.total ?? 0
        ),
      insert: (record: Item, more: object = {}): Effect.Effect<void, SqlError.SqlError> =>
        Effect.asVoid(sql`INSERT INTO ${sql(table)} ${sql.insert(rowOf(record, more))}`),
      /** Writes the fields that differ. */
      update: (before: Item & { readonly id: number }, after: Item, more: object = {}) => {
        const was: { readonly [field: string]: unknown } = before
        const different = Object.entries(after).filter(([field, value]) =>
          JSON.stringify(value) !== JSON.stringify(was[field])
        )
        const row = rowOf(Object.fromEntries(different), more)
        return Object.keys(row).length === 0
          ? Effect.void
          : Effect.asVoid(sql`UPDATE ${sql(table)} SET ${sql.update(row)} WHERE id = ${before.id}`)
      }
    }
  })

/** Conditions for the columns with a requested value; undefined values are not filtered. */
export const equalTo = (
  sql: SqlClient.SqlClient,
  values: { readonly [column: string]: string | number | boolean | undefined }
): ReadonlyArray<Statement.Fragment> =>
  Object.entries(values).flatMap(([column, value]) => value === undefined ? [] : [sql`${sql(column)} = ${value}`])

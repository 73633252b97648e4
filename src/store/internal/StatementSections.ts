/** Building blocks of a commit statement: its CTEs (in code *sections*), their typed array columns, and the inserts and updates over them. */
import type { SqlClient } from "effect/sql"
import { columnArray, type WireType, type WireValue } from "../../platform/ColumnArrays.ts"

export interface Column<Row> {
  readonly name: string
  /** Type of the array's elements on the wire. */
  readonly wire: WireType
  /** Type in the table. */
  readonly type: string
  readonly value: (row: Row) => WireValue
}

export const number = <Row>(name: string, value: (row: Row) => number | null): Column<Row> => ({
  name,
  wire: "float8",
  type: "bigint",
  value
})

export const text = <Row>(name: string, value: (row: Row) => string | null, type = "text"): Column<Row> => ({
  name,
  wire: "text",
  type,
  value
})

export const time = <Row>(name: string, value: (row: Row) => number | null): Column<Row> => ({
  name,
  wire: "timestamptz",
  type: "timestamptz",
  value
})

export const flag = <Row>(name: string, value: (row: Row) => boolean): Column<Row> => ({
  name,
  wire: "boolean",
  type: "boolean",
  value
})

export const bytes = <Row>(name: string, value: (row: Row) => Uint8Array | null): Column<Row> => ({
  name,
  wire: "bytea",
  type: "bytea",
  value
})

/** Text form of a PostgreSQL array of numbers: `{1,2}`. */
export const numbers = (values: ReadonlyArray<number>): string =>
  values.length === 1 ? `{${values[0]}}` : `{${values.join(",")}}`

export const json = (value: unknown): string | null =>
  value === undefined || value === null ? null : JSON.stringify(value)

/** Columns of every field of what a row stores, in their order; an empty list for a field that is stored elsewhere. A forgotten field does not compile. */
export const columnsOf = <Fields, Row>(
  columns: { readonly [field in keyof Required<Fields>]: Column<Row> | ReadonlyArray<Column<Row>> }
): ReadonlyArray<Column<Row>> => Object.values<Column<Row> | ReadonlyArray<Column<Row>>>(columns).flat()

/** Section of the statement: its SQL, and its rows as parameters. */
export interface Section<Row> {
  readonly columns: ReadonlyArray<Column<Row>>
  /** Data-modifying query over `source`, which yields the columns in their final types. */
  readonly query: (source: string) => string
}

export const insertInto = <Row>(table: string, columns: ReadonlyArray<Column<Row>>): Section<Row> => ({
  columns,
  query: (source) =>
    `INSERT INTO ${table} (${columns.map(({ name }) => quoted(name)).join(", ")}) SELECT ${
      columns.map((column) => cast(column)).join(", ")
    } FROM ${source}`
})

/** Rows of a section from one array per column. Its parameters begin with `$first`. */
export const sourceOf = (
  columns: ReadonlyArray<{ readonly name: string; readonly wire: string }>,
  first = 1
): string => {
  const arrays = columns.map(({ wire }, index) => `$${first + index}::${wire}[]`).join(", ")
  return `unnest(${arrays}) AS u(${columns.map(({ name }) => quoted(name)).join(", ")})`
}

/** Runs a section outside a commit, for any number of rows by the same text. */
export const runSection = <Row>(sql: SqlClient.SqlClient, { columns, query }: Section<Row>, rows: ReadonlyArray<Row>) =>
  sql.unsafe(query(sourceOf(columns)), columns.map(({ value, wire }) => columnArray(wire, rows, value)))

export const quoted = (name: string): string => `"${name}"`

export const cast = <Row>({ name, type, wire }: Column<Row>): string =>
  type === wire ? `u."${name}"` : `u."${name}"::${type}`

export const columnNamed = <Row>(columns: ReadonlyArray<Column<Row>>, name: string): string => {
  const column = columns.find((candidate) => candidate.name === name)
  return column === undefined ? `u."${name}"` : cast(column)
}

export const update = <Row>(
  table: string,
  columns: ReadonlyArray<Column<Row>>,
  options: { readonly keys: ReadonlyArray<string>; readonly set: ReadonlyArray<string>; readonly more?: string }
): Section<Row> => ({
  columns,
  query: (source) =>
    `UPDATE ${table} t SET ${options.set.map((name) => `${quoted(name)} = ${columnNamed(columns, name)}`).join(", ")}${
      options.more ?? ""
    } FROM ${source} WHERE ${
      options.keys.map((name) => `t.${quoted(name)} = ${columnNamed(columns, name)}`).join(" AND ")
    }`
})

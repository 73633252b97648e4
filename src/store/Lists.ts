/**
 * Declarations of lists: filters, sort orders, each with a unique column as tie-breaker, and scope: the operators whose rows the caller may see, or one record, such as a player. SQL conditions and
 * ordering, and pagination by number and by cursor are derived, so that no list forgets its scope or skips a row between two pages.
 */
import { Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import { type Period, toDate } from "../platform/Time.ts"
import { cursorsOfKeys, type KeyKind, type KeyValue, type PartQuery } from "./Cursors.ts"
import { type Scope, within } from "./OperatorScope.ts"
import { isStorable, offsetOf, type Page, type PageQuery } from "./Rows.ts"

/** Column of an order. */
interface SortKey<in Row> {
  /** Qualified where a column of the answer has its name: that one is a float, which no index is ordered by. */
  readonly column: string
  readonly kind: KeyKind
  readonly of: (row: Row) => KeyValue
}

/** Order of a list. The values of its keys together are unique, the last one alone where rows have an id. */
export interface ListOrder<in Row> {
  readonly keys: ReadonlyArray<SortKey<Row>>
  /** Of all keys, as the rows of an index are read backwards. */
  readonly descending?: boolean
  /** Cursors are the last key alone, as staff read and type it; the table has the other keys of the place. */
  readonly typed?: { readonly from: string }
}

/** Newest first, by a time and then an id. */
export const newestFirst = <Row extends { readonly id: number }>(
  at: string,
  id: string,
  instantOf: (row: Row) => number
): ListOrder<Row> => ({
  keys: [{ column: at, kind: "instant", of: instantOf }, { column: id, kind: "integer", of: (row) => row.id }],
  descending: true
})

/** The last made first: by an id alone. */
export const lastFirst = <Row extends { readonly id: number }>(id: string): ListOrder<Row> => ({
  keys: [{ column: id, kind: "integer", of: (row) => row.id }],
  descending: true
})

/** Filters of a period, by the column of a time. */
export const periodFilters = (
  sql: SqlClient.SqlClient,
  column: string
): { readonly [bound in keyof Required<Period>]: (at: number) => Statement.Fragment } => ({
  from: (at) => sql`${sql.literal(column)} >= ${toDate(at)}`,
  to: (at) => sql`${sql.literal(column)} <= ${toDate(at)}`
})

type Given<Value> = Value & ({} | null)

/** Reads the rows under a condition; `end` is order and limit. */
type Reader<Row> = (
  where: Statement.Fragment,
  end: Statement.Fragment
) => Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>

/** Names of the filters that are always asked for. */
type AlwaysAsked<Filters> = { [Name in keyof Filters]-?: undefined extends Filters[Name] ? never : Name }[keyof Filters]

interface ListOptions<Row, Filters, Order extends string> {
  readonly read: Reader<Row>
  /** Condition of each filter; one that is not asked for has none. */
  readonly filters: { readonly [Name in keyof Filters]-?: (value: Given<Filters[Name]>) => Statement.Fragment }
  readonly orders: { readonly [Name in Order]: ListOrder<Row> }
}

/** Rows of operators, by the column of the operator: each read names its scope. */
interface OfOperators {
  readonly operator: string
}

/** Rows of one record, such as a player, which the caller has found in its scope: a filter that is always asked for names it. */
interface OfRecord<Filters> {
  readonly record: AlwaysAsked<Filters>
}

/** Rows that are no operator's: the catalogue, rates of exchange. */
interface Shared {
  readonly shared: true
}

const isSearchable = (value: unknown): boolean => typeof value !== "string" || isStorable(value)

const nothing = { items: [], next: null, total: 0 }

const listFrom = <Row, Filters extends object, Order extends string, Within extends Scope>(
  sql: SqlClient.SqlClient,
  { filters, orders, read }: ListOptions<Row, Filters, Order>,
  scopeOf: (scope: Within) => ReadonlyArray<Statement.Fragment>
) => {
  const bound = (kind: KeyKind, value: KeyValue): Statement.Fragment =>
    kind === "text"
      ? sql`${value}::text`
      : kind === "instant"
      ? sql`${toDate(Number(value))}::timestamptz`
      : sql`${value}::float8::bigint`

  /** Conditions of scope and filters; undefined when a text is none that the database can hold: no row has it. */
  const conditionsOf = (scope: Within, asked: Filters): ReadonlyArray<Statement.Fragment> | undefined => {
    const conditions = [sql`true`, ...scopeOf(scope)]
    for (const name in filters) {
      const value = asked[name]
      if (value === undefined) continue
      if (!isSearchable(value)) return undefined
      conditions.push(filters[name](value))
    }
    return conditions
  }

  const orderOf = ({ descending = false, keys, typed }: ListOrder<Row>) => {
    const columns = sql.literal(keys.map(({ column }) => column).join(", "))
    const by = sql.literal(keys.map(({ column }) => descending ? `${column} DESC` : column).join(", "))
    const last = keys.slice(-1)
    const cursors = cursorsOfKeys((typed === undefined ? keys : last).map(({ kind }) => kind), typed !== undefined)
    const placeOf = (row: Row) => (typed === undefined ? keys : last).map(({ of }) => of(row))
    const sign = sql.literal(descending ? "<" : ">")
    const values = (ofKeys: ReadonlyArray<SortKey<Row>>, place: ReadonlyArray<KeyValue>) =>
      sql.join(", ", false)(ofKeys.map(({ kind }, index) => bound(kind, place[index] ?? "")))
    const behind = (scope: Within, place: ReadonlyArray<KeyValue> | undefined): ReadonlyArray<Statement.Fragment> => {
      if (place === undefined) return []
      if (typed === undefined) return [sql`(${columns}) ${sign} (${values(keys, place)})`]
      const id = sql.literal(last[0]?.column ?? "")
      return [
        sql`(${columns}) ${sign} (SELECT ${columns} FROM ${sql.literal(typed.from)}
          WHERE ${sql.and([sql`${id} = ${values(last, place)}`, ...scopeOf(scope)])})`
      ]
    }
    return { behind, by, cursors, placeOf }
  }
  const made = new Map<Order, ReturnType<typeof orderOf>>()
  const ordered = (order: Order) => {
    const found = made.get(order) ?? orderOf(orders[order])
    made.set(order, found)
    return found
  }

  return {
    /** Condition of scope and filters, for what else is read of the same rows; undefined: no row. */
    where: (scope: Within, asked: Filters): Statement.Fragment | undefined => {
      const conditions = conditionsOf(scope, asked)
      return conditions === undefined ? undefined : sql.and(conditions)
    },
    /** Cursor behind a row. */
    cursorAt: (order: Order) => {
      const { cursors, placeOf } = ordered(order)
      return (row: Row) => cursors.write(placeOf(row))
    },
    /** First row. */
    find: (scope: Within, asked: Filters): Effect.Effect<Row | undefined, SqlError.SqlError> => {
      const conditions = conditionsOf(scope, asked)
      return conditions === undefined
        ? Effect.undefined
        : Effect.map(read(sql.and(conditions), sql`LIMIT 1`), ([row]) => row)
    },
    /** Page by number, with the total. */
    page: <E, R>(
      scope: Within,
      asked: Filters & PageQuery,
      order: Order,
      total: (where: Statement.Fragment) => Effect.Effect<number, E, R>
    ): Effect.Effect<Page<Row>, E | SqlError.SqlError, R> => {
      const conditions = conditionsOf(scope, asked)
      if (conditions === undefined) return Effect.succeed(nothing)
      const where = sql.and(conditions)
      const { by } = ordered(order)
      return Effect.map(
        Effect.all([
          read(
            where,
            sql`ORDER BY ${by} LIMIT ${asked.perPage}::float8::bigint OFFSET ${offsetOf(asked)}::float8::bigint`
          ),
          total(where)
        ], { concurrency: 2 }),
        ([items, counted]) => ({ items, total: counted })
      )
    },
    /** Part by cursor. `readAs`: another way to the same rows. */
    part: Effect.fnUntraced(
      function*(scope: Within, asked: Filters & PartQuery, order: Order, readAs: Reader<Row> = read) {
        const { behind, by, cursors, placeOf } = ordered(order)
        const place = yield* cursors.read(asked.cursor)
        const conditions = conditionsOf(scope, asked)
        if (conditions === undefined) return nothing
        const rows = yield* readAs(
          sql.and([...conditions, ...behind(scope, place)]),
          sql`ORDER BY ${by} LIMIT ${asked.limit + 1}::float8::bigint`
        )
        return cursors.part(rows, asked.limit, placeOf)
      }
    )
  }
}

/** A list of operators' rows: each read is given the scope. */
export const listOf = <Row, Filters extends object, Order extends string>(
  sql: SqlClient.SqlClient,
  options: ListOptions<Row, Filters, Order> & OfOperators
) => listFrom(sql, options, (scope: Scope) => within(sql, scope, options.operator))

const everyRow = (): ReadonlyArray<Statement.Fragment> => []

/** A list of rows that have no operator's column: those of one record, or shared by all operators. No scope would narrow it, so that it takes none. */
export const unscopedListOf = <Row, Filters extends object, Order extends string>(
  sql: SqlClient.SqlClient,
  options: ListOptions<Row, Filters, Order> & (OfRecord<Filters> | Shared)
) => listFrom<Row, Filters, Order, null>(sql, options, everyRow)

/** Decodes rows by schema, and refuses with a retryable code while the database is unavailable. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { SqlError } from "effect/sql"
import { type Refusal, temporarilyUnavailable } from "../domain/Refusal.ts"
import { wireName } from "../domain/WireNames.ts"
import { describeSqlError } from "../platform/Database.ts"

const isNoSqlError = <E>(error: E): error is Exclude<E, SqlError.SqlError> => !(error instanceof SqlError.SqlError)

/** SQLSTATE classes of transient server failures: insufficient resources (53), shutting down or starting up (57P), system errors (58). */
const passingStates = /^(53|57P|58)/

/** SQLSTATE of a server's answer, if there was one. */
export const sqlStateOf = ({ reason: { cause } }: SqlError.SqlError): string | undefined =>
  typeof cause === "object" && cause !== null && "code" in cause && typeof cause.code === "string"
    ? cause.code
    : undefined

/** Whether one of the rows read together caused a failure: an unreadable row, a number that is too large, or an invalid value (SQLSTATE class 22). */
export const isCausedByOneRow = (failure: unknown): boolean =>
  Schema.isSchemaError(failure) ||
  failure instanceof SqlError.SqlError &&
    (failure.reason.cause instanceof PgTypes.CodecError || sqlStateOf(failure)?.startsWith("22") === true)

const passes = (error: SqlError.SqlError): boolean => error.isRetryable || passingStates.test(sqlStateOf(error) ?? "")

/** Maps transient failures of statements to `TRY_AGAIN`. Others are defects of the statement: they die. */
export const orTryAgain = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, SqlError.SqlError> | Refusal<"TRY_AGAIN">, R> =>
  effect.pipe(Effect.catch((error): Effect.Effect<never, Exclude<E, SqlError.SqlError> | Refusal<"TRY_AGAIN">> => {
    if (isNoSqlError(error)) return Effect.fail(error)
    return error instanceof SqlError.SqlError && passes(error)
      ? Effect.andThen(
        Effect.annotateLogs(Effect.logWarning("SQL statement failed"), { reason: describeSqlError(error) }),
        Effect.fail(temporarilyUnavailable)
      )
      : Effect.die(error)
  }))

/**
 * Runs a statement and decodes its rows by `Row`. A row of another shape is a defect: the migrations define it.
 *
 *     const games = rowsOf(GameRow)
 *     const found = yield* games(sql`SELECT … FROM games`)
 */
export const rowsOf = <S extends Schema.Constraint>(Row: S) => {
  const decode = Schema.decodeUnknownEffect(Schema.Array(Row))
  return <E, R>(
    statement: Effect.Effect<ReadonlyArray<unknown>, E, R>
  ): Effect.Effect<ReadonlyArray<S["Type"]>, E, R | S["DecodingServices"]> =>
    Effect.flatMap(statement, (found) => Effect.orDie(decode(found)))
}

type Names<Fields> = { readonly [field in keyof Fields]?: string }

const expressionOf = (field: string, alias: string | undefined, name: string | undefined): string =>
  name ?? (alias === undefined ? wireName(field) : `${alias}.${wireName(field)}`)

/**
 * Select list of a shape: the field `operatorId` is `operator_id AS "operatorId"`. `names` has the column or expression of fields named differently.
 */
export const columnsOf = <Fields extends Schema.Struct.Fields>(
  { fields }: { readonly fields: Fields },
  alias?: string,
  names: Names<Fields> = {}
): string =>
  Object.keys(fields).map((field) => {
    const expression = expressionOf(field, alias, names[field])
    return expression === field ? field : `${expression} AS "${field}"`
  }).join(", ")

/** Like {@link columnsOf}, as one JSON object. */
export const jsonOf = <Fields extends Schema.Struct.Fields>(
  { fields }: { readonly fields: Fields },
  alias: string,
  names: Names<Fields> = {}
): string =>
  `jsonb_build_object(${
    Object.keys(fields).map((field) => `'${field}', ${expressionOf(field, alias, names[field])}`).join(", ")
  })`

export function picker<const Field extends string>(
  fields: ReadonlyArray<Field>
): <Row extends { readonly [field in Field]: unknown }>(row: Row) => Pick<Row, Field>
/** Takes these fields of a row, in this order: as `Struct.pick`, in a tenth of its time. */
export function picker(fields: ReadonlyArray<string>) {
  return (row: { readonly [field: string]: unknown }) => {
    const picked: { [field: string]: unknown } = {}
    for (const field of fields) picked[field] = row[field]
    return picked
  }
}

/** First row of a statement, or undefined. */
export const oneOf = <A, E, R>(found: Effect.Effect<ReadonlyArray<A>, E, R>): Effect.Effect<A | undefined, E, R> =>
  Effect.map(found, (rows) => rows[0])

/** Page of a list with the total number of items. */
export interface Page<out A> {
  readonly items: ReadonlyArray<A>
  readonly total: number
  /** True when `total` is a lower bound, because counting all rows would take too long. */
  readonly more?: boolean
}

/** Requested page: `page` from 1, `perPage` from 1 to 100. */
export interface PageQuery {
  readonly page: number
  readonly perPage: number
}

/** Number of rows before a page. A page beyond the size of any table is clamped, and empty. */
export const offsetOf = ({ page, perPage }: PageQuery): number =>
  Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER)

/** False for text that PostgreSQL cannot store; no row can match it. */
export const isStorable = (text: string): boolean => !text.includes("\u0000")

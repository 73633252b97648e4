/** Reading rows: checked by a schema, with a retryable refusal when the database is unavailable. */
import { Effect, Schema } from "effect"
import { SqlError } from "effect/sql"
import { type Refusal, temporarilyUnavailable } from "../domain/Refusal.ts"
import { describeSqlError } from "../platform/Database.ts"

const isNoSqlError = <E>(error: E): error is Exclude<E, SqlError.SqlError> => !(error instanceof SqlError.SqlError)

/** What the server said of its own state: out of something (53), going away or not there yet (57P), the system below failed (58). */
const passingStates = /^(53|57P|58)/

const passes = ({ isRetryable, reason: { cause } }: SqlError.SqlError): boolean =>
  isRetryable ||
  (typeof cause === "object" && cause !== null && "code" in cause && passingStates.test(String(cause.code)))

/**
 * Turns those failures of statements that pass by themselves into `TRY_AGAIN`. The others are mistakes in a statement: they
 * die.
 */
export const orTryAgain = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, SqlError.SqlError> | Refusal<"TRY_AGAIN">, R> =>
  effect.pipe(Effect.catch((error): Effect.Effect<never, Exclude<E, SqlError.SqlError> | Refusal<"TRY_AGAIN">> => {
    if (isNoSqlError(error)) return Effect.fail(error)
    return error instanceof SqlError.SqlError && passes(error)
      ? Effect.andThen(
        Effect.annotateLogs(Effect.logWarning("statement failed"), { reason: describeSqlError(error) }),
        Effect.fail(temporarilyUnavailable)
      )
      : Effect.die(error)
  }))

/**
 * Runs a statement and gives its rows as `Row` describes them. A row of another shape is a defect: the migrations say what it
 * is.
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

/**
 * The columns of a shape as a list to select: the field `operatorId` reads `operator_id AS "operatorId"`. `names` has the column, or the
 * expression, of a field that is not named so.
 */
export const columnsOf = <Fields extends Schema.Struct.Fields>(
  { fields }: { readonly fields: Fields },
  alias?: string,
  names: { readonly [field in keyof Fields]?: string } = {}
): string =>
  Object.keys(fields).map((field) => {
    const column = field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    const expression = names[field] ?? (alias === undefined ? column : `${alias}.${column}`)
    return expression === field ? field : `${expression} AS "${field}"`
  }).join(", ")

/** The one row of a statement of which there may be none. */
export const oneOf = <A, E, R>(found: Effect.Effect<ReadonlyArray<A>, E, R>): Effect.Effect<A | undefined, E, R> =>
  Effect.map(found, (rows) => rows[0])

/** One page of a list and how many there are in all. */
export interface Page<out A> {
  readonly items: ReadonlyArray<A>
  readonly total: number
  /** True when there are more than `total` says, because counting them all would take too long. */
  readonly more?: boolean
}

/** Which page: `page` from 1, `perPage` from 1 to 100. */
export interface PageQuery {
  readonly page: number
  readonly perPage: number
}

/** How many rows stand before a page. A page further than any table reaches counts as one that is merely empty. */
export const offsetOf = ({ page, perPage }: PageQuery): number =>
  Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER)

/** False for a text that PostgreSQL cannot hold; no row can match it. */
export const isStorable = (text: string): boolean => !text.includes("\u0000")

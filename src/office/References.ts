/** Resolves operators and providers that staff name by id or slug. */
import { Effect, Schema } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { type Refusal, refuse, refuseFields } from "../domain/Refusal.ts"
import { isWithin, type Scope, within } from "../store/OperatorScope.ts"
import { isStorable, oneOf, rowsOf } from "../store/Rows.ts"

const idRows = rowsOf(Schema.Struct({ id: Schema.Number }))

/** The id that a reference is; undefined when it is a slug or a key. Ids have fewer digits than a safe integer. */
export const idIn = (reference: string): number | undefined =>
  /^[1-9]\d{0,14}$/.test(reference) ? Number(reference) : undefined

/** An actor bound to operators. */
interface Bound {
  readonly operators: Scope
}

const noSuchOperator = refuse("NOT_FOUND", "There is no such operator.")

/** Finds operators and providers by id or slug. */
export const makeReferences = Effect.map(SqlClient.SqlClient, (sql) => {
  const find = (table: "operators" | "providers", what: string) => {
    const notFound = refuse("NOT_FOUND", `There is no such ${what}.`)
    return Effect.fnUntraced(
      function*(reference: string): Effect.fn.Return<number, Refusal<"NOT_FOUND"> | SqlError.SqlError> {
        const id = idIn(reference)
        if (!isStorable(reference)) return yield* Effect.fail(notFound)
        const row = yield* oneOf(idRows(
          sql`SELECT id FROM ${sql(table)}
            WHERE ${id === undefined ? sql`slug = ${reference}` : sql`id = ${id}`}
              ${table === "operators" ? sql`AND archived_at IS NULL` : sql``}`
        ))
        return row === undefined ? yield* Effect.fail(notFound) : row.id
      }
    )
  }
  const operatorId = find("operators", "operator")
  /** Operators whose rows a list shows: the named one, else those that the actor is bound to. */
  const scope = Effect.fnUntraced(function*(
    actor: Bound,
    reference: string | undefined
  ): Effect.fn.Return<Scope, Refusal<"NOT_FOUND"> | SqlError.SqlError> {
    if (reference === undefined) return actor.operators
    const id = yield* operatorId(reference)
    return isWithin(actor.operators, id) ? [id] : yield* Effect.fail(noSuchOperator)
  })
  return {
    operatorId,
    scope,
    /** The condition that rows are of the {@link scope} of an actor and a reference. */
    ofScope: (actor: Bound, reference: string | undefined) =>
      Effect.map(scope(actor, reference), (found) => sql.and([sql`true`, ...within(sql, found)])),
    providerId: find("providers", "provider"),
    /** Refuses, as not found, a record of another operator than the named one. Undefined names none. */
    refuseForeign: Effect.fnUntraced(function*<R>(owner: number, named: string | undefined, notFound: R) {
      if (named !== undefined && (yield* operatorId(named)) !== owner) return yield* Effect.fail(notFound)
    })
  }
})

/** Names the field behind a unique constraint that a statement ran into. */
export const orTaken =
  (fieldByConstraint: { readonly [constraint: string]: string }) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Refusal<"VALIDATION_FAILED">, R> =>
    Effect.mapError(effect, (error) => {
      if (!(error instanceof SqlError.SqlError) || error.reason._tag !== "UniqueViolation") return error
      const field = fieldByConstraint[error.reason.constraint]
      return field === undefined ? error : refuseFields({ [field]: ["is already taken"] })
    })

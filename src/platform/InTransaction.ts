/** Runs a transaction. A connection lost during it is reported as a database failure, not as a defect of the service. */
import { Cause, Effect } from "effect"
import { type SqlClient, SqlError } from "effect/sql"

/** A commit whose cleanup failed as well fails with database defects. */
const commitFailure = <E>(cause: Cause.Cause<E>): Cause.Cause<E | SqlError.SqlError> => {
  for (const reason of cause.reasons) {
    if (Cause.isDieReason(reason) && reason.defect instanceof SqlError.SqlError) return Cause.fail(reason.defect)
  }
  return cause
}

/**
 * When the connection breaks, the rollback fails as well, and `withTransaction` reports both as a defect: a lost database would look like a defect
 * of the service. The server rolls back by itself; the outcome of a commit without an answer is
 * unknown.
 *
 *     yield* inTransaction(sql)(Effect.andThen(sql`INSERT …`, sql`UPDATE …`))
 */
export const inTransaction =
  (sql: SqlClient.SqlClient) => <A, E, R>(body: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
    Effect.suspend(() => {
      let failed: Cause.Cause<E> | undefined
      const watched = Effect.tapCause(body, (cause) =>
        Effect.sync(() => {
          failed = cause
        }))
      return Effect.catchCause(
        sql.withTransaction(watched),
        (cause): Effect.Effect<never, E | SqlError.SqlError> =>
          failed === undefined ? Effect.failCause(commitFailure(cause)) : Effect.failCause(failed)
      )
    })

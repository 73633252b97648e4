/** Classification of database failures: refused, failed, silent. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Fiber, Option, type Schema } from "effect"
import type { SqlError } from "effect/sql"
import { type CommitFailure, OutcomeUnknown, Rejected, StoreUnavailable } from "../../engine/Failures.ts"
import { describeSqlError } from "../../platform/Database.ts"

const unavailable = (error: SqlError.SqlError) => new StoreUnavailable({ reason: describeSqlError(error) })

const unreadable = (error: Schema.SchemaError) =>
  new StoreUnavailable({ reason: `a stored row is unreadable: ${error.message}` })

/** Longer than the journal's statement timeout: beyond it the server is not slow but silent. */
const deadline = "6 seconds"

/**
 * Waits for a statement no longer than the deadline. A late statement is interrupted without waiting for the interruption: a
 * silent server would not answer that either. `late` makes the failure: an error takes its stack when it is made.
 */
export const byDeadline = <A, E, E2>(statement: Effect.Effect<A, E>, late: () => E2): Effect.Effect<A, E | E2> =>
  Effect.flatMap(
    // at once: what leaves in the next turn leaves after everything that this one has to do
    Effect.forkDetach(Effect.interruptible(statement), { startImmediately: true }),
    (fiber) =>
      Effect.interruptible(Effect.timeoutOption(Fiber.await(fiber), deadline)).pipe(
        Effect.flatMap((exit): Effect.Effect<A, E | E2> => {
          if (Option.isSome(exit)) return exit.value
          fiber.interruptUnsafe()
          return Effect.fail(late())
        })
      )
  )

export const silent = "the database does not answer"

/** The failure of a read or a fence that got no answer. */
export const noAnswer = () => new StoreUnavailable({ reason: silent })

/** Failures of a read. */
export type ReadFailure = SqlError.SqlError | Schema.SchemaError | StoreUnavailable

export const toUnavailable = (failure: ReadFailure): StoreUnavailable =>
  failure._tag === "SqlError" ? unavailable(failure) : failure._tag === "SchemaError" ? unreadable(failure) : failure

/** A row that cannot be read, or a value that is none: the fault of one of those who are read together. */
export const isOfOneRow = (failure: ReadFailure): boolean =>
  failure._tag === "SchemaError" || failure._tag === "SqlError" && stateOf(failure)?.startsWith("22") === true

export const orUnavailable = <A>(
  effect: Effect.Effect<A, SqlError.SqlError | Schema.SchemaError>
): Effect.Effect<A, StoreUnavailable> =>
  Effect.catchTags(byDeadline(effect, noAnswer), {
    SqlError: unavailableFailure,
    SchemaError: unreadableFailure
  })

const unavailableFailure = (error: SqlError.SqlError) => Effect.fail(unavailable(error))
const unreadableFailure = (error: Schema.SchemaError) => Effect.fail(unreadable(error))

/** SQLSTATE of a server's answer, where there was one. */
const stateOf = (error: SqlError.SqlError): string | undefined => {
  const { cause } = error.reason
  return typeof cause === "object" && cause !== null && "code" in cause && typeof cause.code === "string"
    ? cause.code
    : undefined
}

/**
 * What a failed commit means. The server's own word that it refused is a refusal; a connection that could not be made means
 * that nothing was sent; everything else leaves open whether the commit happened.
 */
export const commitFailure = (error: SqlError.SqlError): CommitFailure => {
  const { reason } = error
  const reasonText = describeSqlError(error)
  switch (reason._tag) {
    case "UniqueViolation":
    case "ConstraintError":
      return new Rejected({ because: "clash", reason: reasonText })
    case "SerializationError":
      return new Rejected({ because: "fenced", reason: reasonText })
    case "LockTimeoutError":
      return new Rejected({ because: "busy", reason: reasonText })
    case "DeadlockError":
    case "StatementTimeoutError":
    case "SqlSyntaxError":
    case "AuthenticationError":
    case "AuthorizationError":
      return new StoreUnavailable({ reason: reasonText })
    case "ConnectionError":
      return reason.operation === "connect"
        ? new StoreUnavailable({ reason: reasonText })
        : new OutcomeUnknown({ reason: reasonText })
    default: {
      // nothing has left: a value of one unit is not of its column's type
      if (reason.cause instanceof PgTypes.CodecError) return new Rejected({ because: "clash", reason: reasonText })
      const state = stateOf(error)
      // a value that no column holds is one unit's fault, not the batch's
      if (state?.startsWith("22") === true || state?.startsWith("54") === true) {
        return new Rejected({ because: "clash", reason: reasonText })
      }
      // 40003: the server itself does not know; 57P: it was shut down or killed on the way
      return state === undefined || state === "40003" || state.startsWith("57P")
        ? new OutcomeUnknown({ reason: reasonText })
        : new StoreUnavailable({ reason: reasonText })
    }
  }
}

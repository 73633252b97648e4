/** Maps database failures to those of the engine: rejected, unavailable, outcome unknown. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Fiber, Option, type Schema } from "effect"
import type { SqlError } from "effect/sql"
import { type CommitFailure, OutcomeUnknown, Rejected, StoreUnavailable } from "../../engine/Failures.ts"
import { describeSqlError } from "../../platform/Database.ts"
import { sqlStateOf } from "../Rows.ts"

const unavailable = (error: SqlError.SqlError) => new StoreUnavailable({ reason: describeSqlError(error) })

const unreadable = (error: Schema.SchemaError) =>
  new StoreUnavailable({ reason: `a stored row is unreadable: ${error.message}` })

/** Exceeds the journal's statement timeout: beyond it the server is not slow but unresponsive. */
const deadline = "6 seconds"

/**
 * Waits for a statement up to the deadline. A late statement is interrupted without waiting for the interruption, which an unresponsive server would
 * not answer either. `late` is lazy: an error captures its stack when made.
 */
export const withDeadline = <A, E, E2>(statement: Effect.Effect<A, E>, late: () => E2): Effect.Effect<A, E | E2> =>
  Effect.flatMap(
    // immediately: in the next turn it would be sent after all work of this one
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

export const unresponsive = "the database does not answer"

/** Failure of a read or a fence without an answer. */
export const noAnswer = () => new StoreUnavailable({ reason: unresponsive })

/** Failures of a read. */
export type ReadFailure = SqlError.SqlError | Schema.SchemaError | StoreUnavailable

export const toUnavailable = (failure: ReadFailure): StoreUnavailable =>
  failure._tag === "SqlError" ? unavailable(failure) : failure._tag === "SchemaError" ? unreadable(failure) : failure

/**
 * Outcome of a failed commit. A refusal reported by the server is a refusal; a connection that could not be established means that nothing was sent;
 * anything else leaves the outcome unknown.
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
      // nothing was sent: a value of one unit does not have its column's type
      if (reason.cause instanceof PgTypes.CodecError) return new Rejected({ because: "clash", reason: reasonText })
      const state = sqlStateOf(error)
      // a value outside of its column's range: one unit's fault, not the batch's
      if (state?.startsWith("22") === true || state?.startsWith("54") === true) {
        return new Rejected({ because: "clash", reason: reasonText })
      }
      // 40003: unknown to the server itself; 57P: shut down or killed meanwhile
      return state === undefined || state === "40003" || state.startsWith("57P")
        ? new OutcomeUnknown({ reason: reasonText })
        : new StoreUnavailable({ reason: reasonText })
    }
  }
}

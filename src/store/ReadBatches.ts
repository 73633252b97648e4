/** Batched reads: those requested in one event-loop turn, or while the maximum number of statements is running, share a statement. */
import { Cause, Effect, type Exit, type Scope } from "effect"
import type { SqlError } from "effect/sql"
import { type Refusal, temporarilyUnavailable } from "../domain/Refusal.ts"
import { type Batches, makeBatches } from "./Batches.ts"
import { noAnswer, withDeadline } from "./internal/StoreFailures.ts"
import { isCausedByOneRow, orTryAgain } from "./Rows.ts"

export interface ReadBatchOptions<Item, A, E> {
  /** Outcomes in the order of the items, by one statement. */
  readonly read: (items: ReadonlyArray<Item>) => Effect.Effect<ReadonlyArray<Exit.Exit<A, E>>, SqlError.SqlError>
  readonly maxBatch: number
  /** Statements that run at the same time; one when left out. */
  readonly maxRunning?: number
  /** Maximum number of reads waiting; above it they are told to try again. */
  readonly maxWaiting: number
}

const hasUnreadableRow = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) => Cause.isDieReason(reason) && isCausedByOneRow(reason.defect))

/** Batches whose statements have the deadline of a load. A row that cannot be read, which may be another operator's, fails its own read alone. */
export const makeReadBatches = <Item, A, E = never>(
  { maxWaiting, read, ...limits }: ReadBatchOptions<Item, A, E>
): Effect.Effect<Batches<Item, A, E | Refusal<"TRY_AGAIN">>, never, Scope.Scope> =>
  makeBatches<Item, A, E | Refusal<"TRY_AGAIN">>({
    ...limits,
    limit: { maxWaiting, overload: temporarilyUnavailable },
    mayBeCausedByOne: hasUnreadableRow,
    run: (items) =>
      orTryAgain(withDeadline(read(items), noAnswer)).pipe(
        Effect.catchTag("StoreUnavailable", ({ reason }) =>
          Effect.andThen(
            Effect.annotateLogs(Effect.logWarning("SQL statement failed"), { reason }),
            Effect.fail(temporarilyUnavailable)
          ))
      )
  })

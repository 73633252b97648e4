/**
 * Replay protection: accepted request signatures, the recent ones in memory, all of them in the database, which the processes of the service share.
 */
import { Clock, Context, Effect, Exit, Layer, Schedule } from "effect"
import { columnArray } from "../platform/ColumnArrays.ts"
import { type Refusal, refuse } from "../domain/Refusal.ts"
import { describeSqlError, ServingClient } from "../platform/Database.ts"
import { hasEndedSql, processSql } from "../platform/ServiceProcesses.ts"
import { toDate } from "../platform/Time.ts"
import {
  type AcceptedSignature,
  type Accepter,
  replayedRequest,
  replayOfEndedProcess,
  storedBy,
  type StoredSignature
} from "../domain/state/AcceptedSignature.ts"
import { makeBatches } from "../store/Batches.ts"
import { orTryAgain } from "../store/Rows.ts"
import { RememberedSignatures } from "./RememberedSignatures.ts"

/**
 * A timestamp may be 300 seconds ahead when its request is first accepted, and is refused 300 seconds after its own time.
 * The sum plus one second, because timestamps are whole seconds.
 */
const rememberedMs = 601_000

const maxWaiting = 10_000
const maxBatch = 1000

/** Maximum number of signatures removed per run. */
const maxPruned = 10_000

const tryAgain = refuse(
  "TRY_AGAIN",
  "The request was not done: its signature could not be recorded. Sign it again with a new timestamp."
)

/**
 * Returns the signatures not written, hardly ever any, and whether another process accepted them: a result row for each written one would cost
 * as much as writing it.
 */
const insertText = `
  WITH written AS (
    INSERT INTO accepted_signatures (signature, accepted_at) SELECT * FROM unnest($1::bytea[], $2::timestamptz[])
    ON CONFLICT DO NOTHING RETURNING signature)
  SELECT encode(known.signature, 'hex'), stored.process IS DISTINCT FROM ${processSql}
  FROM (SELECT unnest($1::bytea[]) AS signature EXCEPT ALL SELECT signature FROM written) AS known
  LEFT JOIN accepted_signatures stored ON stored.signature = known.signature`

type Failure = StoredSignature | Refusal<"TRY_AGAIN">

/**
 * Accepted signatures, lower-case hex. A command of one player writes its signature with its effect instead
 * (`domain/state/StoringSignature.ts`).
 */
export class ReplayStore extends Context.Service<ReplayStore, {
  /** Adds a signature to memory; false when still there. `now` in epoch milliseconds. */
  readonly remember: (signature: string, now: number) => boolean
  /** Starts writing a remembered signature, batched with waiting ones. Completes when durable; fails when already in the database. */
  readonly write: (signature: string, now: number) => Effect.Effect<void, Failure>
  /**
   * Refusal of a request whose signature is stored: of unknown outcome when another process accepted it and has ended; one that runs answers the request
   * itself. A process that was killed is seen by the database a moment later than by its callers: looks three times within half a second.
   */
  readonly refusalOf: (signature: string, stored: StoredSignature) => Effect.Effect<Refusal<"REPLAYED_REQUEST">>
  /** As `write`, without a fiber: `done` is called once. */
  readonly post: (signature: string, now: number, done: (exit: Exit.Exit<void, Failure>) => void) => void
  /** Removes expired signatures up to a maximum; `hasMore` when it was reached. */
  readonly prune: Effect.Effect<{ readonly done: number; readonly hasMore: boolean }, Refusal<"TRY_AGAIN">>
}>()("pitboss/auth/ReplayStore") {
  static readonly layer = Layer.effect(
    ReplayStore,
    Effect.gen(function*() {
      const sql = yield* ServingClient

      // Kept: remembered. Signatures accepted lately. Several nodes: its own, in front of the table: the unique index refuses what another node
      // accepted.
      const remembered = new RememberedSignatures()

      /** Writes signatures, no two of them equal; returns those already known. */
      const insert = (batch: ReadonlyArray<AcceptedSignature>) =>
        Effect.map(
          sql.unsafe(insertText, [
            columnArray("bytea", batch, ({ signature }) => Buffer.from(signature, "hex")),
            columnArray("timestamptz", batch, ({ acceptedAt }) => acceptedAt)
          ]).values,
          (rows) =>
            new Map<unknown, Accepter>(
              rows.map(([signature, isOther]) => [signature, isOther === true ? "other" : "this"])
            )
        )

      const batches = yield* makeBatches<AcceptedSignature, void, Failure>({
        maxBatch,
        limit: { maxWaiting, overload: tryAgain },
        run: (batch) => {
          // of equal ones, of which memory lost the first, the first is accepted
          const firsts = new Map(batch.toReversed().map((one) => [one.signature, one]))
          return insert([...firsts.values()]).pipe(
            Effect.tapError((error) =>
              Effect.annotateLogs(Effect.logWarning("request signature could not be recorded"), {
                reason: describeSqlError(error)
              })
            ),
            Effect.mapError(() => tryAgain),
            Effect.map((known) =>
              batch.map((one) => {
                const accepter = known.get(one.signature)
                if (accepter !== undefined) return Exit.fail(storedBy(accepter))
                return firsts.get(one.signature) === one ? Exit.void : Exit.fail(storedBy("this"))
              })
            )
          )
        }
      })

      const hasEnded = (signature: string) =>
        Effect.map(
          sql.unsafe(
            `SELECT ${hasEndedSql("process")} FROM accepted_signatures WHERE signature = decode($1, 'hex')`,
            [signature]
          ).values,
          ([row]) => row?.[0] === true
        )

      const refusalOf = Effect.fn("ReplayStore.refusalOf")(function*(
        signature: string,
        { accepter }: StoredSignature
      ) {
        if (accepter === "this") return replayedRequest
        // the next copy is answered as this one is
        remembered.remove(signature)
        const ended = hasEnded(signature).pipe(
          Effect.repeat({ until: (ended) => ended, times: 2, schedule: Schedule.spaced("250 millis") }),
          // the database does not say: neither is known
          Effect.orElseSucceed(() => true)
        )
        return (yield* ended) ? replayOfEndedProcess : replayedRequest
      })

      const prune = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const gone =
          yield* sql`DELETE FROM accepted_signatures WHERE signature IN (SELECT signature FROM accepted_signatures
          WHERE accepted_at < ${toDate(now - rememberedMs)} ORDER BY accepted_at LIMIT ${maxPruned}) RETURNING 1`
        return { done: gone.length, hasMore: gone.length >= maxPruned }
      }).pipe(orTryAgain)

      return ReplayStore.of({
        remember: (signature, now) => remembered.add(signature, now, now - rememberedMs),
        write: (signature, now) => batches.put({ signature, acceptedAt: now }),
        refusalOf,
        post: (signature, now, done) => batches.post({ signature, acceptedAt: now }, done),
        prune
      })
    })
  )
}

import { Clock, Context, Effect, Exit, Layer } from "effect"
import { columnArray } from "../platform/ColumnArrays.ts"
import { type Refusal, refuse } from "../domain/Refusal.ts"
import { describeSqlError, ServingClient } from "../platform/Database.ts"
import { RecentMap } from "../platform/RecentMap.ts"
import { toDate } from "../platform/Time.ts"
import { replayedRequest } from "./Checks.ts"
import { makeBatches } from "../store/Batches.ts"
import { orTryAgain } from "../store/Rows.ts"

/**
 * A timestamp may lie 300 seconds ahead when its request is first accepted, and is refused 300 seconds after its own time.
 * One second more than both together, because timestamps are whole seconds.
 */
const rememberedMs = 601_000

/** Bound on signatures in memory. The database still knows a dropped one. */
const maxRemembered = 200_000

const maxWaiting = 10_000
const maxBatch = 1000

/** Bound on signatures removed in one run. */
const maxPruned = 10_000

const tryAgain = refuse("TRY_AGAIN", "The request could not be recorded. Sign it again with a new timestamp.")

/** Gives what it did not write, which is hardly ever anything: an answer of a row for each signature would cost as much as writing it. */
const insertText = `
  WITH written AS (
    INSERT INTO accepted_signatures (signature, accepted_at) SELECT * FROM unnest($1::bytea[], $2::timestamptz[])
    ON CONFLICT DO NOTHING RETURNING signature)
  SELECT encode(signature, 'hex')
  FROM (SELECT unnest($1::bytea[]) AS signature EXCEPT ALL SELECT signature FROM written) AS known`

type Failure = Refusal<"REPLAYED_REQUEST" | "TRY_AGAIN">

interface Accepted {
  readonly signature: string
  readonly acceptedAt: number
}

/**
 * Replay protection: accepted signatures, in memory and, for those of before a restart or of another process, in the database. Signatures are
 * lower-case hex.
 */
export class ReplayStore extends Context.Service<ReplayStore, {
  /** Remembers a signature in memory; false when it is known there. `now` in epoch milliseconds. */
  readonly remember: (signature: string, now: number) => boolean
  /** Begins to write a remembered signature with all that wait. Completes when it is durable; fails when the database knew it. */
  readonly write: (signature: string, now: number) => Effect.Effect<void, Failure>
  /** As `write`, without a fiber: `done` is called once. */
  readonly post: (signature: string, now: number, done: (exit: Exit.Exit<void, Failure>) => void) => void
  /** Removes expired signatures: a bounded number at a time, `hasMore` when it was reached. */
  readonly prune: Effect.Effect<{ readonly done: number; readonly hasMore: boolean }, Refusal<"TRY_AGAIN">>
}>()("pitboss/auth/ReplayStore") {
  static readonly layer = Layer.effect(
    ReplayStore,
    Effect.gen(function*() {
      const sql = yield* ServingClient

      /** When signatures were accepted. */
      const remembered = new RecentMap<string, number>(maxRemembered / 2)

      const remember = (signature: string, now: number): boolean => {
        const acceptedAt = remembered.get(signature)
        if (acceptedAt !== undefined && now - acceptedAt <= rememberedMs) return false
        remembered.set(signature, now)
        return true
      }

      /**
       * Writes signatures; gives those that were known already. Of two equal ones in a batch it gives one, which refuses both: no second one
       * gets here, since `remember` refuses it.
       */
      const insert = (batch: ReadonlyArray<Accepted>) =>
        Effect.map(
          sql.unsafe(insertText, [
            columnArray("bytea", batch, ({ signature }) => Buffer.from(signature, "hex")),
            columnArray("timestamptz", batch, ({ acceptedAt }) => acceptedAt)
          ]).values,
          (rows) => new Set(rows.map(([signature]) => signature))
        )

      const batches = yield* makeBatches<Accepted, void, Failure>(maxBatch, (batch) =>
        insert(batch).pipe(
          Effect.tapError((error) =>
            Effect.annotateLogs(Effect.logWarning("signature recording failed"), { reason: describeSqlError(error) })
          ),
          Effect.exit,
          Effect.map((exit) => ({ signature }) =>
            exit._tag === "Failure"
              ? Exit.fail(tryAgain)
              : exit.value.has(signature)
              ? Exit.fail(replayedRequest)
              : Exit.void
          )
        ))

      const write = (signature: string, now: number): Effect.Effect<void, Failure> =>
        batches.waiting() >= maxWaiting ? Effect.fail(tryAgain) : batches.put({ signature, acceptedAt: now })

      const post: ReplayStore["Service"]["post"] = (signature, now, done) =>
        batches.waiting() >= maxWaiting
          ? done(Exit.fail(tryAgain))
          : batches.post({ signature, acceptedAt: now }, done)

      const prune = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const gone =
          yield* sql`DELETE FROM accepted_signatures WHERE signature IN (SELECT signature FROM accepted_signatures
          WHERE accepted_at < ${toDate(now - rememberedMs)} ORDER BY accepted_at LIMIT ${maxPruned}) RETURNING 1`
        return { done: gone.length, hasMore: gone.length >= maxPruned }
      }).pipe(orTryAgain)

      return ReplayStore.of({ remember, write, post, prune })
    })
  )
}

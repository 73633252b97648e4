import { PgTypes } from "@effect/sql-pg"
import { Clock, Context, Effect, Exit, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type IdempotencyClaim, replyPurpose, type StoredReply } from "../domain/Idempotency.ts"
import { type Refusal, type RefusalCode, refuse } from "../domain/Refusal.ts"
import { describeSqlError, ServingClient } from "../platform/Database.ts"
import { PersonalData } from "../platform/PersonalData.ts"
import { Secrets } from "../platform/Secrets.ts"
import { fromDate, toDate } from "../platform/Time.ts"
import { makeBatches } from "./Batches.ts"
import { orTryAgain, rowsOf } from "./Rows.ts"
import { makeRefusalBudget } from "./RefusalBudget.ts"

/** How long a first answer is given again. */
const keptMs = 24 * 60 * 60_000

const maxRunning = 20_000

const reused = refuse("IDEMPOTENCY_KEY_REUSED", "The idempotency key was used for a different request.")
const inProgress = refuse(
  "IDEMPOTENCY_IN_PROGRESS",
  "A request with this idempotency key is still running. Send it again in a moment."
)
const unreadable = refuse(
  "INVALID_REQUEST",
  "The request was answered under this idempotency key, but its answer cannot be read any more. Nothing was done again. " +
    "Send the request under another key.",
  { reason: "stored_answer_unreadable" }
)
const tooMany = refuse("TRY_AGAIN", "Too many requests are running. Send the same request again.")

/** An answer of a handler. `code` is that of its refusal, undefined when it is none. */
export interface Answer {
  readonly status: number
  readonly code: RefusalCode | undefined
  /** The JSON text of the body. */
  readonly body: string
}

/** What came of a keyed request: the handler's own answer, or the stored one of an earlier request. */
export type Guarded<A> =
  | { readonly _tag: "Answered"; readonly answer: A }
  | { readonly _tag: "Replayed"; readonly reply: StoredReply }

export type GuardRefusal = Refusal<
  "IDEMPOTENCY_KEY_REUSED" | "IDEMPOTENCY_IN_PROGRESS" | "INVALID_REQUEST" | "TRY_AGAIN"
>

/** What is stored under a key. The body is sealed where it holds a secret. */
export interface Kept extends Omit<StoredReply, "body"> {
  readonly body: string | null
  readonly sealed: Uint8Array | null
}

/** Answers that say nothing lasting about the request: the caller may mend the reason and send it again under its key. */
const isKept = ({ code, status }: Answer): boolean =>
  status >= 200 && status < 500 && status !== 401 && status !== 403 && status !== 429 &&
  code !== "IDEMPOTENCY_IN_PROGRESS"

const rows = rowsOf(Schema.Struct({
  scope: Schema.String,
  key: Schema.String,
  fingerprint: Schema.Uint8Array,
  status: Schema.Int,
  body: Schema.NullOr(Schema.String),
  sealed: Schema.NullOr(Schema.Uint8Array),
  createdAt: Schema.Date
}))

type Named = Pick<IdempotencyClaim, "scope" | "key">

const nameOf = ({ key, scope }: Named): string => `${scope}\n${key}`

/** Bound on keys that one statement looks up. */
const maxFound = 500

const findAll = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, named: ReadonlyArray<Named>) {
  const texts = (values: ReadonlyArray<string>) =>
    Effect.orDie(Effect.fromResult(PgTypes.array(values, PgTypes.OID.text)))
  const found = yield* rows(sql`
    SELECT scope, key, fingerprint, status, body, body_sealed AS sealed, created_at AS "createdAt"
    FROM idempotency_keys JOIN unnest(${yield* texts(named.map(({ scope }) => scope))}, ${yield* texts(
    named.map(({ key }) => key)
  )}) AS asked (scope, key) USING (scope, key)`)
  return new Map(found.map((row) => [nameOf(row), { ...row, createdAt: fromDate(row.createdAt) }]))
})

/** Stored answers, each unique under its scope and key. */
export class StoredReplies extends Context.Service<StoredReplies, {
  readonly find: (named: Named) => Effect.Effect<Kept | undefined, SqlError.SqlError>
  /** Inserts an answer, in the transaction that is open if there is one; false when the key has one. */
  readonly insert: (kept: Kept) => Effect.Effect<boolean, SqlError.SqlError>
  /** Removes the answer under a key that was stored at `until` or before. */
  readonly remove: (
    named: Named,
    until: number
  ) => Effect.Effect<void, SqlError.SqlError>
  /** Removes answers that were stored at `until` or before, a number of them at most; gives how many. */
  readonly prune: (until: number, maximum: number) => Effect.Effect<number, SqlError.SqlError>
}>()("pitboss/store/StoredReplies") {
  static readonly layer = Layer.effect(
    StoredReplies,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const serving = yield* ServingClient

      // every keyed request asks before it runs: one statement for all that ask meanwhile
      const finds = yield* makeBatches<Named, Kept | undefined, SqlError.SqlError>(
        maxFound,
        (named) =>
          Effect.map(
            Effect.exit(findAll(serving, named)),
            (exit) => (one) => Exit.map(exit, (found) => found.get(nameOf(one)))
          )
      )

      return StoredReplies.of({
        find: finds.put,
        insert: ({ body, createdAt, fingerprint, key, scope, sealed, status }) =>
          Effect.map(
            sql`
              INSERT INTO idempotency_keys (scope, key, fingerprint, status, body, body_sealed, created_at)
              VALUES (${scope}, ${key}, ${fingerprint}, ${status}, ${body}, ${sealed}, ${toDate(createdAt)})
              ON CONFLICT DO NOTHING
              RETURNING 1`,
            (written) => written.length > 0
          ),
        remove: ({ key, scope }, until) =>
          Effect.asVoid(sql`
            DELETE FROM idempotency_keys WHERE scope = ${scope} AND key = ${key} AND created_at <= ${toDate(until)}`),
        prune: (until, maximum) =>
          Effect.map(
            sql`DELETE FROM idempotency_keys WHERE (scope, key) IN (SELECT scope, key FROM idempotency_keys
              WHERE created_at <= ${toDate(until)} ORDER BY created_at LIMIT ${maximum}) RETURNING 1`,
            (gone) => gone.length
          )
      })
    })
  )
}

const isSame = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, index) => byte === other[index])

/** Replies removed in one run, at most. */
const maxPruned = 10_000

/**
 * Requests that run once (SPEC section 8). A key belongs to its scope, and to the request of its fingerprint.
 *
 * A service whose effect is a transaction of its own inserts the answer with `insert` in that transaction; one whose effect
 * is an actor's commit hands the reply to the actor. Then effect and answer are kept together or not at all, and
 * `noteStored` spares `guard` the attempt to store it again. Whatever was not stored that way, refusals above all, `guard`
 * stores afterwards; refusals only as far as their scope's budget goes. One that is not stored is decided anew when it is sent again,
 * which repeats nothing: a refusal moved nothing.
 */
export class Idempotency extends Context.Service<Idempotency, {
  /**
   * Runs a request unless its key has an answer. Not to be interrupted once `run` has begun; the caller sees to that.
   * When `run` finds at its commit that another process was faster, it answers IDEMPOTENCY_IN_PROGRESS, and the other's
   * answer is given.
   */
  readonly guard: <A extends Answer, E, R>(
    claim: IdempotencyClaim,
    run: Effect.Effect<A, E, R>,
    /** Bytes of refusals that are kept for a scope in a minute. */
    refusalBytesPerMinute?: number
  ) => Effect.Effect<Guarded<A>, E | GuardRefusal, R>
  /** Stores an answer in the transaction that is open; fails when the key has one. */
  readonly insert: (
    reply: StoredReply
  ) => Effect.Effect<void, Refusal<"IDEMPOTENCY_IN_PROGRESS"> | SqlError.SqlError>
  /** Says that the answer to a claim was committed with its effect. */
  readonly noteStored: (claim: IdempotencyClaim) => void
  /** Removes replies that are past their 24 hours: a bounded number at a time, `hasMore` when the bound was met. */
  readonly prune: Effect.Effect<{ readonly done: number; readonly hasMore: boolean }, Refusal<"TRY_AGAIN">>
}>()("pitboss/store/Idempotency") {
  static readonly layerWithoutRepository = Layer.effect(
    Idempotency,
    Effect.gen(function*() {
      const replies = yield* StoredReplies
      const secrets = yield* Secrets
      const personal = yield* PersonalData

      /** Fingerprints of what runs, by scope and key. */
      const running = new Map<string, Uint8Array>()
      const stored = new WeakSet<IdempotencyClaim>()
      const refusals = makeRefusalBudget()

      /** The answer under a key that is still given. An older one is removed, so that the key is free again. */
      const find = Effect.fnUntraced(function*({ key, scope }: IdempotencyClaim) {
        const kept = yield* replies.find({ key, scope })
        if (kept === undefined) return undefined
        const oldest = (yield* Clock.currentTimeMillis) - keptMs
        if (kept.createdAt > oldest) return kept
        yield* replies.remove({ key, scope }, oldest)
        return undefined
      }, orTryAgain)

      /** What a stored answer means for a request that comes with its key. */
      const replay = Effect.fnUntraced(function*(claim: IdempotencyClaim, { body, sealed, ...kept }: Kept) {
        if (!isSame(personal.fingerprint(claim.fingerprint), personal.fingerprint(kept.fingerprint))) {
          return yield* Effect.fail(reused)
        }
        const opened = sealed === null ? body : yield* secrets.openText(replyPurpose(kept), sealed).pipe(
          Effect.catch(() => Effect.as(Effect.logError("stored answer cannot be opened with this MASTER_KEY"), null))
        )
        if (opened === null) return yield* Effect.fail(unreadable)
        return { _tag: "Replayed" as const, reply: { ...kept, body: opened } }
      })

      const write = (reply: StoredReply) => {
        const { body, createdAt, fingerprint, key, scope, status } = reply
        const sealed = reply.isSecret === true ? secrets.seal(replyPurpose(reply), body) : null
        return replies.insert({
          scope,
          key,
          fingerprint,
          status,
          body: sealed === null ? body : null,
          sealed,
          createdAt
        })
      }

      const insert = (reply: StoredReply) =>
        Effect.flatMap(write(reply), (isNew) => isNew ? Effect.void : Effect.fail(inProgress))

      /** Keeps an answer that was not kept with its effect; gives another's that was faster with a refusal. */
      const settle = Effect.fnUntraced(function*<A extends Answer>(
        claim: IdempotencyClaim,
        answer: A,
        refusalBytesPerMinute: number
      ) {
        const answered: Guarded<A> = { _tag: "Answered", answer }
        if (stored.has(claim)) return answered
        if (!isKept(answer)) {
          // Another request may hold the key, or our own commit may have come through with an unknown outcome.
          const isUnsure = answer.status >= 500 || answer.code === "IDEMPOTENCY_IN_PROGRESS"
          const earlier = isUnsure ? yield* find(claim) : undefined
          return earlier === undefined ? answered : yield* replay(claim, earlier)
        }
        const createdAt = yield* Clock.currentTimeMillis
        if (
          answer.code !== undefined && !refusals.take(claim.scope, answer.body.length, refusalBytesPerMinute, createdAt)
        ) {
          return answered
        }
        const isNew = yield* write({ ...claim, status: answer.status, body: answer.body, createdAt })
        if (isNew || answer.code === undefined) return answered
        const earlier = yield* find(claim)
        return earlier === undefined ? answered : yield* replay(claim, earlier)
      })

      const guard = Effect.fnUntraced(function*<A extends Answer, E, R>(
        claim: IdempotencyClaim,
        run: Effect.Effect<A, E, R>,
        refusalBytesPerMinute = Number.POSITIVE_INFINITY
      ) {
        const name = nameOf(claim)
        const current = running.get(name)
        if (current !== undefined) {
          return yield* Effect.fail(isSame(current, claim.fingerprint) ? inProgress : reused)
        }
        if (running.size >= maxRunning) return yield* Effect.fail(tooMany)
        running.set(name, claim.fingerprint)
        return yield* Effect.gen(function*() {
          const earlier = yield* find(claim)
          if (earlier !== undefined) return yield* replay(claim, earlier)
          const answer = yield* run
          return yield* settle(claim, answer, refusalBytesPerMinute).pipe(
            // The answer stands, though a retry may not find it.
            Effect.catch((error) =>
              error._tag === "SqlError" || error.code === "TRY_AGAIN"
                ? Effect.as(
                  Effect.annotateLogs(Effect.logError("answer not stored"), {
                    reason: error._tag === "SqlError" ? describeSqlError(error) : error.message
                  }),
                  { _tag: "Answered" as const, answer }
                )
                : Effect.fail(error)
            )
          )
        }).pipe(Effect.ensuring(Effect.sync(() => running.delete(name))))
      })

      const prune = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const done = yield* replies.prune(now - keptMs, maxPruned)
        return { done, hasMore: done >= maxPruned }
      }).pipe(orTryAgain)

      return Idempotency.of({ guard, insert, noteStored: (claim) => stored.add(claim), prune })
    })
  )

  static readonly layer = Idempotency.layerWithoutRepository.pipe(Layer.provide(StoredReplies.layer))
}

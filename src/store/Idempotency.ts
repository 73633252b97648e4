/** Idempotent requests (SPEC section 8). An idempotency key is bound to its scope and to the fingerprint of its request. */
import { Clock, Context, Effect, Exit, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type IdempotencyClaim, replyPurpose, type StoredReply } from "../domain/state/Idempotency.ts"
import { type Refusal, type RefusalCode, refuse } from "../domain/Refusal.ts"
import { texts } from "../platform/ArrayParameters.ts"
import { describeSqlError, ServingClient } from "../platform/Database.ts"
import { Secrets } from "../platform/Secrets.ts"
import { fromDate, toDate } from "../platform/Time.ts"
import { makeReadBatches } from "./ReadBatches.ts"
import { orTryAgain, rowsOf } from "./Rows.ts"
import { makeRefusalBudget } from "./RefusalBudget.ts"

/** Retention of a stored answer. */
const retentionMs = 24 * 60 * 60_000

const maxRunning = 20_000

const reused = refuse("IDEMPOTENCY_KEY_REUSED", "The idempotency key was used for a different request.")
const inProgress = refuse(
  "IDEMPOTENCY_IN_PROGRESS",
  "A request with this idempotency key is still running. Send it again in a moment."
)
const unreadable = refuse(
  "INVALID_REQUEST",
  "The request was answered under this idempotency key, but the stored response can no longer be read. Nothing was done again. " +
    "Send the request under another key.",
  { reason: "stored_answer_unreadable" }
)
const tooMany = refuse("TRY_AGAIN", "Too many requests are running. Send the same request again.")

/** Answer of a handler. `code` is the code of its refusal, undefined on success. */
export interface Answer {
  readonly status: number
  readonly code: RefusalCode | undefined
  /** JSON text of the body. */
  readonly body: string
}

/** Outcome of a keyed request: the handler's own answer, or the stored one of an earlier request. */
export type Guarded<A> =
  | { readonly _tag: "Answered"; readonly answer: A }
  | { readonly _tag: "Replayed"; readonly reply: StoredReply }

export type GuardRefusal = Refusal<
  "IDEMPOTENCY_KEY_REUSED" | "IDEMPOTENCY_IN_PROGRESS" | "INVALID_REQUEST" | "TRY_AGAIN"
>

/** Stored answer. The body is sealed when it holds a secret. */
export interface KeptReply extends Omit<StoredReply, "body"> {
  readonly body: string | null
  readonly sealed: Uint8Array | null
}

/** False for transient answers: the caller may remove the cause and retry under the same key. */
const isFinal = ({ code, status }: Answer): boolean =>
  status >= 200 && status < 500 && status !== 401 && status !== 403 && status !== 429 &&
  code !== "IDEMPOTENCY_IN_PROGRESS"

const rows = rowsOf(Schema.Struct({
  scope: Schema.String,
  key: Schema.String,
  fingerprint: Schema.Uint8Array,
  status: Schema.Int,
  body: Schema.NullOr(Schema.String),
  sealed: Schema.NullOr(Schema.Uint8Array),
  createdAt: Schema.Date,
  playerId: Schema.NullOr(Schema.Number)
}))

type Named = Pick<IdempotencyClaim, "scope" | "key">

/** Request that holds a key. */
interface Running {
  readonly fingerprint: Uint8Array
  /** It found no stored answer, and acts. */
  hasBegun: boolean
}

const nameOf = ({ key, scope }: Named): string => `${scope}\n${key}`

/** Maximum keys per lookup statement. */
const maxFound = 500

const findAll = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, named: ReadonlyArray<Named>) {
  const found = yield* rows(sql`
    SELECT scope, key, fingerprint, status, body, body_sealed AS sealed, created_at AS "createdAt", player_id::float8 AS "playerId"
    FROM idempotency_keys JOIN unnest(${texts(named.map(({ scope }) => scope))}, ${
    texts(
      named.map(({ key }) => key)
    )
  }) AS asked (scope, key) USING (scope, key)`)
  return new Map(
    found.map((row) => [
      nameOf(row),
      { ...row, createdAt: fromDate(row.createdAt), playerId: row.playerId ?? undefined }
    ])
  )
})

/** Stored answers, each unique under its scope and key. */
export class StoredReplies extends Context.Service<StoredReplies, {
  readonly find: (named: Named) => Effect.Effect<KeptReply | undefined, Refusal<"TRY_AGAIN">>
  /** Inserts an answer, in the open transaction if there is one; false when the key already has one. */
  readonly insert: (kept: KeptReply) => Effect.Effect<boolean, SqlError.SqlError>
  /** Removes the answer under a key if stored at or before `until`. */
  readonly remove: (
    named: Named,
    until: number
  ) => Effect.Effect<void, SqlError.SqlError>
  /** Removes at most `maximum` answers stored at or before `until`; returns the number removed. */
  readonly prune: (until: number, maximum: number) => Effect.Effect<number, SqlError.SqlError>
}>()("pitboss/store/StoredReplies") {
  static readonly layer = Layer.effect(
    StoredReplies,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const serving = yield* ServingClient

      // looked up before every keyed request: batched into one statement
      const finds = yield* makeReadBatches<Named, KeptReply | undefined>({
        maxBatch: maxFound,
        maxWaiting: maxRunning,
        read: (named) =>
          Effect.map(findAll(serving, named), (found) => named.map((one) => Exit.succeed(found.get(nameOf(one)))))
      })

      return StoredReplies.of({
        find: finds.put,
        insert: ({ body, createdAt, fingerprint, key, playerId = null, scope, sealed, status }) =>
          Effect.map(
            sql`
              INSERT INTO idempotency_keys (scope, key, fingerprint, status, body, body_sealed, created_at, player_id)
              VALUES (${scope}, ${key}, ${fingerprint}, ${status}, ${body}, ${sealed}, ${
              toDate(createdAt)
            }, ${playerId})
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

/** Maximum replies removed per run. */
const maxPruned = 10_000

/**
 * A service with a transaction of its own stores the answer by `insert` within it; one that acts through an actor passes the reply to the actor's
 * commit. Effect and answer are then stored atomically, and `noteStored` tells `guard` not to store it again. Other answers, above all refusals, are
 * stored by `guard` afterwards; refusals only within their scope's budget. An answer not stored is decided again on a retry, which is safe: a refusal
 * changed nothing.
 */
export class Idempotency extends Context.Service<Idempotency, {
  /**
   * Runs a request unless its key has an answer. The caller must make it uninterruptible once `run` has begun. When `run` finds at its commit that
   * another process was faster, it answers IDEMPOTENCY_IN_PROGRESS or TRY_AGAIN, and the other's answer is returned.
   */
  readonly guard: <A extends Answer, E, R>(
    claim: IdempotencyClaim,
    run: Effect.Effect<A, E, R>,
    /** Maximum bytes of refusals stored per scope and minute. */
    refusalBytesPerMinute?: number
  ) => Effect.Effect<Guarded<A>, E | GuardRefusal, R>
  /** Stores an answer in the open transaction; fails when the key already has one. */
  readonly insert: (
    reply: StoredReply
  ) => Effect.Effect<void, Refusal<"IDEMPOTENCY_IN_PROGRESS"> | SqlError.SqlError>
  /** Records that the answer to a claim was committed with its effect. */
  readonly noteStored: (claim: IdempotencyClaim) => void
  /** Removes replies older than 24 hours: a bounded number per call, `hasMore` when the bound was reached. */
  readonly prune: Effect.Effect<{ readonly done: number; readonly hasMore: boolean }, Refusal<"TRY_AGAIN">>
}>()("pitboss/store/Idempotency") {
  static readonly layerWithoutRepository = Layer.effect(
    Idempotency,
    Effect.gen(function*() {
      const replies = yield* StoredReplies
      const secrets = yield* Secrets
      // the real one: that of a request is its operator's
      const { currentTimeMillis } = yield* Clock.Clock

      // Kept: running, stored. Idempotency keys whose first request is under way. Several nodes: a request that concerns a player is judged by the
      // player's owner, a bulk action of staff by the key's; for others the unique index lets one be first.
      /** Running requests, by scope and key. */
      const running = new Map<string, Running>()
      const stored = new WeakSet<IdempotencyClaim>()
      const refusals = makeRefusalBudget()

      /** Stored answer under a key. An expired one is removed, so that the key is free again. */
      const find = Effect.fnUntraced(function*({ key, scope }: IdempotencyClaim) {
        const kept = yield* replies.find({ key, scope })
        if (kept === undefined) return undefined
        const oldest = (yield* currentTimeMillis) - retentionMs
        if (kept.createdAt > oldest) return kept
        yield* replies.remove({ key, scope }, oldest)
        return undefined
      }, orTryAgain)

      /** Response to a request whose key has a stored answer. */
      const replay = Effect.fnUntraced(function*(claim: IdempotencyClaim, { body, sealed, ...kept }: KeptReply) {
        if (!isSame(claim.fingerprint, kept.fingerprint)) {
          return yield* Effect.fail(reused)
        }
        const opened = sealed === null ?
          body :
          yield* secrets.openText(replyPurpose(kept), sealed).pipe(
            Effect.catch(() =>
              Effect.as(
                Effect.logError("stored response of an idempotency key cannot be decrypted with this MASTER_KEY"),
                null
              )
            )
          )
        // an answer that was erased with its player is empty; one to another node may be empty by itself
        if (opened === null || opened === "" && kept.playerId !== undefined) return yield* Effect.fail(unreadable)
        return { _tag: "Replayed" as const, reply: { ...kept, body: opened } }
      })

      const write = (reply: StoredReply) => {
        const { body, createdAt, fingerprint, key, playerId, scope, status } = reply
        const sealed = reply.isSecret === true ? secrets.seal(replyPurpose(reply), body) : null
        return replies.insert({
          scope,
          key,
          fingerprint,
          status,
          body: sealed === null ? body : null,
          sealed,
          createdAt,
          playerId
        })
      }

      const insert = (reply: StoredReply) =>
        Effect.flatMap(write(reply), (isNew) => isNew ? Effect.void : Effect.fail(inProgress))

      /** Stores an answer not stored with its effect; a refusal is replaced by the stored answer of a faster request. */
      const settle = Effect.fnUntraced(function*<A extends Answer>(
        claim: IdempotencyClaim,
        answer: A,
        refusalBytesPerMinute: number
      ) {
        const answered: Guarded<A> = { _tag: "Answered", answer }
        if (stored.has(claim)) return answered
        if (!isFinal(answer)) {
          // Another request may hold the key, or the own commit may have succeeded with an unknown outcome.
          const isUnsure = answer.status >= 500 || answer.code === "IDEMPOTENCY_IN_PROGRESS"
          const earlier = isUnsure ? yield* find(claim) : undefined
          return earlier === undefined ? answered : yield* replay(claim, earlier)
        }
        const createdAt = yield* currentTimeMillis
        if (
          answer.code !== undefined && !refusals.take(claim.scope, answer.body.length, refusalBytesPerMinute, createdAt)
        ) {
          return answered
        }
        const isNew = yield* write({ ...claim, status: answer.status, body: answer.body, createdAt })
        // a success is never replaced: the stored one is its own, which an actor commits with the effect and without `noteStored`
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
          // it may itself be a retry that only waits for its stored answer
          const earlier = current.hasBegun ? undefined : yield* find(claim)
          // the answer of one that acts is in the database before the actor hears of the commit and shows its effect
          if (earlier !== undefined && running.get(name)?.hasBegun !== true) return yield* replay(claim, earlier)
          return yield* Effect.fail(isSame(current.fingerprint, claim.fingerprint) ? inProgress : reused)
        }
        if (running.size >= maxRunning) return yield* Effect.fail(tooMany)
        const own: Running = { fingerprint: claim.fingerprint, hasBegun: false }
        running.set(name, own)
        return yield* Effect.gen(function*() {
          const earlier = yield* find(claim)
          if (earlier !== undefined) return yield* replay(claim, earlier)
          own.hasBegun = true
          const answer = yield* run
          return yield* settle(claim, answer, refusalBytesPerMinute).pipe(
            // The answer is returned even though a retry may not find it.
            Effect.catch((error) =>
              error._tag === "SqlError" || error.code === "TRY_AGAIN"
                ? Effect.as(
                  Effect.annotateLogs(Effect.logError("storing the response of an idempotency key failed"), {
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
        const now = yield* currentTimeMillis
        const done = yield* replies.prune(now - retentionMs, maxPruned)
        return { done, hasMore: done >= maxPruned }
      }).pipe(orTryAgain)

      return Idempotency.of({ guard, insert, noteStored: (claim) => stored.add(claim), prune })
    })
  )

  static readonly layer = Idempotency.layerWithoutRepository.pipe(Layer.provide(StoredReplies.layer))
}

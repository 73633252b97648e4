/**
 * Database log of provider calls that moved no money (refused, replayed or ignored) with the answers given, so that support can explain why a win
 * never arrived.
 *
 * Calls are noted in memory after the answer and written in batches every second: no call waits, and a killed process loses its last second. The log
 * is bounded by age, by bytes per operator (oldest removed first) and by bytes per minute, so that neither a retry storm nor an endless sender of
 * refused calls can fill the table or push out other entries. Bets have a quota of their own.
 */
import { Clock, Context, Effect, FiberSet, Layer, Metric, Schedule, Schema, Semaphore } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { Forwarder } from "../../cluster/Forwarder.ts"
import { Instant } from "../../domain/Instant.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import { callKinds, callResults } from "../../domain/settlement/MessageStory.ts"
import { texts } from "../../platform/ArrayParameters.ts"
import { describeSqlError } from "../../platform/Database.ts"
import { Ids } from "../../platform/Ids.ts"
import { registerCounter } from "../../platform/Metrics.ts"
import { toDate } from "../../platform/Time.ts"
import type { Part, PartQuery } from "../../store/Cursors.ts"
import { listOf, newestFirst } from "../../store/Lists.ts"
import { type Scope, within } from "../../store/OperatorScope.ts"
import { PlayerActors } from "../../store/PlayerActors.ts"
import { makeRefusalBudget } from "../../store/RefusalBudget.ts"
import { columnsOf, oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"

const dayMs = 86_400_000

/** Players complain within weeks, and providers compare a month; what moved money stands in `provider_transactions` for ever. */
export const keptForDays = 30

/** Of an operator, for bets and for all others each: some 40,000 calls. */
const defaultMaxBytes = 32 * 1024 * 1024

/** Of an operator, for bets and for all others each, at a node: some 80 calls. */
const bytesPerMinute = 64 * 1024

/** Of one message: some ten calls, so that a storm about one leaves room for others. */
const bytesPerMinuteOfMessage = 8 * 1024

/** Calls that wait to be written; more are dropped. */
const maxWaiting = 2000

const maxBatch = 500

/** What cannot be written for so long is dropped: the database is away, or the batch cannot be stored. */
const giveUpMs = 60_000

/** Longest text of an id, and of an answer, in characters. Ids that are accepted are shorter. */
const maxText = 300
const maxAnswer = 500

/** Bytes of a row and its index entries besides its texts. */
const rowBytes = 400

/** Rows removed by one statement. */
const maxRemoved = 1000

/** Calls shown of one message or round. */
const maxShown = 100

/** Channel between nodes: write what is noted, now. */
const channel = "kept-calls"

/** A call about one message that moved no money. */
const KeptCallRow = Schema.Struct({
  id: Schema.Number,
  /** 0 where the call named no player. */
  operatorId: Schema.Number,
  providerId: Schema.Number,
  playerId: Schema.NullOr(Schema.Number),
  /** The provider's ids. */
  transactionId: Schema.NullOr(Schema.String),
  targetTransactionId: Schema.NullOr(Schema.String),
  gameExternalId: Schema.NullOr(Schema.String),
  roundId: Schema.NullOr(Schema.String),
  kind: Schema.Literals(callKinds),
  /** As the protocol calls it. */
  method: Schema.String,
  /** As sent, signed as it would have moved the player's money. */
  amount: Schema.NullOr(Schema.String),
  currency: Schema.NullOr(Schema.String),
  result: Schema.Literals(callResults),
  code: Schema.NullOr(Schema.String),
  /** The limit or restriction that caused the refusal. */
  reason: Schema.NullOr(Schema.String),
  /** HTTP status and beginning of the answer. */
  status: Schema.Number,
  answer: Schema.String,
  at: Instant
})
export type KeptCall = typeof KeptCallRow.Type

/** A call as it is noted; its operator is its player's. */
export type NotedCall = Omit<KeptCall, "id" | "operatorId">

/** Absent means any. */
export interface KeptCallQuery extends PartQuery {
  readonly playerId?: number | undefined
  readonly providerId?: number | undefined
  readonly transactionId?: string | undefined
  readonly roundId?: string | undefined
  readonly kind?: KeptCall["kind"] | undefined
  readonly result?: KeptCall["result"] | undefined
  /** Epoch milliseconds, both included. */
  readonly from?: number | undefined
  readonly to?: number | undefined
}

interface Waiting {
  readonly call: NotedCall
  readonly bytes: number
}

const dropped = Metric.counter("provider_calls_dropped_total", {
  description: "Refused and replayed calls of providers that were not kept",
  incremental: true
})

const storable = (text: string, max: number): string => text.slice(0, max).toWellFormed().replaceAll("\u0000", "\ufffd")

const storableOrNull = (text: string | null): string | null => text === null ? null : storable(text, maxText)

const bytesOf = ({ transactionId, targetTransactionId, roundId, ...call }: NotedCall): number => {
  const length = (text: string | null) => text === null ? 0 : Buffer.byteLength(text)
  // ids are in an index as well
  return rowBytes + 2 * (length(transactionId) + length(targetTransactionId) + length(roundId)) +
    length(call.gameExternalId) + length(call.method) + length(call.amount) + length(call.reason) + length(call.answer)
}

const stored = (call: NotedCall): NotedCall => ({
  ...call,
  transactionId: storableOrNull(call.transactionId),
  targetTransactionId: storableOrNull(call.targetTransactionId),
  gameExternalId: storableOrNull(call.gameExternalId),
  roundId: storableOrNull(call.roundId),
  method: storable(call.method, maxText),
  amount: storableOrNull(call.amount),
  currency: storableOrNull(call.currency),
  reason: storableOrNull(call.reason),
  answer: storable(call.answer, maxAnswer)
})

const keptRows = rowsOf(KeptCallRow)
const removedRows = rowsOf(Schema.Struct({ removed: Schema.Number }))

export class KeptCalls extends Context.Service<KeptCalls, {
  /** Notes a call, synchronously; beyond a bound it is dropped and counted. */
  readonly note: (call: NotedCall) => void
  /** Writes what was noted; what cannot be written now waits. Done every second. */
  readonly write: Effect.Effect<void>
  /** Removes what is kept for long enough, and the oldest of operators that have too much: a bounded number. */
  readonly prune: Effect.Effect<{ readonly done: number; readonly hasMore: boolean }, Refusal<"TRY_AGAIN">>
  /** Calls of a scope, the newest first. */
  readonly list: (
    scope: Scope,
    query: KeptCallQuery
  ) => Effect.Effect<Part<KeptCall>, Refusal<"VALIDATION_FAILED" | "TRY_AGAIN">>
  /** The last calls that have one of these ids or take one of them back, or name the round, oldest first; of a player if given. */
  readonly about: (
    scope: Scope,
    about: {
      readonly providerId: number
      readonly ids: ReadonlyArray<string>
      readonly round?: { readonly id: string; readonly gameExternalId: string }
      readonly playerId?: number | undefined
    }
  ) => Effect.Effect<ReadonlyArray<KeptCall>, Refusal<"TRY_AGAIN">>
}>()("pitboss/integrations/KeptCalls") {
  /** `maxBytes`: of an operator, for bets and for all others each. */
  static readonly layerOf = ({ maxBytes }: { readonly maxBytes: number }) =>
    Layer.effect(
      KeptCalls,
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const ids = yield* Ids
        const actors = yield* PlayerActors
        const forwarder = yield* Forwarder
        // Kept: fork, turn, waiting, writing. Refused and replayed calls that are not written yet: a second's, 2,000 at most. Several nodes: its own;
        // who reads has all nodes write theirs first; those of a node that is killed are lost.
        const fork = yield* FiberSet.makeRuntime<never>()
        // apart: whoever makes up ids without end would push out the windows of operators
        const ofOperators = makeRefusalBudget()
        const ofMessages = makeRefusalBudget()
        const turn = yield* Semaphore.make(1)
        const waiting: Array<Waiting> = []
        /** A batch that is written, or could not be, and its ids: written again under these, no call is there twice. */
        let writing: { readonly batch: ReadonlyArray<Waiting>; readonly firstId: number } | undefined
        const counts = { rate: 0, full: 0, unwritten: 0 }
        for (const reason of ["rate", "full", "unwritten"] as const) {
          yield* registerCounter(Metric.withAttributes(dropped, { reason }), () => counts[reason])
        }

        const note: KeptCalls["Service"]["note"] = (noted) => {
          if (waiting.length >= maxWaiting) {
            counts.full++
            return
          }
          const call = stored(noted)
          const bytes = bytesOf(call)
          const { at, kind, playerId, providerId, transactionId } = call
          // calls of players who are not in memory have one room
          const operator = playerId === null ? 0 : actors.peek(null, playerId)?.operatorId ?? 0
          const isWithin = ofMessages.take(`${providerId} ${transactionId}`, bytes, bytesPerMinuteOfMessage, at) &&
            ofOperators.take(`${operator} ${kind === "bet"}`, bytes, bytesPerMinute, at)
          if (isWithin) waiting.push({ call, bytes })
          else counts.rate++
        }

        const insert = (batch: ReadonlyArray<Waiting>, firstId: number) => {
          const rows = batch.map(({ bytes, call }, index) => ({
            ...call,
            id: firstId + index,
            bytes,
            at: toDate(call.at)
          }))
          return sql`WITH given AS (
            SELECT g.*, coalesce(a.operator_id, 0) AS operator_id
            FROM jsonb_to_recordset(${
            JSON.stringify(rows)
          }::text::jsonb) AS g (id bigint, bytes int, "providerId" bigint,
              "playerId" bigint, "transactionId" text, "targetTransactionId" text, "gameExternalId" text, "roundId" text,
              kind text, method text, amount text, currency text, result text, code text, reason text, status int, answer text,
              at timestamptz)
            LEFT JOIN accounts a ON a.player_id = g."playerId"
          ), kept AS (
            INSERT INTO kept_calls (id, operator_id, is_bet, provider_id, player_id, transaction_id, target_transaction_id,
              game_external_id, round_id, kind, method, amount, currency, result, code, reason, status, answer, bytes, at)
            SELECT id, operator_id, kind = 'bet', "providerId", "playerId", "transactionId", "targetTransactionId",
              "gameExternalId", "roundId", kind, method, amount, currency, result, code, reason, status, answer, bytes, at
            FROM given ON CONFLICT (id) DO NOTHING RETURNING operator_id, is_bet, bytes
          )
          INSERT INTO kept_call_sizes AS s (operator_id, is_bet, bytes)
          SELECT operator_id, is_bet, sum(bytes) FROM kept GROUP BY operator_id, is_bet ORDER BY operator_id, is_bet
          ON CONFLICT (operator_id, is_bet) DO UPDATE SET bytes = s.bytes + excluded.bytes`
        }

        const writeBatch = Effect.gen(function*() {
          const count = Math.min(waiting.length, maxBatch)
          const { batch, firstId } = writing ?? (yield* Effect.map(
            ids.reserve(count),
            // set with what leaves the queue: an interruption loses nothing
            (firstId) => (writing = { batch: waiting.splice(0, count), firstId })
          ))
          yield* insert(batch, firstId).pipe(Effect.tapError(Effect.fnUntraced(function*(error) {
            const now = yield* Clock.currentTimeMillis
            if (now - (batch[0]?.call.at ?? now) < giveUpMs) return
            writing = undefined
            counts.unwritten += batch.length
            yield* Effect.annotateLogs(Effect.logWarning("storing provider calls that moved no money failed"), {
              calls: batch.length,
              reason: describeSqlError(error)
            })
          })))
          writing = undefined
        })

        const write = Effect.whileLoop({
          while: () => writing !== undefined || waiting.length > 0,
          body: () => writeBatch,
          step: () => undefined
        }).pipe(Effect.ignore, turn.withPermits(1))
        yield* Effect.addFinalizer(() => Effect.timeoutOption(write, "5 seconds"))
        yield* Effect.forkScoped(Effect.repeat(write, Schedule.spaced("1 second")))

        // who reads sees what any node has noted; one that does not answer in time is left out
        forwarder.serve(channel, (_, done) =>
          void fork(Effect.ensuring(write, Effect.sync(() => done({ status: 200, head: "", body: "" })))))
        const writeAll = forwarder.sendToAll(channel, { head: "", body: "" }, { isRepeatable: true, timeoutMs: 2000 })

        /** Removes calls, and what they count for. */
        const remove = (chosen: Statement.Fragment) =>
          Effect.map(
            oneOf(removedRows(
              sql`WITH gone AS (
              DELETE FROM kept_calls WHERE id IN (${chosen}) RETURNING operator_id, is_bet, bytes
            ), freed AS (
              SELECT operator_id, is_bet, sum(bytes) AS bytes FROM gone GROUP BY operator_id, is_bet
            ), sized AS (
              UPDATE kept_call_sizes s SET bytes = s.bytes - f.bytes FROM freed f
              WHERE s.operator_id = f.operator_id AND s.is_bet = f.is_bet
            )
            SELECT count(*)::float8 AS removed FROM gone`
            )),
            (row) =>
              row?.removed ?? 0
          )

        const prune = Effect.gen(function*() {
          const now = yield* Clock.currentTimeMillis
          const expired = yield* remove(
            sql`SELECT id FROM kept_calls WHERE at < ${
              toDate(now - keptForDays * dayMs)
            } ORDER BY at LIMIT ${maxRemoved}`
          )
          // one operator at a time, its oldest calls up to what is too much
          const excess = yield* remove(
            sql`SELECT id FROM (
              SELECT k.id, o.excess, sum(k.bytes) OVER (ORDER BY k.at, k.id) - k.bytes AS older FROM (
                SELECT operator_id, is_bet, bytes - ${maxBytes}::float8::bigint AS excess FROM kept_call_sizes
                WHERE bytes > ${maxBytes}::float8::bigint ORDER BY bytes DESC LIMIT 1
              ) o CROSS JOIN LATERAL (
                SELECT id, at, bytes FROM kept_calls WHERE operator_id = o.operator_id AND is_bet = o.is_bet
                ORDER BY at, id LIMIT ${maxRemoved}
              ) k
            ) oldest WHERE older < excess`
          )
          return { done: expired + excess, hasMore: expired >= maxRemoved || excess > 0 }
        }).pipe(orTryAgain, Effect.withSpan("KeptCalls.prune"))

        const columns = sql.literal(columnsOf(KeptCallRow, "k"))
        const read = (where: Statement.Fragment, end: Statement.Fragment) =>
          keptRows(sql`SELECT ${columns} FROM kept_calls k WHERE ${where} ${end}`)

        const listed = listOf<KeptCall, Omit<KeptCallQuery, keyof PartQuery>, "newest">(sql, {
          read,
          operator: "k.operator_id",
          filters: {
            playerId: (value) => sql`k.player_id = ${value}::float8::bigint`,
            providerId: (value) => sql`k.provider_id = ${value}::float8::bigint`,
            transactionId: (value) => sql`k.transaction_id = ${value}`,
            roundId: (value) => sql`k.round_id = ${value}`,
            kind: (value) => sql`k.kind = ${value}`,
            result: (value) => sql`k.result = ${value}`,
            from: (value) => sql`k.at >= ${toDate(value)}`,
            to: (value) => sql`k.at <= ${toDate(value)}`
          },
          orders: { newest: newestFirst("k.at", "k.id", ({ at }) => at) }
        })

        const list: KeptCalls["Service"]["list"] = Effect.fn("KeptCalls.list")(
          function*(scope, query) {
            yield* writeAll
            return yield* listed.part(scope, query, "newest")
          },
          orTryAgain
        )

        const about: KeptCalls["Service"]["about"] = Effect.fn("KeptCalls.about")(
          function*(scope, { ids: named, playerId, providerId, round }) {
            yield* writeAll
            const ids = texts(named)
            const found = yield* read(
              sql.and([
                sql`k.provider_id = ${providerId}::float8::bigint`,
                sql.or([
                  sql`k.transaction_id = ANY(${ids})`,
                  sql`k.target_transaction_id = ANY(${ids})`,
                  ...(round === undefined ? [] : [
                    sql`(k.round_id = ${round.id} AND (k.game_external_id IS NULL OR k.game_external_id = ${round.gameExternalId}))`
                  ])
                ]),
                ...(playerId === undefined ? [] : [sql`k.player_id = ${playerId}::float8::bigint`]),
                ...within(sql, scope, "k.operator_id")
              ]),
              sql`ORDER BY k.at DESC, k.id DESC LIMIT ${maxShown}`
            )
            return found.toReversed()
          },
          orTryAgain
        )

        return KeptCalls.of({ note, write, prune, list, about })
      })
    )

  static readonly layer = KeptCalls.layerOf({ maxBytes: defaultMaxBytes })
}

/**
 * Rounds open for more than 24 hours, for reconciliation with their providers.
 *
 * A walk over the rounds in opening order visits each of them once and notes the open ones; noted rounds are removed once closed. So no index has to
 * track every round from its bet to its end.
 */
import { Clock, Context, Effect, Layer, Metric, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Instant } from "../../domain/Instant.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import { inTransaction } from "../../platform/InTransaction.ts"
import { toDate } from "../../platform/Time.ts"
import { ClockOwner, ofClock } from "../../store/OperatorClocks.ts"
import type { Scope } from "../../store/OperatorScope.ts"
import type { Part, PartQuery } from "../../store/Cursors.ts"
import { listOf } from "../../store/Lists.ts"
import { columnsOf, oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"

const hourMs = 3_600_000

/** A round that is open for this long is noted and warned about. */
const staleAfterMs = 24 * hourMs

/** One that is open for this long is up for reconciliation with its provider. */
export const reconcileAfterMs = 48 * hourMs

/** How much of time one run walks over, at most: it bounds the work when the service was away for long. */
const strideMs = hourMs

const openRounds = Metric.gauge("rounds_open_late", { description: "Rounds open for more than 24 hours" })
const oldRounds = Metric.gauge("rounds_open_to_reconcile", {
  description: "Rounds open for more than 48 hours: to be reconciled with their providers"
})

/** A round without an end. Minor units; instants are epoch milliseconds. */
const StaleRound = Schema.Struct({
  operatorId: Schema.Number,
  playerId: Schema.Number,
  gameId: Schema.Number,
  game: Schema.String,
  provider: Schema.String,
  roundId: Schema.String,
  realStake: Schema.Number,
  bonusStake: Schema.Number,
  currency: Schema.String,
  openedAt: Instant
})

export type StaleRound = typeof StaleRound.Type

const roundRows = rowsOf(StaleRound)
const positionRows = rowsOf(Schema.Struct({ openedBefore: Schema.NullOr(Schema.Date) }))
const sumRows = rowsOf(Schema.Struct({ stale: Schema.Number, old: Schema.Number }))

export class StaleRounds extends Context.Service<StaleRounds, {
  /** Rounds open for `olderThanMs` or longer, the oldest first, of the operators of a scope. */
  readonly list: (
    scope: Scope,
    query: PartQuery & { readonly olderThanMs: number }
  ) => Effect.Effect<Part<StaleRound>, Refusal<"VALIDATION_FAILED" | "TRY_AGAIN">>
  /** Scans the next rounds, removes closed ones, and warns while stale ones remain. Idempotent. */
  readonly run: Effect.Effect<{ readonly done: number; readonly hasMore: boolean }, Refusal<"TRY_AGAIN">>
}>()("pitboss/settlement/StaleRounds") {
  static readonly layer = Layer.effect(
    StaleRounds,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const columns = sql.literal(columnsOf(StaleRound, "s", {
        game: "g.name",
        provider: "p.slug",
        realStake: "r.real_stake",
        bonusStake: "r.bonus_stake",
        currency: "pl.currency"
      }))

      const listed = listOf<StaleRound, { readonly openedUntil: number }, "oldest">(sql, {
        read: (where, end) =>
          roundRows(
            sql`SELECT ${columns} FROM stale_rounds s
            JOIN rounds r ON r.player_id = s.player_id AND r.game_id = s.game_id AND r.round_id = s.round_id AND NOT r.closed
            JOIN players pl ON pl.id = s.player_id JOIN games g ON g.id = s.game_id JOIN providers p ON p.id = g.provider_id
            WHERE ${where} ${end}`
          ),
        operator: "s.operator_id",
        filters: { openedUntil: (value) => sql`s.opened_at <= ${toDate(value)}` },
        orders: {
          oldest: {
            keys: [
              { column: "s.opened_at", kind: "instant", of: ({ openedAt }) => openedAt },
              { column: "s.player_id", kind: "integer", of: ({ playerId }) => playerId },
              { column: "s.game_id", kind: "integer", of: ({ gameId }) => gameId },
              { column: "s.round_id", kind: "text", of: ({ roundId }) => roundId }
            ]
          }
        }
      })

      const list: StaleRounds["Service"]["list"] = Effect.fn("StaleRounds.list")(
        function*(scope, { olderThanMs, ...query }) {
          const now = yield* Clock.currentTimeMillis
          return yield* listed.part(scope, { openedUntil: now - olderThanMs, ...query }, "oldest")
        },
        orTryAgain
      )

      /** Those of one operator, by its clock: without a walk, which is of all. */
      const noteOf = Effect.fnUntraced(function*(operatorId: number) {
        const now = yield* Clock.currentTimeMillis
        const noted = yield* sql`
          INSERT INTO stale_rounds (player_id, game_id, round_id, operator_id, opened_at)
          SELECT r.player_id, r.game_id, r.round_id, a.operator_id, r.opened_at
          FROM accounts a JOIN rounds r ON r.player_id = a.player_id
          WHERE a.operator_id = ${operatorId} AND r.opened_at < ${toDate(now - staleAfterMs)} AND NOT r.closed
          ON CONFLICT DO NOTHING RETURNING 1`
        return { done: noted.length, hasMore: false }
      })

      const walk = inTransaction(sql)(Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const own = yield* ofClock(sql, "a.operator_id")
        // the walk's position; at the very beginning, the first round
        const position = yield* oneOf(positionRows(
          sql`SELECT coalesce((SELECT opened_before FROM stale_rounds_walk),
            (SELECT min(opened_at) FROM rounds)) AS "openedBefore"`
        ))
        const from = position?.openedBefore?.getTime() ?? now - staleAfterMs
        const to = Math.min(now - staleAfterMs, from + strideMs)
        const noted = to <= from ? 0 : (yield* sql`
          INSERT INTO stale_rounds (player_id, game_id, round_id, operator_id, opened_at)
          SELECT r.player_id, r.game_id, r.round_id, a.operator_id, r.opened_at
          FROM rounds r JOIN accounts a ON a.player_id = r.player_id
          WHERE r.opened_at >= ${toDate(from)} AND r.opened_at < ${toDate(to)} AND NOT r.closed AND ${own}
          ON CONFLICT DO NOTHING RETURNING 1`).length
        if (to > from) {
          yield* sql`INSERT INTO stale_rounds_walk (opened_before) VALUES (${toDate(to)})
            ON CONFLICT (id) DO UPDATE SET opened_before = greatest(stale_rounds_walk.opened_before, excluded.opened_before)`
        }
        const removed = (yield* sql`DELETE FROM stale_rounds s USING rounds r
          WHERE r.player_id = s.player_id AND r.game_id = s.game_id AND r.round_id = s.round_id AND r.closed
          RETURNING 1`).length
        const left = yield* oneOf(sumRows(
          sql`SELECT count(*) AS stale,
            count(*) FILTER (WHERE opened_at <= ${toDate(now - reconcileAfterMs)})::float8 AS old FROM stale_rounds`
        ))
        const stale = left?.stale ?? 0
        const old = left?.old ?? 0
        yield* Metric.update(openRounds, stale)
        yield* Metric.update(oldRounds, old)
        if (noted > 0) {
          yield* Effect.annotateLogs(Effect.logWarning("rounds open for more than 24 h"), {
            found: noted,
            open_for_a_day: stale,
            open_for_two_days: old
          })
        }
        return { done: noted + removed, hasMore: to > from && to < now - staleAfterMs }
      }))
      const run = Effect.flatMap(ClockOwner, (owner): typeof walk => owner === null ? walk : noteOf(owner)).pipe(
        orTryAgain,
        Effect.withSpan("StaleRounds.run")
      )

      return StaleRounds.of({ list, run })
    })
  )
}

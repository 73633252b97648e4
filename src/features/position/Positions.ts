/**
 * Player positions (stakes, wins, deposits, withdrawals) and reality checks: the running session from the player's actor, periods and lifetime from
 * ledger and payments.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import type { Position as PositionResource, RealityCheck } from "../../contract/position/PositionResource.ts"
import { realityCheckFields, type SetRealityCheck, setRealityCheckStep } from "../../domain/limit/RealityCheck.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { sessionFields } from "../../domain/state/PlaySession.ts"
import { windowStart } from "../../domain/state/Windows.ts"
import { makeConcurrencyLimit } from "../../platform/ConcurrencyLimit.ts"
import { ServingClient } from "../../platform/Database.ts"
import { toDate } from "../../platform/Time.ts"
import { entriesBefore } from "../../store/EntriesBefore.ts"
import { type ActorRefusal, PlayerActors } from "../../store/PlayerActors.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"

type Position = typeof PositionResource.Type

const rollingMs = 30 * 86_400_000

/** Positions read at the same time, and those that may wait: a month of a busy player is some ten thousand entries. */
const bounds = { maxRunning: 4, maxWaiting: 200, maxWait: "5 seconds" } as const

const tooMany = refuse("TRY_AGAIN", "Too many position queries are running. Send the same request again.", {
  retry: "same_request"
})

const turnover = { staked: Schema.Number, won: Schema.Number, deposits: Schema.Number, withdrawals: Schema.Number }

const sums = rowsOf(Schema.Struct({
  day: Schema.Struct(turnover),
  month: Schema.Struct(turnover),
  /** With those before an import. */
  deposited: Schema.Number,
  /** Before an import, beside what the account counts. */
  withdrawnBefore: Schema.Number
}))

export class Positions extends Context.Service<Positions, {
  /** What a player has staked, won, paid in and taken out. */
  readonly get: (operatorId: number, playerId: number) => Effect.Effect<Position, ActorRefusal>
  /** The player's reality check, of any operator where that is null. */
  readonly realityCheck: (
    operatorId: number | null,
    playerId: number
  ) => Effect.Effect<typeof RealityCheck.Type, ActorRefusal>
  /** Sets or removes the player's own interval. */
  readonly setRealityCheck: (
    operatorId: number,
    playerId: number,
    command: SetRealityCheck
  ) => Effect.Effect<typeof RealityCheck.Type, Refusal<"VALIDATION_FAILED"> | ActorRefusal>
}>()("pitboss/position/Positions") {
  static readonly layer = Layer.effect(
    Positions,
    Effect.gen(function*() {
      const sql = yield* ServingClient
      const actors = yield* PlayerActors
      const limit = yield* makeConcurrencyLimit(bounds)

      /** Turnover since two instants, the later first, and all deposits. The entries of a period are a stretch of the primary key. */
      const read = (playerId: number, day: number, month: number) => {
        const [player, since] = [sql`${playerId}::float8::bigint`, sql`${toDate(month)}::timestamptz`]
        const ofDay = sql`created_at >= ${toDate(day)}::timestamptz`
        return sums(sql`
          WITH RECURSIVE ${entriesBefore(sql, sql`FROM accounts WHERE player_id = ${player}`, since)}, moved AS (
            SELECT created_at, amount, type = 'casino_bet' OR type = 'casino_rollback' AND amount > 0 AS is_stake
            FROM ledger_entries WHERE player_id = ${player} AND seq > (SELECT low FROM halving WHERE low = high)
              AND type IN ('casino_bet', 'casino_win', 'casino_rollback', 'tournament_prize') AND created_at >= ${since}
          ), play AS (
            SELECT coalesce(-sum(amount) FILTER (WHERE is_stake), 0)::float8 AS staked,
              coalesce(sum(amount) FILTER (WHERE NOT is_stake), 0)::float8 AS won,
              coalesce(-sum(amount) FILTER (WHERE is_stake AND ${ofDay}), 0)::float8 AS staked_day,
              coalesce(sum(amount) FILTER (WHERE NOT is_stake AND ${ofDay}), 0)::float8 AS won_day
            FROM moved
          ), paid AS (
            SELECT created_at, amount, type = 'deposit' AS is_deposit FROM payment_requests
            WHERE player_id = ${player} AND (type = 'deposit' AND status = 'paid' AND NOT is_reversed
              OR type = 'withdrawal' AND status NOT IN ('rejected', 'cancelled') AND created_at >= ${since})
          ), payments AS (
            SELECT coalesce(sum(amount) FILTER (WHERE is_deposit), 0)::float8 AS deposited,
              coalesce(sum(amount) FILTER (WHERE is_deposit AND created_at >= ${since}), 0)::float8 AS deposits,
              coalesce(sum(amount) FILTER (WHERE NOT is_deposit), 0)::float8 AS withdrawals,
              coalesce(sum(amount) FILTER (WHERE is_deposit AND ${ofDay}), 0)::float8 AS deposits_day,
              coalesce(sum(amount) FILTER (WHERE NOT is_deposit AND ${ofDay}), 0)::float8 AS withdrawals_day
            FROM paid
          )
          SELECT deposited + coalesce((SELECT lifetime_deposits FROM imported_players WHERE player_id = ${player}), 0)::float8 AS deposited,
            coalesce((SELECT lifetime_withdrawals - unverified_withdrawn FROM imported_players WHERE player_id = ${player}), 0)::float8
              AS "withdrawnBefore",
            jsonb_build_object('staked', staked_day, 'won', won_day, 'deposits', deposits_day, 'withdrawals', withdrawals_day) AS day,
            jsonb_build_object('staked', staked, 'won', won, 'deposits', deposits, 'withdrawals', withdrawals) AS month
          FROM play, payments`)
      }

      const get = Effect.fn("Positions.get")(function*(operatorId: number, playerId: number) {
        const player = yield* actors.read(operatorId, playerId)
        const now = yield* Clock.currentTimeMillis
        const found = yield* oneOf(read(playerId, windowStart("day", now), now - rollingMs)).pipe(limit(tooMany))
        if (found === undefined) return yield* Effect.die("an aggregate has a row")
        const { currency, withdrawn } = player
        const flow = (deposits: number, withdrawals: number) => ({
          deposits,
          withdrawals,
          net_deposits: deposits - withdrawals
        })
        const shown = ({ deposits, staked, withdrawals, won }: typeof found.day) => ({
          ...flow(deposits, withdrawals),
          staked,
          won,
          net: won - staked
        })
        return {
          currency,
          session: sessionFields(player, now),
          day: shown(found.day),
          rolling_30_days: shown(found.month),
          lifetime: flow(found.deposited, withdrawn + found.withdrawnBefore)
        }
      }, orTryAgain)

      const shownNow = (player: Parameters<typeof realityCheckFields>[0]) =>
        Effect.map(Clock.currentTimeMillis, (now) => realityCheckFields(player, now))

      return Positions.of({
        get,
        realityCheck: Effect.fn("Positions.realityCheck")((operatorId, playerId) =>
          Effect.flatMap(actors.read(operatorId, playerId), shownNow)
        ),
        setRealityCheck: Effect.fn("Positions.setRealityCheck")((operatorId, playerId, command) =>
          Effect.flatMap(actors.ask(operatorId, playerId, setRealityCheckStep(command)), shownNow)
        )
      })
    })
  )
}

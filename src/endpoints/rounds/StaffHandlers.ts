/** Staff API handlers for game rounds and provider messages. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { CurrentStaff } from "../../contract/common/StaffMiddleware.ts"
import { mapPart } from "../../store/Cursors.ts"
import { cursorPaged, walked } from "../../http/Page.ts"
import { asStaff, enveloped } from "../../http/StaffEnvelope.ts"
import { iso, periodOf } from "../../platform/Time.ts"
import { Operators } from "../../features/operators/Operators.ts"
import { reconcileAfterMs, type StaleRound, StaleRounds } from "../../features/settlement/StaleRounds.ts"
import { MessageRecords } from "../../features/rounds/MessageRecords.ts"
import { RoundRecords } from "../../features/rounds/RoundRecords.ts"

const hourMs = 3_600_000

const roundFields = (round: StaleRound) => ({
  operator_id: round.operatorId,
  player_id: round.playerId,
  provider: round.provider,
  game_id: round.gameId,
  game: round.game,
  round_id: round.roundId,
  real_stake: round.realStake,
  bonus_stake: round.bonusStake,
  currency: round.currency,
  opened_at: iso(round.openedAt)
})

export const RoundHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "round",
  Effect.fnUntraced(function*(handlers) {
    const stale = yield* StaleRounds
    const rounds = yield* RoundRecords
    const messages = yield* MessageRecords
    const operators = yield* Operators
    return handlers
      .handle("list", ({ query }) =>
        Effect.gen(function*() {
          const scope = yield* operators.scope(yield* CurrentStaff, query.operator)
          const { cursor, older_than_hours: hours, per_page: limit } = query
          const olderThanMs = hours === undefined ? reconcileAfterMs : hours * hourMs
          return yield* walked(limit, mapPart(yield* stale.list(scope, { cursor, limit, olderThanMs }), roundFields))
        }))
      .handle("search", ({ query }) =>
        Effect.gen(function*() {
          const scope = yield* operators.scope(yield* CurrentStaff, query.operator)
          const { cursor, game, limit, player: playerId, provider, state, transaction } = query
          return cursorPaged(
            limit,
            yield* rounds.search({
              scope,
              playerId,
              provider,
              game,
              transaction,
              state,
              limit,
              cursor,
              ...periodOf(query)
            })
          )
        }))
      .handle(
        "message",
        ({ params, query }) =>
          asStaff(({ operators: scope }) =>
            messages.show(scope, { ...params, isEntry: query.by === "entry", playerId: query.player })
          )
      )
      .handle("calls", ({ query }) =>
        Effect.gen(function*() {
          const { cursor, kind, limit, player: playerId, provider, result, round, transaction } = query
          const scope = yield* operators.scope(yield* CurrentStaff, query.operator)
          return cursorPaged(
            limit,
            yield* messages.calls({
              scope,
              playerId,
              provider,
              transaction,
              round,
              kind,
              result,
              limit,
              cursor,
              ...periodOf(query)
            })
          )
        }))
      .handle("show", ({ params, query }) =>
        enveloped(Effect.gen(function*() {
          const { operators: scope } = yield* CurrentStaff
          const { game, provider, round: roundId } = params
          return yield* rounds.show(scope, { provider, game, roundId, playerId: query.player })
        })))
      .handle("close", ({ params, payload }) =>
        asStaff(({ label, operators: scope }) => {
          const { game, provider, round: roundId } = params
          const { player: playerId, reason } = payload
          return rounds.close(scope, { provider, game, roundId, playerId }, { reason, actor: label })
        }))
  })
)

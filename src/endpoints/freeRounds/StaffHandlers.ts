/** Staff API handlers for free rounds. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { walked } from "../../http/Page.ts"
import { asStaff } from "../../http/StaffEnvelope.ts"
import { FreeRounds } from "../../features/freeRounds/FreeRounds.ts"

export const StaffFreeRoundsHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "free_rounds",
  Effect.fnUntraced(function*(handlers) {
    const freeRounds = yield* FreeRounds
    return handlers
      .handle("issue", ({ payload }) =>
        asStaff((actor) =>
          freeRounds.staffIssue(payload.player, {
            gameId: payload.game,
            rounds: payload.rounds,
            stake: payload.stake,
            validDays: payload.valid_days
          }, actor)
        ))
      .handle("cancel", ({ params }) => asStaff((actor) => freeRounds.cancel(null, params.free_rounds, actor)))
      .handle("list", ({ query }) =>
        Effect.gen(function*() {
          const { cursor, per_page: limit, player } = query
          return yield* walked(limit, yield* freeRounds.walk(player, { limit, cursor }))
        }))
  })
)

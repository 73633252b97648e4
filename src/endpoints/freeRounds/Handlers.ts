/** Operator API handlers for free rounds. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../contract/Api.ts"
import { CurrentClaim, CurrentOperator } from "../../contract/common/Middleware.ts"
import { paginated } from "../../http/Page.ts"
import { jsonResponse } from "../../http/Refusals.ts"
import { FreeRounds } from "../../features/freeRounds/FreeRounds.ts"

const render = (data: object) => ({ status: 201, body: JSON.stringify({ data }) })

export const FreeRoundsHandlers = HttpApiBuilder.group(
  Api,
  "free_rounds",
  Effect.fnUntraced(function*(handlers) {
    const freeRounds = yield* FreeRounds
    return handlers
      .handle("list", ({ params, query }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          const { page, per_page: perPage } = query
          const { items, total } = yield* freeRounds.list(operator.id, params.player, { page, perPage })
          return yield* paginated(query, total, items)
        }))
      .handle("issue", ({ params, payload }) =>
        Effect.gen(function*() {
          const { apiKey, operator } = yield* CurrentOperator
          const issued = yield* freeRounds.issue(
            operator.id,
            params.player,
            {
              gameId: payload.game_id,
              rounds: payload.rounds,
              stake: payload.stake,
              validDays: payload.valid_days
            },
            { label: `key:${apiKey.key}` },
            { claim: yield* CurrentClaim, render }
          )
          const { body, status } = render(issued)
          return jsonResponse(status, body)
        }), { uninterruptible: true })
      .handle("cancel", ({ params }) =>
        Effect.gen(function*() {
          const { apiKey, operator } = yield* CurrentOperator
          const owner = { operatorId: operator.id, playerId: params.player }
          return { data: yield* freeRounds.cancel(owner, params.free_rounds, { label: `key:${apiKey.key}` }) }
        }), { uninterruptible: true })
  })
)

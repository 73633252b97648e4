/** Operator API handlers for a player's position (stakes, wins, deposits, withdrawals) and reality checks. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../contract/Api.ts"
import { CurrentOperator } from "../../contract/common/Middleware.ts"
import { Positions } from "../../features/position/Positions.ts"

export const PositionHandlers = HttpApiBuilder.group(
  Api,
  "position",
  Effect.fnUntraced(function*(handlers) {
    const positions = yield* Positions
    return handlers
      .handle("get", ({ params }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          return { data: yield* positions.get(operator.id, params.player) }
        }))
      .handle("realityCheck", ({ params }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          return { data: yield* positions.realityCheck(operator.id, params.player) }
        }))
      .handle("setRealityCheck", ({ params, payload: { interval } }) =>
        Effect.gen(function*() {
          const { apiKey, operator } = yield* CurrentOperator
          const command = { interval, actor: `key:${apiKey.key}` }
          return { data: yield* positions.setRealityCheck(operator.id, params.player, command) }
        }))
  })
)

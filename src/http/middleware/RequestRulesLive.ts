import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { CurrentOperator, PlayerRequestRules, RequestRules } from "../../contract/Middleware.ts"
import { refuse } from "../../domain/Refusal.ts"
import { withFormRules } from "../FormRules.ts"
import { PathResources } from "../PathResources.ts"

const notFound = (name: string) => refuse("NOT_FOUND", `There is no such ${name}.`)

/** Bad requests about what is not there are NOT_FOUND; the others say what is wrong with them. */
export const RequestRulesLive = Layer.effect(
  RequestRules,
  Effect.gen(function*() {
    const resources = yield* PathResources

    const checkPath = Effect.gen(function*() {
      const { operator } = yield* CurrentOperator
      const { game, player } = yield* HttpRouter.params
      if (player !== undefined && !(yield* resources.hasPlayer(operator.id, Number(player)))) {
        return yield* Effect.fail(notFound("player"))
      }
      if (game !== undefined && !(yield* resources.hasGame(Number(game)))) return yield* Effect.fail(notFound("game"))
    })

    return RequestRules.of((handler) => withFormRules(handler, checkPath))
  })
)

/** The player is the token's own and there; only a game can be missing. */
export const PlayerRequestRulesLive = Layer.effect(
  PlayerRequestRules,
  Effect.gen(function*() {
    const resources = yield* PathResources

    const checkPath = Effect.gen(function*() {
      const { game } = yield* HttpRouter.params
      if (game !== undefined && !(yield* resources.hasGame(Number(game)))) return yield* Effect.fail(notFound("game"))
    })

    return PlayerRequestRules.of((handler) => withFormRules(handler, checkPath))
  })
)

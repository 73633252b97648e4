/** Refuses a malformed request about a missing player or game with NOT_FOUND, any other with its validation errors. */
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { CurrentOperator, PlayerRequestRules, RequestRules } from "../../contract/common/Middleware.ts"
import { refuse } from "../../domain/Refusal.ts"
import { withFormRules } from "../FormRules.ts"
import { PathResources } from "../PathResources.ts"

const notFound = (name: string) => refuse("NOT_FOUND", `There is no such ${name}.`)

const checkGame = Effect.fnUntraced(function*(resources: PathResources["Service"]) {
  const { game } = yield* HttpRouter.params
  if (game !== undefined && !(yield* resources.hasGame(Number(game)))) return yield* Effect.fail(notFound("game"))
})

export const RequestRulesLive = Layer.effect(
  RequestRules,
  Effect.map(PathResources, (resources) => {
    const checkPath = Effect.gen(function*() {
      const { operator } = yield* CurrentOperator
      const { player } = yield* HttpRouter.params
      if (player !== undefined && !(yield* resources.hasPlayer(operator.id, Number(player)))) {
        return yield* Effect.fail(notFound("player"))
      }
      yield* checkGame(resources)
    })
    return RequestRules.of((handler, { endpoint }) => withFormRules(handler, { checkPath, endpoint }))
  })
)

/** Names of a player that a front end may send along: whose data it is says the token alone. */
const playerNames = ["player", "player_id"]

/** For players: the player is the token's and exists; only a game can be missing. */
export const PlayerRequestRulesLive = Layer.effect(
  PlayerRequestRules,
  Effect.map(
    PathResources,
    (resources) =>
      PlayerRequestRules.of((handler, { endpoint }) =>
        withFormRules(handler, { checkPath: checkGame(resources), endpoint, ignored: playerNames })
      )
  )
)

/** Operator API handlers for the game catalogue and game launches. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api, OperatorApi } from "../../contract/Api.ts"
import { idInPath } from "../../contract/common/Fields.ts"
import { LaunchOptions } from "../../contract/games/Api.ts"
import { CurrentClaim, CurrentOperator } from "../../contract/common/Middleware.ts"
import { gameFields } from "../../features/games/Game.ts"
import { Games } from "../../features/games/Games.ts"
import { type LaunchedGame, Launches } from "../../features/launches/Launches.ts"
import type { LaunchRequest } from "../../features/launches/VendorLaunches.ts"
import { iso } from "../../platform/Time.ts"
import { Endpoints } from "../../http/Endpoints.ts"
import { optionalBody } from "../../http/FormRules.ts"
import { jsonResponse } from "../../http/Refusals.ts"
import { paginated } from "../../http/Page.ts"

/** The response to a launch (SPEC section 4.5). */
export const renderLaunch = (launched: LaunchedGame) => ({
  status: 200,
  body: JSON.stringify({
    data: {
      mode: launched.mode,
      game_id: launched.gameId,
      launch_url: launched.launchUrl,
      session_token: launched.sessionToken,
      expires_at: iso(launched.expiresAt),
      is_original: launched.isOriginal
    }
  })
})

const launchOptions = optionalBody(LaunchOptions)

const toLaunchRequest = ({ ip, mode, platform }: typeof LaunchOptions.Type): LaunchRequest => ({
  mode: mode ?? "real",
  platform: platform ?? null,
  ip: ip ?? null
})

export const GamesHandlers = HttpApiBuilder.group(
  Api,
  "games",
  Effect.fnUntraced(function*(handlers) {
    const games = yield* Games
    const launches = yield* Launches
    const endpoints = yield* Endpoints
    endpoints.addCommand(
      OperatorApi.groups.games.endpoints.launch,
      LaunchOptions,
      ({ operator }, { game, player }, options, accepted, done) => {
        const playerId = idInPath(player)
        const gameId = idInPath(game)
        return playerId !== undefined && gameId !== undefined &&
          launches.startLaunch(operator, playerId, gameId, toLaunchRequest(options), accepted, done)
      },
      renderLaunch
    )
    return handlers
      .handle("list", ({ query }) =>
        Effect.gen(function*() {
          const { page, per_page: perPage, ...filters } = query
          const { items, total } = yield* games.list({ page, perPage, ...filters })
          return yield* paginated(query, total, items.map(gameFields))
        }))
      .handle("providers", () => Effect.map(games.providers, (data) => ({ data })))
      .handle("categories", () => Effect.map(games.categories, (data) => ({ data })))
      .handle("get", ({ params }) => Effect.map(games.get(params.game), (game) => ({ data: gameFields(game) })))
      // raw body: it may be empty, and the path is checked before the body
      .handleRaw("launch", ({ params }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          yield* launches.mustExist(operator.id, params.player, params.game)
          const options = yield* launchOptions
          const answering = { claim: yield* CurrentClaim, render: renderLaunch }
          const request = toLaunchRequest(options)
          const launched = yield* launches.launch(operator.id, params.player, params.game, request, answering)
          const { body, status } = renderLaunch(launched)
          return jsonResponse(status, body)
        }), { uninterruptible: true })
  })
)

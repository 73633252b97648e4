/** The catalogue and launching, for operators. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { CurrentClaim, CurrentOperator } from "../../api/Middleware.ts"
import { gameFields } from "../../games/Game.ts"
import { Games } from "../../games/Games.ts"
import { type LaunchedGame, Launches } from "../../games/Launches.ts"
import { iso } from "../../platform/Time.ts"
import { paginated } from "./Page.ts"

const render = (launched: LaunchedGame) => ({
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

export const GamesHandlers = HttpApiBuilder.group(
  Api,
  "games",
  Effect.fnUntraced(function*(handlers) {
    const games = yield* Games
    const launches = yield* Launches
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
      .handle("launch", ({ params, payload }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          const launched = yield* launches.launch(operator.id, params.player, params.game, {
            mode: payload?.mode ?? "real",
            platform: payload?.platform ?? null,
            ip: payload?.ip ?? null
          }, { claim: yield* CurrentClaim, render })
          const { body, status } = render(launched)
          return HttpServerResponse.text(body, { status, contentType: "application/json" })
        }), { uninterruptible: true })
  })
)

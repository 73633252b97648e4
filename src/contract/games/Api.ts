/** Operator API endpoints for the game catalogue and game launches (SPEC section 4.5). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { about, RequiredFeature, RequiredScope, SecretAnswer } from "../common/Annotations.ts"
import { refusals } from "../common/Errors.ts"
import { ipAddress, oneOf, pathId, text } from "../common/Fields.ts"
import { Game, GameCategory, GameProvider, LaunchedGame, launchPlatforms } from "./GameResource.ts"
import { list, page, pageQuery, single } from "../common/Pagination.ts"
import { gameTypes } from "../../domain/state/Bonus.ts"

/** The filters of the catalogue. */
const GamesQuery = Schema.Struct({
  ...pageQuery,
  provider: Schema.optionalKey(text(100, { description: "A provider's slug." })),
  category: Schema.optionalKey(text(64)),
  type: Schema.optionalKey(oneOf(gameTypes)),
  search: Schema.optionalKey(text(100, { description: "Part of the name." }))
})

/** How a game is opened. An empty body opens it for real money. */
export const LaunchOptions = Schema.Struct({
  mode: Schema.optionalKey(oneOf(["real", "demo"])),
  platform: Schema.optionalKey(oneOf(launchPlatforms)),
  ip: Schema.optionalKey(ipAddress)
}).annotate({ examples: [{ mode: "real", platform: "mobile", ip: "203.0.113.7" }] })

export const GamesGroup = HttpApiGroup.make("games")
  .add(
    HttpApiEndpoint.get("list", "/games", { query: GamesQuery, success: page(Game) })
      .annotate(RequiredScope, "games:read")
      .annotateMerge(about(
        "Active games, by name",
        "What can be launched: active games of active providers. All filters given must hold."
      )),
    HttpApiEndpoint.get("providers", "/games/providers", { success: list(GameProvider) })
      .annotate(RequiredScope, "games:read")
      .annotateMerge(about(
        "Providers with active games",
        "With the number of games each has on offer. The slug is the `provider` filter of the list of games."
      )),
    HttpApiEndpoint.get("categories", "/games/categories", { success: list(GameCategory) })
      .annotate(RequiredScope, "games:read")
      .annotateMerge(about(
        "Categories with active games",
        "With the number of games in each. The name is the `category` filter of the list of games."
      )),
    HttpApiEndpoint.get("get", "/games/:game", { params: { game: pathId }, success: single(Game) })
      .annotate(RequiredScope, "games:read")
      .annotateMerge(about("One game", "An active game of the catalogue.")),
    HttpApiEndpoint.post("launch", "/players/:player/games/:game/launch", {
      params: { player: pathId, game: pathId },
      // an empty body is decoded as null
      payload: [LaunchOptions, Schema.Null],
      success: single(LaunchedGame),
      error: refusals("PLAYER_RESTRICTED", "LIMIT_EXCEEDED", "GAME_UNAVAILABLE")
    })
      .annotate(RequiredScope, "games:launch")
      .annotate(SecretAnswer, true)
      .annotateMerge(about(
        "Open a game for a player",
        "For real money it opens a wallet session of 12 hours, in which the provider settles rounds; the player's status, exclusion and " +
          "session limit are checked first. `demo` gives the provider's free-play address. A game of the platform's own has no address: it " +
          "is played with the player session. An empty body opens it for real money. Where the provider is a vendor's, that vendor is asked for " +
          "the address: one that does not answer in 5 seconds gives TRY_AGAIN, one that refuses GAME_UNAVAILABLE, and no session is left."
      ))
  )
  .annotate(RequiredFeature, "games")
  .annotateMerge(OpenApi.annotations({ title: "Games", description: "The catalogue, and opening games." }))

/** What a player's browser or app calls with a session token. The token says who the player is; no path does. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { RequiredFeature } from "../Annotations.ts"
import { refusals } from "../Errors.ts"
import { oneOf, pathId } from "../Fields.ts"
import { LaunchedGame, launchPlatforms } from "../Game.ts"
import { pageOrWalk, single, walkQuery } from "../Pagination.ts"
import { Player } from "../Player.ts"
import { PlayerWallet, Transaction } from "../Wallet.ts"

/** An empty body opens a game for real money. */
export const PlayerLaunchOptions = Schema.Struct({
  mode: Schema.optionalKey(oneOf(["real", "demo"])),
  platform: Schema.optionalKey(oneOf(launchPlatforms))
})

export const PlayerSessionGroup = HttpApiGroup.make("player_session")
  .add(
    HttpApiEndpoint.get("me", "/me", { success: single(Player) })
      .annotate(RequiredFeature, "players")
      .annotate(OpenApi.Summary, "The player of the token"),
    HttpApiEndpoint.get("wallet", "/wallet", { success: single(PlayerWallet) })
      .annotate(RequiredFeature, "players")
      .annotate(OpenApi.Summary, "The player's balances"),
    HttpApiEndpoint.get("transactions", "/transactions", { query: walkQuery, success: pageOrWalk(Transaction) })
      .annotate(RequiredFeature, "players")
      .annotate(OpenApi.Summary, "The player's ledger, newest first"),
    HttpApiEndpoint.post("launch", "/games/:game/launch", {
      params: { game: pathId },
      // Null is what an empty body is read as.
      payload: [PlayerLaunchOptions, Schema.Null],
      success: single(LaunchedGame),
      error: refusals("PLAYER_RESTRICTED", "LIMIT_EXCEEDED")
    })
      .annotate(RequiredFeature, "games")
      .annotate(OpenApi.Summary, "Open a game")
  )
  .annotate(OpenApi.Title, "Player session")

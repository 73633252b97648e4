/** Player endpoints, called with a session token. The token identifies the player; no path does. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { RequiredFeature, SecretAnswer } from "../../contract/Annotations.ts"
import { refusals } from "../../contract/Errors.ts"
import { oneOf, pathId } from "../../contract/Fields.ts"
import { LaunchedGame, launchPlatforms } from "../games/GameResource.ts"
import {
  Fairness,
  Play,
  PlayedRound,
  recipe,
  RotatedFairness,
  Rotation,
  RoundProof
} from "../originals/OriginalResource.ts"
import { pageOrWalk, single, walkQuery } from "../../contract/Pagination.ts"
import { EndedSessions, Player } from "../players/PlayerResource.ts"
import { PlayerWallet, Transaction } from "../wallet/WalletResource.ts"

/** An empty body opens a game for real money. */
export const PlayerLaunchOptions = Schema.Struct({
  mode: Schema.optionalKey(oneOf(["real", "demo"])),
  platform: Schema.optionalKey(oneOf(launchPlatforms))
}).annotate({ examples: [{ mode: "real", platform: "web" }] })

export const PlayerSessionGroup = HttpApiGroup.make("player_session")
  .add(
    HttpApiEndpoint.get("me", "/me", { success: single(Player) })
      .annotate(RequiredFeature, "players")
      .annotate(OpenApi.Summary, "The player of the token")
      .annotate(
        OpenApi.Description,
        "The same as the operator reads."
      ),
    HttpApiEndpoint.delete("endSessions", "/session-tokens", { success: single(EndedSessions) })
      .annotate(RequiredFeature, "players")
      .annotate(OpenApi.Summary, "Sign out everywhere")
      .annotate(
        OpenApi.Description,
        "Ends every session token of the player, this one included, and every open game session. Open rounds are still settled."
      ),
    HttpApiEndpoint.get("wallet", "/wallet", { success: single(PlayerWallet) })
      .annotate(RequiredFeature, "players")
      .annotate(OpenApi.Summary, "The player's balances")
      .annotate(
        OpenApi.Description,
        "As of the last committed action."
      ),
    HttpApiEndpoint.get("transactions", "/transactions", { query: walkQuery, success: pageOrWalk(Transaction) })
      .annotate(RequiredFeature, "players")
      .annotate(OpenApi.Summary, "The player's ledger, newest first")
      .annotate(
        OpenApi.Description,
        "Every movement of money. Credits are positive, debits negative."
      ),
    HttpApiEndpoint.post("launch", "/games/:game/launch", {
      params: { game: pathId },
      // Null is what an empty body is read as.
      payload: [PlayerLaunchOptions, Schema.Null],
      success: single(LaunchedGame),
      error: refusals("PLAYER_RESTRICTED", "LIMIT_EXCEEDED", "GAME_UNAVAILABLE")
    })
      .annotate(RequiredFeature, "games")
      .annotate(OpenApi.Summary, "Open a game")
      .annotate(
        OpenApi.Description,
        "As the operator opens one for the player. An empty body opens it for real money."
      )
      .annotate(SecretAnswer, true),
    HttpApiEndpoint.post("play", "/games/:game/play", {
      params: { game: pathId },
      payload: Play,
      success: single(PlayedRound),
      error: refusals(
        "NOT_AN_ORIGINAL",
        "PLAYER_RESTRICTED",
        "LIMIT_EXCEEDED",
        "BONUS_INVALID",
        "INSUFFICIENT_FUNDS"
      )
    })
      .annotate(RequiredFeature, "originals")
      .annotate(OpenApi.Summary, "Play a round of a platform original")
      .annotate(
        OpenApi.Description,
        "Bet, outcome and payout in one step. No launch is needed. Params: `dice` has `direction` (under, over) and `target`; `limbo` " +
          "`target`; `coin_flip` `side` (heads, tails); `plinko` `rows` (8-16) and `risk` (low, medium, high); `mines` `mines` (1-24) and " +
          "`cells` (numbers 0-24). Send an `Idempotency-Key`: a retry then gets the same round."
      ),
    HttpApiEndpoint.get("fairness", "/fairness", { success: single(Fairness) })
      .annotate(RequiredFeature, "players")
      .annotate(OpenApi.Summary, "The seeds that decide the player's next round")
      .annotate(
        OpenApi.Description,
        "Read it before the first round: the hash promises the server seed that will decide it."
      ),
    HttpApiEndpoint.post("rotate", "/fairness/rotate", {
      // Null is what an empty body is read as.
      payload: [Rotation, Schema.Null],
      success: single(RotatedFairness)
    })
      .annotate(RequiredFeature, "players")
      .annotate(OpenApi.Summary, "Reveal the server seed and go on with the promised one")
      .annotate(OpenApi.Description, recipe),
    HttpApiEndpoint.get("round", "/rounds/:round", { params: { round: pathId }, success: single(RoundProof) })
      .annotate(RequiredFeature, "players")
      .annotate(OpenApi.Summary, "A round of an original with its proof")
      .annotate(OpenApi.Description, recipe)
  )
  .annotate(OpenApi.Title, "Player session")
  .annotate(
    OpenApi.Description,
    "What a player's browser or app calls with a session token. Nothing is signed; the token stands for the player."
  )

/** Player API endpoints, called with a session token. The token identifies the player, so that no path contains a player id. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { about, EitherOf, RequiredFeature, SecretAnswer } from "../common/Annotations.ts"
import { refusals } from "../common/Errors.ts"
import { oneOf, pathId } from "../common/Fields.ts"
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
import {
  Acknowledgement,
  AcknowledgementRequest,
  Obligation,
  obligationQuery
} from "../obligations/ObligationResource.ts"
import { ChangedLimits, LimitsRequest, SelfExclusionRequest } from "../responsibleGaming/Api.ts"
import { Limits } from "../responsibleGaming/LimitsResource.ts"
import { Consent, ConsentsRequest } from "../consents/ConsentResource.ts"
import { created, list, pageOrWalk, single } from "../common/Pagination.ts"
import { EndedSessions, Player } from "../players/PlayerResource.ts"
import { Position, RealityCheck, RealityCheckRequest } from "../position/PositionResource.ts"
import { Transaction } from "../ledger/TransactionResource.ts"
import { statementForms, statementQuery } from "../statements/StatementResource.ts"
import { TransactionsQuery } from "../wallet/Api.ts"
import { PlayerWallet } from "../wallet/WalletResource.ts"

/** An empty body opens a game for real money. */
export const PlayerLaunchOptions = Schema.Struct({
  mode: Schema.optionalKey(oneOf(["real", "demo"])),
  platform: Schema.optionalKey(oneOf(launchPlatforms))
}).annotate({ examples: [{ mode: "real", platform: "web" }] })

export const PlayerSessionGroup = HttpApiGroup.make("player_session")
  .add(
    HttpApiEndpoint.get("me", "/me", { success: single(Player) })
      .annotate(RequiredFeature, "players")
      .annotateMerge(about("The player of the token", "The same as the operator reads.")),
    HttpApiEndpoint.delete("endSessions", "/session-tokens", { success: single(EndedSessions) })
      .annotate(RequiredFeature, "players")
      .annotateMerge(about(
        "Sign out everywhere",
        "Ends every session token of the player, this one included, and every open game session. Open rounds are still settled."
      )),
    HttpApiEndpoint.get("wallet", "/wallet", { success: single(PlayerWallet) })
      .annotate(RequiredFeature, "players")
      .annotateMerge(about("The player's balances", "As of the last committed action.")),
    HttpApiEndpoint.get("transactions", "/transactions", { query: TransactionsQuery, success: pageOrWalk(Transaction) })
      .annotate(RequiredFeature, "players")
      .annotateMerge(about(
        "The player's ledger, newest first",
        "Every movement of money. Credits are positive, debits negative."
      )),
    HttpApiEndpoint.get("statement", "/statement", { query: Schema.Struct(statementQuery), success: statementForms })
      .annotate(RequiredFeature, "players")
      .annotateMerge(about("The player's statement of a period of days", "As the operator reads it.")),
    HttpApiEndpoint.get("consents", "/consents", { success: list(Consent) })
      .annotate(RequiredFeature, "players")
      .annotateMerge(about("The player's consents to marketing", "As the operator reads them.")),
    HttpApiEndpoint.put("changeConsents", "/consents", { payload: ConsentsRequest, success: list(Consent) })
      .annotate(RequiredFeature, "players")
      .annotateMerge(about("Grant or withdraw consents", "Only the consents sent change, all or none of them.")),
    HttpApiEndpoint.post("launch", "/games/:game/launch", {
      params: { game: pathId },
      // an empty body is decoded as null
      payload: [PlayerLaunchOptions, Schema.Null],
      success: single(LaunchedGame),
      error: refusals("PLAYER_RESTRICTED", "LIMIT_EXCEEDED", "GAME_UNAVAILABLE")
    })
      .annotate(RequiredFeature, "games")
      .annotateMerge(about(
        "Open a game",
        "As the operator opens one for the player. An empty body opens it for real money."
      ))
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
      .annotateMerge(about(
        "Play a round of a platform original",
        "Bet, outcome and payout in one step. No launch is needed. Params: `dice` has `direction` (under, over) and `target`; `limbo` " +
          "`target`; `coin_flip` `side` (heads, tails); `plinko` `rows` (8-16) and `risk` (low, medium, high); `mines` `mines` (1-24) and " +
          "`cells` (numbers 0-24). Send an `Idempotency-Key`: a retry then gets the same round."
      )),
    HttpApiEndpoint.get("fairness", "/fairness", { success: single(Fairness) })
      .annotate(RequiredFeature, "players")
      .annotateMerge(about(
        "The seeds that decide the player's next round",
        "Read it before the first round: the hash promises the server seed that will decide it."
      )),
    HttpApiEndpoint.post("rotate", "/fairness/rotate", {
      // an empty body is decoded as null
      payload: [Rotation, Schema.Null],
      success: single(RotatedFairness)
    })
      .annotate(RequiredFeature, "players")
      .annotateMerge(about("Reveal the server seed and go on with the promised one", recipe)),
    HttpApiEndpoint.get("limits", "/limits", { success: single(Limits) })
      .annotate(RequiredFeature, "responsible_gaming")
      .annotateMerge(about("The player's limits, what waits and what was used", "As the operator reads them.")),
    HttpApiEndpoint.put("setLimits", "/limits", {
      payload: LimitsRequest,
      success: ChangedLimits,
      error: refusals("RESPONSIBLE_GAMING_RULE")
    })
      .annotate(RequiredFeature, "responsible_gaming")
      .annotateMerge(about(
        "Change the own limits",
        "Only the limits sent change. A new or lower one applies at once; a higher one, or null, after the cooling-off period."
      )),
    HttpApiEndpoint.post("selfExclude", "/self-exclusion", {
      payload: SelfExclusionRequest,
      success: single(Limits),
      error: refusals("RESPONSIBLE_GAMING_RULE")
    })
      .annotate(RequiredFeature, "responsible_gaming")
      .annotate(EitherOf, ["period", "until"])
      .annotateMerge(
        about(
          "Exclude oneself from play",
          "Can be prolonged, never shortened or lifted. The token stops working with it."
        )
      ),
    HttpApiEndpoint.get("position", "/position", { success: single(Position) })
      .annotate(RequiredFeature, "responsible_gaming")
      .annotateMerge(about("What the player has staked, won, paid in and taken out", "As the operator reads it.")),
    HttpApiEndpoint.get("realityCheck", "/reality-check", { success: single(RealityCheck) })
      .annotate(RequiredFeature, "responsible_gaming")
      .annotateMerge(about("The player's reality check", "As the operator reads it.")),
    HttpApiEndpoint.put("setRealityCheck", "/reality-check", {
      payload: RealityCheckRequest,
      success: single(RealityCheck)
    })
      .annotate(RequiredFeature, "responsible_gaming")
      .annotateMerge(about(
        "Set the own interval between reality checks",
        "It counts at once. A reality check that is open stays so."
      )),
    HttpApiEndpoint.get("obligations", "/obligations", { query: obligationQuery, success: list(Obligation) })
      .annotate(RequiredFeature, "responsible_gaming")
      .annotateMerge(about("What the player must do, newest first", "As the operator reads them. 100 at most.")),
    HttpApiEndpoint.post("acknowledge", "/acknowledgements", {
      payload: AcknowledgementRequest,
      success: created(Acknowledgement),
      error: refusals("NOT_FOUND", "RESPONSIBLE_GAMING_RULE")
    })
      .annotate(RequiredFeature, "responsible_gaming")
      .annotateMerge(
        about(
          "Answer",
          "A raise that has to be confirmed, the question for limits, a reality check: `continue`, or `stop`, which ends the open game sessions."
        )
      ),
    HttpApiEndpoint.get("round", "/rounds/:round", { params: { round: pathId }, success: single(RoundProof) })
      .annotate(RequiredFeature, "players")
      .annotateMerge(about("A round of an original with its proof", recipe))
  )
  .annotateMerge(OpenApi.annotations({
    title: "Player session",
    description:
      "What a player's browser or app calls with a session token. Nothing is signed; the token stands for the player."
  }))

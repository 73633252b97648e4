/** Operator API endpoints for players and their session tokens. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { about, RequiredFeature, RequiredScope, SecretAnswer } from "../common/Annotations.ts"
import { refusals } from "../common/Errors.ts"
import { integer, lines, oneOf, pathId } from "../common/Fields.ts"
import { created, pageOrWalk, single, walkQuery } from "../common/Pagination.ts"
import { EndedSessions, Player, PlayerFilterFields } from "./PlayerResource.ts"
import { ProfileUpdate, Registration } from "./RegistrationResource.ts"
import { playerStatuses } from "../../domain/state/Player.ts"
import { id, timestamp } from "../common/Resource.ts"

/** An empty body issues a token of 30 minutes. */
export const TokenOptions = Schema.Struct({ ttl_minutes: Schema.optionalKey(integer(1, 720)) })
  .annotate({ examples: [{ ttl_minutes: 60 }] })

/** A session token (SPEC section 5.4). */
const SessionToken = Schema.Struct({
  token: Schema.String.annotate({
    examples: ["pbt_7Hq2"],
    description: "Sent as `Authorization: Bearer <token>` to the player endpoints."
  }),
  token_type: Schema.Literal("Bearer"),
  player_id: id,
  expires_at: timestamp
}).annotate({ identifier: "SessionToken" })

export const PlayersGroup = HttpApiGroup.make("players")
  .add(
    HttpApiEndpoint.get("list", "/players", {
      query: Schema.Struct({ ...walkQuery, ...PlayerFilterFields.fields }),
      success: pageOrWalk(Player)
    })
      .annotate(RequiredScope, "players:read")
      .annotateMerge(about(
        "Players, newest first",
        "All filters given must hold. `email`, `username` and `external_id` are compared exactly; `search` looks for a part, in any case."
      )),
    HttpApiEndpoint.post("register", "/players", {
      payload: Registration,
      success: created(Player),
      error: refusals("SELF_EXCLUDED_IDENTITY", "PROMO_CODE_INVALID")
    })
      .annotate(SecretAnswer, true)
      .annotate(RequiredScope, "players:write")
      .annotateMerge(about(
        "Register a player",
        "Opens the account with a real and a bonus wallet in the player's currency. Username, e-mail, phone and external id are unique " +
          "within the operator. An adult who has accepted the terms, and who is not excluded from play under another account."
      )),
    HttpApiEndpoint.get("get", "/players/:player", { params: { player: pathId }, success: single(Player) })
      .annotate(RequiredScope, "players:read")
      .annotateMerge(about(
        "One player",
        "The profile, the status, what staff have restricted and a running self-exclusion."
      )),
    HttpApiEndpoint.patch("update", "/players/:player", {
      params: { player: pathId },
      payload: ProfileUpdate,
      success: single(Player),
      error: refusals("SELF_EXCLUDED_IDENTITY")
    })
      .annotate(RequiredScope, "players:write")
      .annotateMerge(about(
        "Change a profile",
        "Only the fields sent change. Null takes away what a player may be without. A name and birth date of another player, who is excluded from play, " +
          "are refused as at registration."
      )),
    HttpApiEndpoint.put("setStatus", "/players/:player/status", {
      params: { player: pathId },
      payload: Schema.Struct({
        status: oneOf(playerStatuses),
        reason: Schema.optionalKey(lines(1000, { description: "Kept as a note on the player." }))
      }).annotate({ examples: [{ status: "locked", reason: "Asked for by the player." }] }),
      success: single(Player)
    })
      .annotate(RequiredScope, "players:write")
      .annotateMerge(about(
        "Lock, close or open an account",
        "A locked or closed account cannot log in, play or deposit; its open rounds are still settled. Any status may follow any other. " +
          "Opening an account does not lift a self-exclusion."
      )),
    HttpApiEndpoint.post("issueToken", "/players/:player/session-tokens", {
      params: { player: pathId },
      // an empty body is decoded as null
      payload: [TokenOptions, Schema.Null],
      success: created(SessionToken),
      error: refusals("PLAYER_RESTRICTED")
    })
      .annotate(RequiredScope, "players:write")
      .annotateMerge(about(
        "Issue a player session token",
        "For the player's browser or app, which sends it to the endpoints under `/api/v1/player`. It serves this player only, until it " +
          "expires, the key is revoked or rotated, the account is locked, closed or excluded, or the player is signed out. An empty body asks for 30 minutes."
      ))
      .annotate(SecretAnswer, true),
    HttpApiEndpoint.delete("endSessions", "/players/:player/session-tokens", {
      params: { player: pathId },
      success: single(EndedSessions)
    })
      .annotate(RequiredScope, "players:write")
      .annotateMerge(about(
        "Sign a player out everywhere",
        "Ends every session token and every game session that the player has. New bets with them are refused; open rounds are still settled. " +
          "Tokens issued afterwards work."
      ))
  )
  .annotate(RequiredFeature, "players")
  .annotateMerge(OpenApi.annotations({
    title: "Players",
    description: "Registration, profiles, account status and session tokens."
  }))

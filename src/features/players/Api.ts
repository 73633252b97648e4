import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { RequiredFeature, RequiredScope, SecretAnswer } from "../../contract/Annotations.ts"
import { refusals } from "../../contract/Errors.ts"
import {
  country,
  currency,
  date,
  email,
  instant,
  integer,
  ipAddress,
  language,
  lines,
  oneOf,
  pathId,
  text,
  username
} from "../../contract/Fields.ts"
import { pageOrWalk, single, walkQuery } from "../../contract/Pagination.ts"
import { EndedSessions, genders, Player } from "./PlayerResource.ts"
import { kycStatuses, playerStatuses } from "../../domain/player/Player.ts"
import { id, timestamp } from "../../contract/Resource.ts"

/** The filters of the player list (SPEC section 4.2). */
const PlayersQuery = Schema.Struct({
  ...walkQuery,
  status: Schema.optionalKey(oneOf(playerStatuses)),
  email: Schema.optionalKey(text(254)),
  username: Schema.optionalKey(text(100)),
  external_id: Schema.optionalKey(text(255)),
  kyc_status: Schema.optionalKey(oneOf(kycStatuses)),
  search: Schema.optionalKey(text(100, { description: "Part of the username, e-mail or last name." })),
  created_from: Schema.optionalKey(instant),
  created_to: Schema.optionalKey(instant)
})

/**
 * A registration (SPEC section 4.2), for those who write one. The server leaves its rules to the players capability, which
 * knows age, phone numbers, lists and what is taken, and so names every bad field at once.
 */
const Registration = Schema.Struct({
  username,
  email,
  first_name: text(255),
  last_name: text(255),
  birth_date: date,
  country,
  terms_accepted: Schema.Literal(true).annotate({ message: "must be true: the player has to accept the terms" }),
  external_id: Schema.optionalKey(text(255)),
  password: Schema.optionalKey(
    Schema.String.check(
      Schema.isBetweenCodePoints(8, 200, { message: "must be 8 to 200 characters" }),
      Schema.isPattern(/\p{L}/u, { message: "must contain a letter" }),
      Schema.isPattern(/\p{N}/u, { message: "must contain a digit" })
    )
  ),
  middle_name: Schema.optionalKey(text(255)),
  gender: Schema.optionalKey(oneOf(genders)),
  city: Schema.optionalKey(text(255)),
  address: Schema.optionalKey(text(500)),
  zip_code: Schema.optionalKey(text(32)),
  phone: Schema.optionalKey(text(32, { description: "International format.", examples: ["+4915112345678"] })),
  personal_id: Schema.optionalKey(text(64)),
  document_number: Schema.optionalKey(text(64)),
  language: Schema.optionalKey(language),
  currency: Schema.optionalKey(currency),
  promo_code: Schema.optionalKey(text(64)),
  affiliate_id: Schema.optionalKey(text(255)),
  btag: Schema.optionalKey(text(255)),
  registration_ip: Schema.optionalKey(ipAddress),
  terms_version: Schema.optionalKey(text(64)),
  marketing: Schema.optionalKey(Schema.Struct({
    email: Schema.optionalKey(Schema.Boolean),
    sms: Schema.optionalKey(Schema.Boolean),
    newsletter: Schema.optionalKey(Schema.Boolean)
  })),
  is_test: Schema.optionalKey(Schema.Boolean)
}).annotate({
  identifier: "Registration",
  examples: [{
    username: "lucky_luke",
    email: "luke@example.com",
    first_name: "Luke",
    last_name: "Marten",
    birth_date: "1990-12-31",
    country: "DE",
    terms_accepted: true,
    external_id: "c-1001",
    phone: "+4915112345678",
    language: "de",
    registration_ip: "203.0.113.7",
    marketing: { email: true }
  }]
})

/** What changes of a player; what is not sent stays. The players capability judges it, as it does a registration. */
const ProfileUpdate = Schema.Struct({
  email: Schema.optionalKey(email),
  first_name: Schema.optionalKey(text(255)),
  last_name: Schema.optionalKey(text(255)),
  birth_date: Schema.optionalKey(date),
  country: Schema.optionalKey(country),
  city: Schema.optionalKey(Schema.NullOr(text(255))),
  address: Schema.optionalKey(Schema.NullOr(text(500))),
  phone: Schema.optionalKey(
    Schema.NullOr(text(32, { description: "International format.", examples: ["+4915112345678"] }))
  ),
  external_id: Schema.optionalKey(Schema.NullOr(text(255))),
  language: Schema.optionalKey(language),
  marketing: Schema.optionalKey(Schema.Struct({ email: Schema.optionalKey(Schema.Boolean) }))
}).annotate({
  identifier: "ProfileUpdate",
  examples: [{ city: "Hamburg", phone: null, marketing: { email: false } }]
})

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
    HttpApiEndpoint.get("list", "/players", { query: PlayersQuery, success: pageOrWalk(Player) })
      .annotate(RequiredScope, "players:read")
      .annotate(OpenApi.Summary, "Players, newest first")
      .annotate(
        OpenApi.Description,
        "All filters given must hold. `email`, `username` and `external_id` are compared exactly; `search` looks for a part, in any case."
      ),
    HttpApiEndpoint.post("register", "/players", {
      payload: Registration,
      success: single(Player).pipe(HttpApiSchema.status(201)),
      error: refusals("SELF_EXCLUDED_IDENTITY", "PROMO_CODE_INVALID")
    })
      .annotate(SecretAnswer, true)
      .annotate(RequiredScope, "players:write")
      .annotate(OpenApi.Summary, "Register a player")
      .annotate(
        OpenApi.Description,
        "Opens the account with a real and a bonus wallet in the player's currency. Username, e-mail, phone and external id are unique " +
          "within the operator. An adult who has accepted the terms, and who is not excluded from play under another account."
      ),
    HttpApiEndpoint.get("get", "/players/:player", { params: { player: pathId }, success: single(Player) })
      .annotate(RequiredScope, "players:read")
      .annotate(OpenApi.Summary, "One player")
      .annotate(
        OpenApi.Description,
        "The profile, the status, what staff have restricted and a running self-exclusion."
      ),
    HttpApiEndpoint.patch("update", "/players/:player", {
      params: { player: pathId },
      payload: ProfileUpdate,
      success: single(Player)
    })
      .annotate(RequiredScope, "players:write")
      .annotate(OpenApi.Summary, "Change a profile")
      .annotate(OpenApi.Description, "Only the fields sent change. Null takes away what a player may be without."),
    HttpApiEndpoint.put("setStatus", "/players/:player/status", {
      params: { player: pathId },
      payload: Schema.Struct({
        status: oneOf(playerStatuses),
        reason: Schema.optionalKey(lines(1000, { description: "Kept as a note on the player." }))
      }).annotate({ examples: [{ status: "locked", reason: "Asked for by the player." }] }),
      success: single(Player)
    })
      .annotate(RequiredScope, "players:write")
      .annotate(OpenApi.Summary, "Lock, close or open an account")
      .annotate(
        OpenApi.Description,
        "A locked or closed account cannot log in, play or deposit; its open rounds are still settled. Any status may follow any other. " +
          "Opening an account does not lift a self-exclusion."
      ),
    HttpApiEndpoint.post("issueToken", "/players/:player/session-tokens", {
      params: { player: pathId },
      // Null is what an empty body is read as.
      payload: [TokenOptions, Schema.Null],
      success: single(SessionToken).pipe(HttpApiSchema.status(201)),
      error: refusals("PLAYER_RESTRICTED")
    })
      .annotate(RequiredScope, "players:write")
      .annotate(OpenApi.Summary, "Issue a player session token")
      .annotate(
        OpenApi.Description,
        "For the player's browser or app, which sends it to the endpoints under `/api/v1/player`. It serves this player only, until it " +
          "expires, the key is revoked or rotated, the account is locked, closed or excluded, or the player is signed out. An empty body asks for 30 minutes."
      )
      .annotate(SecretAnswer, true),
    HttpApiEndpoint.delete("endSessions", "/players/:player/session-tokens", {
      params: { player: pathId },
      success: single(EndedSessions)
    })
      .annotate(RequiredScope, "players:write")
      .annotate(OpenApi.Summary, "Sign a player out everywhere")
      .annotate(
        OpenApi.Description,
        "Ends every session token and every game session that the player has. New bets with them are refused; open rounds are still settled. " +
          "Tokens issued afterwards work."
      )
  )
  .annotate(RequiredFeature, "players")
  .annotate(OpenApi.Title, "Players")
  .annotate(
    OpenApi.Description,
    "Registration, profiles, account status and session tokens."
  )

/** Description and example of every error code, for the OpenAPI document. */
import type { RefusalCode } from "../../domain/Refusal.ts"
import { replayedRequest } from "../../domain/state/AcceptedSignature.ts"

interface CodeGuide {
  /** Cause, and the remedy where it is not obvious. */
  readonly meaning: string
  /** Message for people, as in an answer. */
  readonly message: string
  readonly details: { readonly [name: string]: unknown }
}

export const errorGuide: { readonly [Code in RefusalCode]: CodeGuide } = {
  MISSING_CREDENTIALS: {
    meaning: "One of the key, timestamp and signature headers is absent.",
    message: "The headers X-Api-Key, X-Timestamp and X-Signature are required.",
    details: {}
  },
  INVALID_API_KEY: { meaning: "The key id is unknown.", message: "The key is unknown.", details: {} },
  API_KEY_INACTIVE: {
    meaning: "The key was revoked or has expired, or its owner is not active.",
    message: "The key was revoked.",
    details: {}
  },
  TIMESTAMP_OUT_OF_RANGE: {
    meaning: "The timestamp is more than 300 seconds off. Set the clock by `details.server_time`.",
    message: "X-Timestamp must be the Unix time in seconds, at most 300 off.",
    details: { server_time: "2026-11-20T12:00:00.000Z" }
  },
  INVALID_NONCE: {
    meaning: "The nonce is longer than 128 characters.",
    message: "X-Nonce must have at most 128 characters.",
    details: { max_length: 128 }
  },
  INVALID_SIGNATURE: {
    meaning:
      "The signature is not that of what arrived: another secret, or bytes that were signed before they were changed.",
    message: "The signature does not match the request.",
    details: {}
  },
  REPLAYED_REQUEST: {
    meaning:
      "This very signature was accepted before. Sign anew, with a nonce when it is within the same second. `details.retry` of `sign_again`: " +
      "another node accepted it, and what became of it is unknown; sign it again, with the same `Idempotency-Key`.",
    message: replayedRequest.message,
    details: {}
  },
  INVALID_PLAYER_TOKEN: {
    meaning:
      "The player token is missing, invalid or over, or its key was revoked. The operator's server issues another one.",
    message: "Send a player session token that is still valid: Authorization: Bearer <token>.",
    details: {}
  },
  IP_NOT_ALLOWED: {
    meaning: "The caller's address is not on the key's list.",
    message: "The key may not be used from this address.",
    details: {}
  },
  INSUFFICIENT_SCOPE: {
    meaning: "The key does not hold the scope that the endpoint takes.",
    message: "The key needs the scope players:write.",
    details: { required_scopes: ["players:write"] }
  },
  FEATURE_NOT_AVAILABLE: {
    meaning: "The operator does not have the feature that the endpoint belongs to.",
    message: "The feature bonuses is not available for this operator.",
    details: { feature: "bonuses" }
  },
  NOT_FOUND: {
    meaning: "There is no such record, or it belongs to another operator.",
    message: "There is no such player.",
    details: {}
  },
  METHOD_NOT_ALLOWED: {
    meaning: "The path takes other methods: those of the header `Allow`.",
    message: "This path takes GET, POST.",
    details: { allowed_methods: ["GET", "POST"] }
  },
  IDEMPOTENCY_IN_PROGRESS: {
    meaning: "A request with the same idempotency key is still running. Send it again in a moment.",
    message: "A request with this idempotency key is still running. Send it again in a moment.",
    details: {}
  },
  DUPLICATE_TRANSACTION: {
    meaning: "The reference or transaction id was used for something else.",
    message: "The external reference was used for a different operation.",
    details: { external_reference: "psp-88213" }
  },
  INSUFFICIENT_FUNDS: {
    meaning: "The balance does not cover it.",
    message: "The real balance is too low.",
    details: { balance: 1200 }
  },
  VALIDATION_FAILED: {
    meaning:
      "Fields of the body or the query are wrong. `details` names each of them, nested ones with dots, with all that is wrong.",
    message: "The request has invalid fields.",
    details: { email: ["must be an e-mail address"], "marketing.email": ["must be true or false"] }
  },
  INVALID_REQUEST: {
    meaning:
      "The body is no JSON object, of another media type, has too many values, or (413) is larger than 256 KiB, of a player 4 KiB.",
    message: "The body must be a JSON object.",
    details: {}
  },
  IDEMPOTENCY_KEY_REUSED: {
    meaning: "The idempotency key belongs to another request of the last 24 hours: another path or another body.",
    message: "The idempotency key was used for a different request.",
    details: {}
  },
  INVALID_IDEMPOTENCY_KEY: {
    meaning: "The idempotency key is longer than 255 characters.",
    message: "An idempotency key has at most 255 characters.",
    details: { max_length: 255 }
  },
  SELF_EXCLUDED_IDENTITY: {
    meaning:
      "The registration, or the changed name or birth date, is that of a person who is excluded from play: at the operator, or at every operator of its licensee, as `details.source` says.",
    message: "The identity matches a player who is excluded from play.",
    details: { source: "operator" }
  },
  PLAYER_RESTRICTED: {
    meaning:
      "The account is locked, closed or self-excluded, or the action is switched off for the player; `details.reason` says which.",
    message: "The account is locked.",
    details: { reason: "locked" }
  },
  LIMIT_EXCEEDED: {
    meaning:
      "A limit of the player refuses it. `details` names the limit, its value, what is used of it and when it begins anew.",
    message: "The limit max_daily_deposit refuses this.",
    details: { limit: "max_daily_deposit", value: 10000, used: 7500, resets_at: "2026-11-21T00:00:00.000Z" }
  },
  RESPONSIBLE_GAMING_RULE: {
    meaning: "A rule that protects the player refuses it: an exclusion is never shortened, lifted or weakened.",
    message: "A self-exclusion can be prolonged, never shortened or lifted.",
    details: { until: "2027-05-20T12:00:00.000Z" }
  },
  KYC_REQUIRED: {
    meaning: "The withdrawal takes a verified player.",
    message: "The player has to be verified before withdrawing this much.",
    details: { kyc_status: "not_started", unverified_withdrawal_allowance: 1000, threshold: 200000 }
  },
  PAYMENT_REQUEST_INVALID: {
    meaning: "A payment rule refuses it: the method, its currency, or the amount's bounds.",
    message: "card takes deposits from 500 to 100000.",
    details: { payment_method: "card", min_deposit: 500, max_deposit: 100000 }
  },
  BONUS_INVALID: {
    meaning:
      "A bonus rule refuses it: an excluded player, the cap of grants, a stake above what the running bonus allows.",
    message: "The player has had this bonus as often as it may be granted.",
    details: { max_grants_per_player: 1 }
  },
  PROMO_CODE_INVALID: {
    meaning: "The promo code is unknown, over, or was used by the player.",
    message: "The promo code has expired.",
    details: { reason: "expired" }
  },
  NOT_AN_ORIGINAL: {
    meaning: "The game is a provider's, where a game of the platform's own is needed.",
    message: "The game is not a platform original.",
    details: {}
  },
  GAME_UNAVAILABLE: {
    meaning: "The game's vendor refuses to open it, for the reason in `details.vendor`. No session was left behind.",
    message: "The game cannot be opened: its vendor refused the launch.",
    details: { vendor: "GAME_NOT_FOUND" }
  },
  RATE_LIMITED: {
    meaning: "The key has used its requests for this minute. Wait `Retry-After` seconds.",
    message: "The key has used its 600 requests per minute.",
    details: { retry_after_seconds: 17 }
  },
  SERVER_ERROR: {
    meaning: "Something went wrong on our side. Send the same request again with the same idempotency key.",
    message: "Something went wrong on our side. Send the same request again, with the same idempotency key.",
    details: {}
  },
  INVALID_SESSION: {
    meaning: "The wallet session is unknown or over.",
    message: "The wallet session is unknown or over. Launch the game again.",
    details: {}
  },
  BET_NOT_FOUND: {
    meaning: "The bet that the win belongs to is unknown.",
    message: "There is no such bet: bet-1041.",
    details: { bet_transaction_id: "bet-1041" }
  },
  BET_ROLLED_BACK: {
    meaning: "The bet was rolled back, or its rollback came first.",
    message: "The transaction bet-1041 was rolled back.",
    details: { transaction_id: "bet-1041", tombstone: false }
  },
  BET_ALREADY_SETTLED: {
    meaning: "The bet's round was paid a win that still stands. Roll the win back first.",
    message: "The round was paid a win. Roll the win back first.",
    details: { target_transaction_id: "bet-1041" }
  },
  ROLLBACK_NOT_ALLOWED: {
    meaning: "A rollback cannot be rolled back.",
    message: "A rollback cannot be rolled back.",
    details: { target_transaction_id: "rollback-88" }
  },
  ROUND_CLOSED: {
    meaning: "The round is closed to new bets and wins.",
    message: "The round is closed.",
    details: { round_id: "round-77" }
  },
  TRY_AGAIN: {
    meaning:
      "The service is restarting or has too much waiting, or does not know yet what became of an earlier request. Wait " +
      "`Retry-After` seconds and send the same request again, with the same idempotency key. With `details.retry` `never` it may " +
      "have been done, and would be done again: see first whether it was. With `details.reason` `seed_unreadable` a player's " +
      "server seed cannot be opened: staff have to retire it.",
    message: "The service is restarting. Send the same request again.",
    details: {}
  },
  INVALID_CREDENTIALS: {
    meaning: "The name, the password or the code of a sign-in is wrong, or its link has been used or is too old.",
    message: "The name, the password or the code is wrong.",
    details: {}
  }
}

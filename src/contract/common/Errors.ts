/**
 * Wire form of refusals, shared by all endpoints: `{"error": {"code", "message", "details"}}` under the status of its code.
 *
 * An endpoint declares its refusals with `error: refusals("NOT_FOUND", …)`; a handler may then fail with exactly these domain refusals, checked by
 * the compiler and shown in the OpenAPI document.
 */
import { Schema, SchemaGetter } from "effect"
import { type RefusalCode, staffCodes, statusByCode } from "../../domain/Refusal.ts"

export type { RefusalCode }

/** True for the code of a refusal. */
export const isRefusalCode = (text: string): text is RefusalCode => Object.hasOwn(statusByCode, text)

const Details = Schema.Record(Schema.String, Schema.Unknown).annotate({
  description: "Facts for a machine; for VALIDATION_FAILED each bad field with what is wrong with it."
})

const make = <const Code extends RefusalCode>(code: Code) =>
  Schema.Struct({
    error: Schema.Struct({ code: Schema.Literal(code), message: Schema.String, details: Details })
  }).annotate({ identifier: `Error_${code}` }).pipe(
    Schema.decodeTo(
      Schema.Struct({
        _tag: Schema.Literal("Refusal"),
        code: Schema.Literal(code),
        message: Schema.String,
        details: Details
      }),
      {
        decode: SchemaGetter.transform(({ error }) => ({ _tag: "Refusal" as const, ...error })),
        encode: SchemaGetter.transform(({ _tag: _, ...error }) => ({ error }))
      }
    )
  ).annotate({ description: code, httpApiStatus: statusByCode[code] })

/** One schema per code, so that the document names each once. */
const byCode = {
  MISSING_CREDENTIALS: make("MISSING_CREDENTIALS"),
  INVALID_API_KEY: make("INVALID_API_KEY"),
  API_KEY_INACTIVE: make("API_KEY_INACTIVE"),
  TIMESTAMP_OUT_OF_RANGE: make("TIMESTAMP_OUT_OF_RANGE"),
  INVALID_NONCE: make("INVALID_NONCE"),
  INVALID_SIGNATURE: make("INVALID_SIGNATURE"),
  REPLAYED_REQUEST: make("REPLAYED_REQUEST"),
  INVALID_PLAYER_TOKEN: make("INVALID_PLAYER_TOKEN"),
  IP_NOT_ALLOWED: make("IP_NOT_ALLOWED"),
  INSUFFICIENT_SCOPE: make("INSUFFICIENT_SCOPE"),
  FEATURE_NOT_AVAILABLE: make("FEATURE_NOT_AVAILABLE"),
  NOT_FOUND: make("NOT_FOUND"),
  METHOD_NOT_ALLOWED: make("METHOD_NOT_ALLOWED"),
  IDEMPOTENCY_IN_PROGRESS: make("IDEMPOTENCY_IN_PROGRESS"),
  DUPLICATE_TRANSACTION: make("DUPLICATE_TRANSACTION"),
  INSUFFICIENT_FUNDS: make("INSUFFICIENT_FUNDS"),
  VALIDATION_FAILED: make("VALIDATION_FAILED"),
  INVALID_REQUEST: make("INVALID_REQUEST"),
  IDEMPOTENCY_KEY_REUSED: make("IDEMPOTENCY_KEY_REUSED"),
  INVALID_IDEMPOTENCY_KEY: make("INVALID_IDEMPOTENCY_KEY"),
  SELF_EXCLUDED_IDENTITY: make("SELF_EXCLUDED_IDENTITY"),
  PLAYER_RESTRICTED: make("PLAYER_RESTRICTED"),
  LIMIT_EXCEEDED: make("LIMIT_EXCEEDED"),
  RESPONSIBLE_GAMING_RULE: make("RESPONSIBLE_GAMING_RULE"),
  KYC_REQUIRED: make("KYC_REQUIRED"),
  PAYMENT_REQUEST_INVALID: make("PAYMENT_REQUEST_INVALID"),
  BONUS_INVALID: make("BONUS_INVALID"),
  PROMO_CODE_INVALID: make("PROMO_CODE_INVALID"),
  NOT_AN_ORIGINAL: make("NOT_AN_ORIGINAL"),
  GAME_UNAVAILABLE: make("GAME_UNAVAILABLE"),
  RATE_LIMITED: make("RATE_LIMITED"),
  SERVER_ERROR: make("SERVER_ERROR"),
  INVALID_SESSION: make("INVALID_SESSION"),
  BET_NOT_FOUND: make("BET_NOT_FOUND"),
  BET_ROLLED_BACK: make("BET_ROLLED_BACK"),
  BET_ALREADY_SETTLED: make("BET_ALREADY_SETTLED"),
  ROLLBACK_NOT_ALLOWED: make("ROLLBACK_NOT_ALLOWED"),
  ROUND_CLOSED: make("ROUND_CLOSED"),
  TRY_AGAIN: make("TRY_AGAIN"),
  INVALID_CREDENTIALS: make("INVALID_CREDENTIALS")
} satisfies { readonly [Code in RefusalCode]: unknown }

/** Error schemas of an endpoint, one per code. */
export const refusals = <const Codes extends ReadonlyArray<RefusalCode>>(...codes: Codes) =>
  codes.map((code: Codes[number]) => byCode[code])

/** Envelopes of all codes of the public API. */
export const allRefusals = Object.entries(byCode).filter(([code]) => !staffCodes.has(code)).map(([, refusal]) =>
  Schema.toEncoded(refusal)
)

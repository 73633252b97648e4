/**
 * Refusals: a stable code, a message for people and details for machines.
 *
 * A refusal is plain data, so that a pure rule can return one, an effect can fail with one (`Effect.fail(refusal)`, caught by
 * `Effect.catchTag("Refusal", …)`) and the HTTP surface can render one, without translation.
 */

/** Every refusal code with its HTTP status. The first block is shared, the second is for game providers, the last for sign-ins of staff. */
export const statusByCode = {
  MISSING_CREDENTIALS: 401,
  INVALID_API_KEY: 401,
  API_KEY_INACTIVE: 401,
  TIMESTAMP_OUT_OF_RANGE: 401,
  INVALID_NONCE: 401,
  INVALID_SIGNATURE: 401,
  REPLAYED_REQUEST: 401,
  INVALID_PLAYER_TOKEN: 401,
  IP_NOT_ALLOWED: 403,
  INSUFFICIENT_SCOPE: 403,
  FEATURE_NOT_AVAILABLE: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  IDEMPOTENCY_IN_PROGRESS: 409,
  DUPLICATE_TRANSACTION: 409,
  INSUFFICIENT_FUNDS: 402,
  VALIDATION_FAILED: 422,
  INVALID_REQUEST: 422,
  IDEMPOTENCY_KEY_REUSED: 422,
  INVALID_IDEMPOTENCY_KEY: 422,
  SELF_EXCLUDED_IDENTITY: 422,
  PLAYER_RESTRICTED: 422,
  LIMIT_EXCEEDED: 422,
  RESPONSIBLE_GAMING_RULE: 422,
  KYC_REQUIRED: 422,
  PAYMENT_REQUEST_INVALID: 422,
  BONUS_INVALID: 422,
  PROMO_CODE_INVALID: 422,
  NOT_AN_ORIGINAL: 422,
  GAME_UNAVAILABLE: 409,
  RATE_LIMITED: 429,
  SERVER_ERROR: 500,
  INVALID_SESSION: 401,
  BET_NOT_FOUND: 404,
  BET_ROLLED_BACK: 409,
  BET_ALREADY_SETTLED: 409,
  ROLLBACK_NOT_ALLOWED: 409,
  ROUND_CLOSED: 409,
  TRY_AGAIN: 503,
  INVALID_CREDENTIALS: 401
} as const

export type RefusalCode = keyof typeof statusByCode

/** Codes that only the staff API answers with. */
export const staffCodes: ReadonlySet<string> = new Set<RefusalCode>(["INVALID_CREDENTIALS"])

export type Details = { readonly [name: string]: unknown }

export interface Refusal<out Code extends RefusalCode = RefusalCode> {
  readonly _tag: "Refusal"
  readonly code: Code
  readonly message: string
  readonly details: Details
}

/** Makes a refusal. `message` is for people and names the remedy where there is one. */
export const refuse = <const Code extends RefusalCode>(
  code: Code,
  message: string,
  details: Details = {}
): Refusal<Code> => ({
  _tag: "Refusal",
  code,
  message,
  details
})

/** Maximum fields named, and characters repeated of a field name: bounds the size of the answer. */
const maxFieldsNamed = 50
const maxNameLength = 128

const shortened = (name: string): string => name.length <= maxNameLength ? name : `${name.slice(0, maxNameLength)}…`

type FieldMessages = { readonly [field: string]: ReadonlyArray<string> }

/** The same fields within these bounds; `_` reports how many are left out. */
const bounded = (fields: FieldMessages): FieldMessages => {
  const names = Object.keys(fields)
  if (names.length <= maxFieldsNamed && names.every((name) => name.length <= maxNameLength)) return fields
  const named = names.slice(0, maxFieldsNamed).map((name) => [shortened(name), fields[name] ?? []] as const)
  const others = names.length - named.length
  return Object.fromEntries(others === 0 ? named : [...named, ["_", [`${others} more fields are wrong`]]])
}

/** Refusal of an invalid request: validation errors by field (dotted path). */
export const refuseFields = (fields: FieldMessages): Refusal<"VALIDATION_FAILED"> =>
  refuse("VALIDATION_FAILED", "The request has invalid fields.", bounded(fields))

/** Unknown outcome of a request that no id or key identifies: sent again, it might be done twice. */
export const outcomeUnknown = refuse(
  "TRY_AGAIN",
  "It is unknown whether the request took effect. Check before you send it again.",
  { retry: "never" }
)

/** Transient failure of a dependency; nothing was done. */
export const temporarilyUnavailable = refuse(
  "TRY_AGAIN",
  "Temporarily unavailable. Send the same request again.",
  { retry: "same_request" }
)

/** Texts of the OpenAPI document: its description, headers, security schemes, and parameters by name. */

export const description = `Wallet and player platform for casino operators.

**Signing.** Every request carries the public key id (\`X-Api-Key\`, for game providers \`X-Provider-Key\`), the Unix time in
seconds (\`X-Timestamp\`, at most 300 seconds off) and \`X-Signature\`: the lower-case hex HMAC-SHA256, keyed with the secret, of
the method, the request URI as sent, the timestamp and the raw body (empty for GET), joined by line feeds, and of the nonce
after another line feed when \`X-Nonce\` is sent. An operator's signature is accepted once. Under \`/api/v1/player\` nothing is signed:
a session token that the operator's server has issued stands for the player (\`Authorization: Bearer …\`).

**Idempotency.** A POST with an \`Idempotency-Key\` (a UUID, say) has its effect once: within 24 hours the same request under the
same key is answered as the first time, marked \`Idempotent-Replayed: true\`. After a lost connection, a 500 or a 503, send the
same request with the same key.

**Errors** are \`{"error": {"code", "message", "details"}}\`. The code is stable; the message is for people. An unknown path is 404
\`NOT_FOUND\`, a known one with another method 405 \`METHOD_NOT_ALLOWED\`.

**Lists** come in pages (\`page\`, \`per_page\`) with \`meta\` and \`links\`. Where there is a \`cursor\`, a list can be walked instead: send
it empty first, then each \`meta.next_cursor\` until that is null.

**Rates.** \`X-RateLimit-Limit\` and \`X-RateLimit-Remaining\` tell how many requests the key has per minute, and has left. Too many
are 429 with \`Retry-After\`.

**Query parameters** that a read does not have are refused (\`VALIDATION_FAILED\` under their name), so that a misspelt filter is never
answered with everybody's rows; so is one that is sent twice. Names that begin with \`utm_\`, \`x-\` or \`_\` are left alone.

**Money** is an integer in minor units. **Times** are ISO 8601 in UTC. Clients ignore fields they do not know.`

/** Who made it and on which terms, in both documents. */
export const info = {
  contact: { name: "Pitboss" },
  license: { name: "UNLICENSED", identifier: "LicenseRef-UNLICENSED" }
}

export const servers = [{ url: "/", description: "The service that shows this document." }]

const text = (maxLength: number) => ({ type: "string", maxLength })

// without examples, which the documentation page would send: the same idempotency key every time
const header = (name: string, maxLength: number, about: string) => ({
  name,
  in: "header",
  required: false,
  schema: text(maxLength),
  description: about
})

/** Request headers other than those of authentication. */
export const parameters = {
  nonce: header(
    "X-Nonce",
    128,
    "Makes otherwise identical requests of one second distinct; part of the signature."
  ),
  idempotency_key: header(
    "Idempotency-Key",
    255,
    "Runs the request once: every retry with this key gets the first answer, marked Idempotent-Replayed: true, for 24 hours."
  ),
  request_id: header(
    "X-Request-Id",
    128,
    "The caller's own name for the request. The answer carries it back."
  )
}

const count = { type: "integer", minimum: 0 }

/** Response headers. */
export const headers = {
  "X-Request-Id": {
    description: "Names the request in our logs; the caller's own where one was sent.",
    required: true,
    schema: text(128),
    example: "checkout-81-attempt-1"
  },
  "X-RateLimit-Limit": {
    description:
      "Requests per minute that the key has; on a 429 of a player's share, those of the share. On every answer of which the key is known.",
    schema: count,
    example: 600
  },
  "X-RateLimit-Remaining": {
    description: "Requests that are left of that in the current minute.",
    schema: count,
    example: 583
  },
  "Retry-After": {
    description: "Seconds to wait before the request is sent again. Absent where `details.retry` is `never`.",
    schema: { type: "integer", minimum: 1 },
    example: 17
  },
  "Idempotent-Replayed": {
    description: "`true` when this is the stored answer to an earlier request with the same idempotency key.",
    schema: { type: "string", enum: ["true"] },
    example: "true"
  }
}

const apiKey = (name: string, about: string) => ({ type: "apiKey", in: "header", name, description: about })

export const securitySchemes = {
  api_key: apiKey("X-Api-Key", "Public key id of an operator's key."),
  provider_key: apiKey("X-Provider-Key", "Public key id of a game provider."),
  timestamp: apiKey("X-Timestamp", "Unix time in seconds, at most 300 off."),
  signature: apiKey(
    "X-Signature",
    "Lower-case hex HMAC-SHA256 of the string to sign. On the page `/docs`, give the key's secret here, and any timestamp: the " +
      "page then signs what is tried out, with the time of its sending, and keeps the secret to itself."
  ),
  player_token: { type: "http", scheme: "bearer", description: "A player session token." }
}

/** Descriptions of parameters by name. */
export const parameterDescriptions: { readonly [name: string]: string } = {
  player: "The player's id.",
  game: "The game's id.",
  payment: "The payment request's id.",
  round: "The round's id.",
  free_rounds: "The id of the free rounds.",
  event: "The event's id.",
  from: "The first day, in UTC.",
  to: "The last day, in UTC, included; at most 366 days in all.",
  include_test_players: "Whether test accounts count; false when left out.",
  at: "A moment of the past: what the balances were then.",
  transaction_id: "The provider's own id of the message.",
  page: "The page, from 1.",
  per_page: "Items per page.",
  created_from: "Created at this time or later.",
  created_to: "Created at this time or earlier.",
  player_id: "Of this player.",
  email: "Exactly this e-mail address.",
  username: "Exactly this username.",
  external_id: "Exactly this id of the operator's own.",
  external_reference: "Exactly this reference of the operator's own.",
  status: "In this status.",
  kyc_status: "In this KYC status.",
  state: "In this state.",
  type: "Of this type.",
  wallet: "Of this wallet.",
  category: "Of this category."
}

export const staffDescription = `Staff API of the back office: what its pages and its command line do.

**Acting.** A staff token (\`Authorization: Bearer …\`) or the session of a browser. Each action names the roles that may take it; \`admin\` may take
any. Staff bound to operators see those alone.

**Errors** are \`{"error": {"code", "message", "details"}}\`. The code is stable; the message is for people.

**Host.** A request under another host or port than the back office's own, or that of \`BACKOFFICE_URL\`, is answered 421 before it is read.

**Lists** are read by \`cursor\`: empty or absent first, then each \`meta.next_cursor\` until that is null. \`format=csv\` gives a list as CSV, \`format=spreadsheet\` in the form
that spreadsheets open. A query parameter that a read does not have is refused under its name.`

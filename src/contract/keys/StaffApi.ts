/** API keys of operators in the staff API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { addresses, instant, integer, oneOf, reference, text } from "../common/Fields.ts"
import { created, list, single } from "../common/Pagination.ts"
import { id, timestamp } from "../common/Resource.ts"
import { scopes } from "../../domain/state/Operator.ts"

const optional = Schema.optionalKey

/** An API key: never with its secret. */
export const ApiKey = Schema.Struct({
  id,
  operator_id: id,
  key: Schema.String,
  name: Schema.String,
  scopes: Schema.Array(Schema.String),
  ip_allowlist: Schema.Array(Schema.String),
  rate_limit_per_minute: Schema.Int,
  expires_at: Schema.NullOr(timestamp),
  revoked_at: Schema.NullOr(timestamp),
  created_at: timestamp,
  updated_at: timestamp
})

const KeyInput = Schema.Struct({
  operator: reference,
  name: optional(text(100)),
  scopes: optional(Schema.Array(oneOf(scopes))),
  ip_allowlist: optional(addresses),
  rate_limit_per_minute: optional(integer(1, 10_000_000)),
  expires_at: optional(Schema.NullOr(instant))
})

export type KeyInput = typeof KeyInput.Type

/** Shown once, in the answer that made it. */
const WithSecret = Schema.Struct({ ...ApiKey.fields, secret: Schema.String })

export const KeyGroup = HttpApiGroup.make("key").add(
  HttpApiEndpoint.post("create", "/keys", {
    payload: KeyInput,
    success: created(WithSecret)
  }),
  HttpApiEndpoint.post("rotate", "/keys/:key/rotate", {
    params: { key: reference },
    query: { operator: optional(reference) },
    success: single(WithSecret)
  }),
  HttpApiEndpoint.post("revoke", "/keys/:key/revoke", {
    params: { key: reference },
    query: { operator: optional(reference) },
    success: single(ApiKey)
  }),
  HttpApiEndpoint.get("list", "/keys", { query: { operator: optional(reference) }, success: list(ApiKey) })
)

/** Staff API endpoints for operators' API keys. */
import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { belongingTo, ofOperator, operatorReference } from "../common/StaffFields.ts"
import { action } from "../common/StaffAction.ts"
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

/** What can change of a key. */
const KeyUpdate = Schema.Struct({
  name: text(100, { description: "Purpose of the key." }),
  scopes: Schema.Array(oneOf(scopes)).check(Schema.isUnique({ message: "must not name a scope twice" })).annotate({
    description: "Scopes (all; sandbox only of a sandbox)."
  }),
  ip_allowlist: addresses.annotate({
    description: "Addresses and ranges it may be used from (any).",
    flag: { name: "ip" }
  }),
  rate_limit_per_minute: integer(1, 10_000_000).annotate({
    description: "Requests per minute (600).",
    flag: { name: "rate-limit" }
  })
}).mapFields(Struct.map(optional))

export type KeyUpdate = typeof KeyUpdate.Type

const KeyInput = Schema.Struct({
  operator: operatorReference,
  ...KeyUpdate.fields,
  expires_at: optional(
    Schema.NullOr(instant).annotate({ description: "End of validity, like 2026-11-20T12:00:00Z (never)." })
  )
})

export type KeyInput = typeof KeyInput.Type

/** Shown once, in the answer that made it. */
const WithSecret = Schema.Struct({ ...ApiKey.fields, secret: Schema.String })

export const KeyGroup = HttpApiGroup.make("key").annotate(OpenApi.Description, "API keys of operators").add(
  HttpApiEndpoint.post("create", "/keys", {
    payload: KeyInput,
    success: created(WithSecret)
  }).annotateMerge(action("Make a key; prints its secret once", { roles: [], concern: "operator", is: "authority" })),
  HttpApiEndpoint.patch("update", "/keys/:key", {
    params: { key: reference.annotate({ description: "Id or public key id of the key." }) },
    query: belongingTo,
    payload: KeyUpdate,
    success: single(ApiKey)
  }).annotateMerge(action("Change a key", { roles: [], concern: "operator", is: "authority" })),
  HttpApiEndpoint.post("rotate", "/keys/:key/rotate", {
    params: { key: reference.annotate({ description: "Id or public key id of the key." }) },
    query: belongingTo,
    success: single(WithSecret)
  }).annotateMerge(
    action("Give a key a new secret; prints it once", { roles: [], concern: "operator", is: "authority" })
  ),
  HttpApiEndpoint.post("revoke", "/keys/:key/revoke", {
    params: { key: reference.annotate({ description: "Id or public key id of the key." }) },
    query: belongingTo,
    success: single(ApiKey)
  }).annotateMerge(action("End a key for good", { roles: [], concern: "operator" })),
  HttpApiEndpoint.get("list", "/keys", { query: ofOperator, success: list(ApiKey) }).annotateMerge(
    action("Keys, newest first", { roles: ["support"], concern: "operator" })
  )
)

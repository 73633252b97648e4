/** Game providers in the staff API. */
import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { addresses, reference, slug, text, webAddress } from "../../contract/Fields.ts"
import { created, list, single } from "../../contract/Pagination.ts"
import { id, timestamp } from "../../contract/Resource.ts"

/** A game provider: never with its secret. */
export const StaffProvider = Schema.Struct({
  id,
  slug: Schema.String,
  name: Schema.String,
  key: Schema.String,
  launch_url: Schema.NullOr(Schema.String),
  demo_url: Schema.NullOr(Schema.String),
  ip_allowlist: Schema.Array(Schema.String),
  active: Schema.Boolean,
  created_at: timestamp,
  updated_at: timestamp
})

const ProviderUpdate = Schema.Struct({
  slug,
  name: text(100),
  launch_url: Schema.NullOr(webAddress),
  demo_url: Schema.NullOr(webAddress),
  ip_allowlist: addresses,
  active: Schema.Boolean
}).mapFields(Struct.map(Schema.optionalKey))

const ProviderInput = Schema.Struct({ ...ProviderUpdate.fields, slug, name: text(100) })

export type ProviderInput = typeof ProviderInput.Type
export type ProviderUpdate = typeof ProviderUpdate.Type

/** Shown once, in the answer that made it. */
const withSecret = Schema.Struct({ ...StaffProvider.fields, secret: Schema.String })

export const ProviderGroup = HttpApiGroup.make("provider").add(
  HttpApiEndpoint.post("create", "/providers", { payload: ProviderInput, success: created(withSecret) }),
  HttpApiEndpoint.patch("update", "/providers/:provider", {
    params: { provider: reference },
    payload: ProviderUpdate,
    success: single(StaffProvider)
  }),
  HttpApiEndpoint.post("rotate", "/providers/:provider/rotate", {
    params: { provider: reference },
    success: single(withSecret)
  }),
  HttpApiEndpoint.get("list", "/providers", { success: list(StaffProvider) })
)

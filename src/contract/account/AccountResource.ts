/** Wire schema of `GET /me`: the calling API key, its operator and the server's time (SPEC section 2.2). */
import { Schema } from "effect"
import { cooperationModels, scopes } from "../../domain/state/Operator.ts"
import { currencyCode, id, timestamp } from "../common/Resource.ts"

/** `GET /me`. */
export const Identity = Schema.Struct({
  api_key: Schema.Struct({
    key: Schema.String.annotate({ description: "The public key id." }),
    name: Schema.String,
    scopes: Schema.Array(Schema.Literals(scopes)),
    rate_limit_per_minute: Schema.Int,
    expires_at: Schema.NullOr(timestamp)
  }),
  operator: Schema.Struct({
    id,
    slug: Schema.String,
    name: Schema.String,
    currency: currencyCode,
    cooperation_model: Schema.Literals(cooperationModels),
    is_sandbox: Schema.Boolean
  }),
  server_time: timestamp
}).annotate({
  identifier: "Identity",
  examples: [{
    api_key: {
      key: "pk_live_VIYgVA9SKFJIjDxvrZ1ewiIW",
      name: "site",
      scopes: ["players:read", "players:write", "wallet:read"],
      rate_limit_per_minute: 600,
      expires_at: null
    },
    operator: {
      id: 3,
      slug: "harbour",
      name: "Harbour Casino",
      currency: "EUR",
      cooperation_model: "api",
      is_sandbox: false
    },
    server_time: "2026-11-20T12:00:00.000Z"
  }]
})

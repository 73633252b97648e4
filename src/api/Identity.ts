import { Schema } from "effect"
import { scopes } from "../domain/Operator.ts"
import { currencyCode, id, timestamp } from "./Resource.ts"

/** What a key learns about itself (SPEC section 2.2). */
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
    cooperation_model: Schema.Literals(["api", "turnkey"])
  }),
  server_time: timestamp
}).annotate({ identifier: "Identity" })

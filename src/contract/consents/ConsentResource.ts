/** Wire schemas of marketing consents. */
import { Schema } from "effect"
import { consentSources } from "../../domain/state/ConsentStatement.ts"
import { text } from "../common/Fields.ts"
import { timestamp } from "../common/Resource.ts"

export const Consent = Schema.Struct({
  channel: Schema.String,
  product: Schema.String,
  granted: Schema.Boolean,
  at: Schema.NullOr(timestamp).annotate({ description: "When it was last said; null: never, and so not granted." }),
  source: Schema.NullOr(Schema.Literals(consentSources)).annotate({
    description: "Who said it; `exclusion`: a self-exclusion has withdrawn all."
  }),
  text_version: Schema.NullOr(Schema.String)
}).annotate({
  identifier: "Consent",
  examples: [{
    channel: "email",
    product: "casino",
    granted: true,
    at: "2026-11-20T12:00:00.000Z",
    source: "player",
    text_version: "2026-11"
  }]
})

/** Maximum changes of one request. */
const maxConsents = 100

const channel = text(40, { description: "One of the player's jurisdiction.", examples: ["email"] })
const product = text(40, {
  description: "One of the player's jurisdiction; absent: all of them.",
  examples: ["casino"]
})

/** A change of one consent. */
export const consentChange = {
  channel,
  product: Schema.optionalKey(product),
  granted: Schema.Boolean.annotate({ description: "Whether it is granted from now on." }),
  text_version: Schema.optionalKey(text(64, { description: "Version of the text that was consented to." }))
}

export const ConsentsRequest = Schema.Struct({
  consents: Schema.Array(Schema.Struct(consentChange)).check(
    Schema.isBetweenLength(1, maxConsents, { message: `must have 1 to ${maxConsents} items` })
  )
}).annotate({
  identifier: "ConsentsRequest",
  examples: [{ consents: [{ channel: "email", product: "casino", granted: true, text_version: "2026-11" }] }]
})

/** Maximum players of one audience. */
export const maxAudience = 10_000

/** Why a player may not be addressed, the first that holds. */
export const audienceReasons = [
  "no_consent",
  "excluded",
  "register_excluded",
  "register_unavailable",
  "restricted",
  "not_found"
] as const

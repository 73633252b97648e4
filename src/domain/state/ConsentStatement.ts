/** Consent to marketing, or its refusal, as recorded. */
import { Schema } from "effect"

/** Who said it: at the registration, the player, others on the player's behalf, or a self-exclusion that withdraws all. */
export const consentSources = ["registration", "player", "operator", "staff", "exclusion"] as const

/** What was said of a channel and a product, each perhaps `*` for all. Of two that cover a consent the narrower one is the newer. */
export const ConsentStatement = Schema.Struct({
  channel: Schema.String,
  product: Schema.String,
  granted: Schema.Boolean,
  /** Epoch milliseconds. */
  at: Schema.Number,
  source: Schema.Literals(consentSources),
  text_version: Schema.NullOr(Schema.String)
})

export type ConsentStatement = typeof ConsentStatement.Type

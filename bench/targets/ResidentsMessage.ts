import { Schema } from "effect"

const Weight = Schema.Struct({ heap_bytes: Schema.Int, rss_bytes: Schema.Int })

/** Result of the process that holds players in memory. */
export const ResidentsMessage = Schema.Struct({
  type: Schema.Literal("weighed"),
  /** Players in memory at the end. */
  resident: Schema.Int,
  /** Before any player was loaded. */
  empty: Weight,
  /** All players loaded, none active. */
  loaded: Weight,
  /** After one bet of each. */
  played: Weight,
  /** After so many bets of each that they carry as many rounds and messages as they ever will. */
  full: Weight,
  /** After two minutes without requests. */
  resting: Weight
})
export type ResidentsMessage = typeof ResidentsMessage.Type

/** Wire schemas of free rounds. */
import { Schema } from "effect"
import { amountFrom, integer } from "../common/Fields.ts"
import { currencyCode, id, money, timestamp } from "../common/Resource.ts"
import { freeRoundsStatuses } from "../../domain/bonus/FreeRounds.ts"

export const FreeRounds = Schema.Struct({
  id,
  player_id: id,
  game_id: id,
  provider: Schema.String.annotate({ description: "The provider's slug.", examples: ["north-studio"] }),
  reference: Schema.String.annotate({
    description: "What the vendor was told.",
    examples: ["fr4b8a0c9e2d7f6153aa01bc"]
  }),
  vendor_reference: Schema.NullOr(Schema.String).annotate({ description: "What the vendor calls them." }),
  rounds: Schema.Int,
  stake: money.annotate({ description: "Of each round, minor units." }),
  currency: currencyCode,
  status: Schema.Literals(freeRoundsStatuses).annotate({ description: "`failed`: the vendor did not confirm them." }),
  valid_until: timestamp,
  won: Schema.NullOr(Schema.Int).annotate({
    description: "Minor units; null until the vendor says that they are over."
  }),
  created_at: timestamp,
  updated_at: timestamp
}).annotate({
  identifier: "FreeRounds",
  examples: [{
    id: 9021,
    player_id: 48213,
    game_id: 311,
    provider: "north-studio",
    reference: "fr4b8a0c9e2d7f6153aa01bc",
    vendor_reference: "FS-7781",
    rounds: 20,
    stake: 20,
    currency: "EUR",
    status: "issued",
    valid_until: "2026-11-27T12:00:00.000Z",
    won: null,
    created_at: "2026-11-20T12:00:00.000Z",
    updated_at: "2026-11-20T12:00:00.000Z"
  }]
})

/** How many rounds, at which stake, and for how long. */
export const freeRoundsTerms = {
  rounds: integer(1, 1000).annotate({ description: "Number of rounds." }),
  stake: amountFrom(1).annotate({
    description: "Of each round, minor units of the player's currency.",
    examples: [20]
  }),
  valid_days: integer(1, 90).annotate({ description: "Days in which they can be played." })
}

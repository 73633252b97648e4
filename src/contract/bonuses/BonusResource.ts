/** Wire schemas of bonuses: as offered by an operator, and as granted to a player (SPEC section 2.8). */
import { Schema } from "effect"
import { bonusResults, bonusStates, bonusTypes } from "../../domain/state/Bonus.ts"
import { currencyCode, id, money, timestamp } from "../common/Resource.ts"

const type = Schema.Literals(bonusTypes).annotate({
  description: "Its kind. A `deposit_match` has a fixed amount, given for a deposit, whatever was deposited."
})

/** A bonus that an operator offers. */
export const Bonus = Schema.Struct({
  id,
  name: Schema.String,
  description: Schema.String,
  type,
  default_amount: money,
  wagering_multiplier: Schema.Int,
  valid_days: Schema.Int,
  max_bet: money.annotate({ description: "The largest stake while it runs; 0 means no cap." }),
  max_conversion_multiplier: Schema.Int.annotate({ description: "Times the amount; 0 means no cap." }),
  max_grants_per_player: Schema.Int.annotate({ description: "0 means no cap." }),
  is_active: Schema.Boolean
}).annotate({
  identifier: "Bonus",
  examples: [{
    id: 71,
    name: "Welcome",
    description: "Ten euros to begin with.",
    type: "no_deposit",
    default_amount: 1000,
    wagering_multiplier: 30,
    valid_days: 14,
    max_bet: 500,
    max_conversion_multiplier: 5,
    max_grants_per_player: 1,
    is_active: true
  }]
})

/** A bonus as it was granted to a player. */
export const PlayerBonus = Schema.Struct({
  id,
  player_id: id,
  bonus_id: id,
  name: Schema.String,
  type,
  state: Schema.Literals(bonusStates),
  result: Schema.NullOr(Schema.Literals(bonusResults)).annotate({
    description: "How it ended; null until it has."
  }),
  amount: money,
  currency: currencyCode,
  wager_requirement: money,
  wagered_amount: money,
  wagering_progress: Schema.Int.annotate({ description: "Percent of the requirement, rounded down." }),
  converted_amount: money,
  forfeited_amount: money,
  max_bet: money,
  started_at: Schema.NullOr(timestamp).annotate({ description: "Null while it waits." }),
  expires_at: Schema.NullOr(timestamp).annotate({
    description: "Null while it waits, and where nothing has to be wagered."
  }),
  finished_at: Schema.NullOr(timestamp),
  created_at: timestamp
}).annotate({
  identifier: "PlayerBonus",
  examples: [{
    id: 6021,
    player_id: 48213,
    bonus_id: 71,
    name: "Welcome",
    type: "no_deposit",
    state: "activated",
    result: null,
    amount: 1000,
    currency: "EUR",
    wager_requirement: 30_000,
    wagered_amount: 4500,
    wagering_progress: 15,
    converted_amount: 0,
    forfeited_amount: 0,
    max_bet: 500,
    started_at: "2026-11-20T12:01:00.000Z",
    expires_at: "2026-12-04T12:01:00.000Z",
    finished_at: null,
    created_at: "2026-11-20T12:01:00.000Z"
  }]
})

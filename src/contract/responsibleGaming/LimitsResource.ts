/** Wire schemas of limits and self-exclusion (SPEC section 2.9). */
import { Schema } from "effect"
import { limitFields } from "../../domain/LimitFields.ts"
import { exclusionEndings, exclusionSources, exclusionTypes } from "../../domain/jurisdiction/ExclusionPeriods.ts"
import { boundsOf } from "../../domain/limit/LimitChanges.ts"
import { perLimit } from "../../domain/limit/LimitUsage.ts"
import { currencyCode, id, timestamp } from "../common/Resource.ts"

const minutesOrMoney = Schema.NullOr(Schema.Int)

export const limitName = Schema.Literals(limitFields)

const Usage = Schema.Struct({
  used: Schema.Int.annotate({ description: "Below zero for a loss limit while the player is ahead." }),
  remaining: minutesOrMoney.annotate({ description: "Null where there is no limit." }),
  resets_at: Schema.NullOr(timestamp).annotate({ description: "When `used` begins anew." })
}).annotate({
  identifier: "LimitUsage",
  examples: [{ used: 5000, remaining: 5000, resets_at: "2026-11-21T00:00:00.000Z" }]
})

/** A player's self-exclusion. */
export const SelfExclusion = Schema.Struct({
  type: Schema.Literals(exclusionTypes),
  since: timestamp,
  until: Schema.NullOr(timestamp).annotate({ description: "Null means without end." }),
  ends: Schema.Literals(exclusionEndings).annotate({
    description: "`on_request`: it stands after `until` as well, until the player asks to return."
  }),
  return_at: Schema.NullOr(timestamp).annotate({
    description: "With `on_request`: when the player returns; null until the player has asked."
  }),
  source: Schema.Literals(exclusionSources).annotate({ description: "Who asked for it." })
}).annotate({
  identifier: "SelfExclusion",
  examples: [{
    type: "time_out",
    since: "2026-11-20T12:00:00.000Z",
    until: "2026-11-27T12:00:00.000Z",
    ends: "by_itself",
    return_at: null,
    source: "player"
  }]
})

/** A player's limits and self-exclusion. */
export const Limits = Schema.Struct({
  player_id: id,
  currency: currencyCode,
  limits: Schema.Struct(perLimit(() => minutesOrMoney)).annotate({
    description: "Minor units, minutes for max_session_minutes; null means no limit."
  }),
  pending_changes: Schema.Array(Schema.Struct({
    field: limitName,
    current_value: minutesOrMoney,
    requested_value: minutesOrMoney,
    effective_at: timestamp,
    confirm_from: Schema.optionalKey(timestamp.annotate({
      description: "With a raise that has to be confirmed, which is never in force by itself."
    })),
    confirm_until: Schema.optionalKey(timestamp)
  })),
  self_exclusion: Schema.NullOr(SelfExclusion),
  usage: Schema.Struct(perLimit(() => Usage))
}).annotate({
  identifier: "Limits",
  examples: [{
    player_id: 48213,
    currency: "EUR",
    limits: { ...perLimit(() => null), max_daily_deposit: 10_000 },
    pending_changes: [{
      field: "max_daily_deposit",
      current_value: 10_000,
      requested_value: 20_000,
      effective_at: "2026-11-21T12:00:00.000Z"
    }],
    self_exclusion: null,
    usage: {
      ...perLimit(() => ({ used: 0, remaining: null, resets_at: null })),
      max_daily_deposit: { used: 5000, remaining: 5000, resets_at: "2026-11-21T00:00:00.000Z" }
    }
  }]
})

/** The limits that a request may set. A name that is none of them is refused. */
export const LimitChanges = Schema.Struct(
  perLimit((field) => {
    const [minimum, maximum] = boundsOf(field)
    return Schema.optionalKey(Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum, maximum }))))
  })
)

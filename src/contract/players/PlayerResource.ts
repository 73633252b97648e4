import { Schema } from "effect"
import { kycStatuses, playerStatuses } from "../../domain/state/Player.ts"
import { instant, oneOf, text } from "../common/Fields.ts"
import { currencyCode, id, timestamp } from "../common/Resource.ts"
import { SelfExclusion } from "../responsibleGaming/LimitsResource.ts"

export const genders = ["male", "female", "other"] as const

/** A registered player (SPEC section 2.1). */
export const Player = Schema.Struct({
  id,
  external_id: Schema.NullOr(Schema.String),
  username: Schema.String,
  email: Schema.String,
  first_name: Schema.String,
  last_name: Schema.String,
  middle_name: Schema.NullOr(Schema.String),
  gender: Schema.NullOr(Schema.Literals(genders)),
  birth_date: Schema.String.annotate({ format: "date", examples: ["1990-12-31"] }),
  country: Schema.String.annotate({ examples: ["DE"] }),
  city: Schema.NullOr(Schema.String),
  address: Schema.NullOr(Schema.String),
  zip_code: Schema.NullOr(Schema.String),
  phone: Schema.NullOr(Schema.String),
  personal_id: Schema.NullOr(Schema.String),
  document_number: Schema.NullOr(Schema.String),
  language: Schema.String.annotate({ examples: ["en"] }),
  currency: currencyCode,
  status: Schema.Literals(playerStatuses),
  category: Schema.String.annotate({ examples: ["new"] }),
  kyc_status: Schema.Literals(kycStatuses),
  is_verified: Schema.Boolean,
  risk_level: Schema.String.annotate({ examples: ["low"] }),
  is_test: Schema.Boolean,
  restrictions: Schema.Struct({
    can_login: Schema.Boolean,
    can_deposit: Schema.Boolean,
    can_withdraw: Schema.Boolean,
    can_bet: Schema.Boolean,
    excluded_from_bonuses: Schema.Boolean
  }),
  self_exclusion: Schema.NullOr(SelfExclusion),
  marketing: Schema.Struct({ email: Schema.Boolean, sms: Schema.Boolean, newsletter: Schema.Boolean }),
  registration: Schema.Struct({
    source: Schema.String.annotate({ examples: ["api"] }),
    ip: Schema.NullOr(Schema.String),
    promo_code: Schema.NullOr(Schema.String),
    affiliate_id: Schema.NullOr(Schema.String),
    btag: Schema.NullOr(Schema.String)
  }),
  last_login_at: Schema.NullOr(timestamp).annotate({
    description: "When a session token was last issued, to the minute; null until the first."
  }),
  created_at: timestamp,
  updated_at: timestamp
}).annotate({
  identifier: "Player",
  examples: [{
    id: 48213,
    external_id: "c-1001",
    username: "lucky_luke",
    email: "luke@example.com",
    first_name: "Luke",
    last_name: "Marten",
    middle_name: null,
    gender: "male",
    birth_date: "1990-12-31",
    country: "DE",
    city: "Hamburg",
    address: "Elbchaussee 1",
    zip_code: "22765",
    phone: "+4915112345678",
    personal_id: null,
    document_number: null,
    language: "de",
    currency: "EUR",
    status: "active",
    category: "new",
    kyc_status: "not_started",
    is_verified: false,
    risk_level: "low",
    is_test: false,
    restrictions: {
      can_login: true,
      can_deposit: true,
      can_withdraw: true,
      can_bet: true,
      excluded_from_bonuses: false
    },
    self_exclusion: null,
    marketing: { email: true, sms: false, newsletter: false },
    registration: { source: "api", ip: "203.0.113.7", promo_code: null, affiliate_id: null, btag: null },
    last_login_at: null,
    created_at: "2026-11-20T12:00:00.000Z",
    updated_at: "2026-11-20T12:00:00.000Z"
  }]
})

/** Answer of ending all sessions. */
export const EndedSessions = Schema.Struct({
  player_id: id,
  sessions_ended_at: timestamp.annotate({ description: "Tokens issued then or before have stopped working." })
}).annotate({ identifier: "EndedSessions" })

/** The filters of the player list (SPEC section 4.2). */
export const PlayerFilterFields = Schema.Struct({
  status: Schema.optionalKey(oneOf(playerStatuses)),
  email: Schema.optionalKey(text(254)),
  username: Schema.optionalKey(text(100)),
  external_id: Schema.optionalKey(text(255)),
  kyc_status: Schema.optionalKey(oneOf(kycStatuses)),
  search: Schema.optionalKey(text(100, { description: "Part of the username, e-mail or last name." })),
  created_from: Schema.optionalKey(instant),
  created_to: Schema.optionalKey(instant)
})

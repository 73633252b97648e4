/**
 * Wire schemas of players (SPEC section 2.1). Personal fields are declared here once: the requests of a registration and of a profile update, the
 * row, its insert and its update derive from them.
 */
import { Schema, Struct } from "effect"
import { kycStatuses, playerStatuses, Restrictions } from "../../domain/state/Player.ts"
import { wire } from "../../domain/WireNames.ts"
import { country, currency, date, email, instant, keptAs, language, oneOf, text, username } from "../common/Fields.ts"
import { currencyCode, id, shownOf, timestamp } from "../common/Resource.ts"
import { RegisterStanding } from "../registers/RegisterResource.ts"
import { SelfExclusion } from "../responsibleGaming/LimitsResource.ts"

export const genders = ["male", "female", "other"] as const

export const birthDate = date.check(
  Schema.makeFilter((text: string) => /^(19|20)/.test(text) || "must be a date of a living person, like 1990-12-31")
)

const needed = <Form extends Schema.Constraint>(form: Form, shown = Schema.String) => ({ form, shown })

const optional = <Form extends Schema.Constraint>(form: Form) => ({
  form: Schema.optionalKey(form),
  shown: Schema.NullOr(Schema.String)
})

/**
 * A person under the names of the columns, in the order of the wire: each field in the form that a registration has it in, and as it shows.
 * `RegistrationResource.ts` adds the rules that need lists of the world's countries, currencies and telephones, which not every program loads.
 */
export const person = {
  external_id: optional(text(255)),
  username: needed(username),
  email: needed(keptAs(email, (text) => text.toLowerCase())),
  first_name: needed(text(255)),
  last_name: needed(text(255)),
  middle_name: optional(text(255)),
  gender: { form: Schema.optionalKey(oneOf(genders)), shown: Schema.NullOr(Schema.Literals(genders)) },
  birth_date: needed(birthDate, Schema.String.annotate({ format: "date", examples: ["1990-12-31"] })),
  country: needed(country, Schema.String.annotate({ examples: ["DE"] })),
  city: optional(text(255)),
  address: optional(text(500)),
  zip_code: optional(text(32)),
  phone: optional(text(32, { description: "International format.", examples: ["+4915112345678"] })),
  personal_id: optional(text(64)),
  document_number: optional(text(64)),
  birth_name: optional(text(255)),
  birth_place: optional(text(255)),
  last_name_prefix: optional(text(50)),
  language: { form: Schema.optionalKey(language), shown: Schema.String.annotate({ examples: ["en"] }) },
  currency: { form: Schema.optionalKey(currency), shown: currencyCode }
}

/** What a profile update changes, in the order of its lines in the audit log. */
export const changing = {
  ...Struct.pick(person, ["email", "first_name", "last_name", "birth_date", "country", "city", "address", "phone"]),
  ...Struct.pick(person, ["external_id", "language"])
}

/** What a profile update may take away. */
export const clearable = ["city", "address", "phone", "external_id"] as const

/** A registered player. */
export const Player = Schema.Struct({
  id,
  ...Struct.map(person, shownOf),
  status: Schema.Literals(playerStatuses),
  category: Schema.String.annotate({ examples: ["new"] }),
  kyc_status: Schema.Literals(kycStatuses),
  is_verified: Schema.Boolean,
  risk_level: Schema.String.annotate({ examples: ["low"] }),
  is_test: Schema.Boolean,
  jurisdiction: Schema.String.annotate({
    description: "Code of the profile whose rules the player is under.",
    examples: ["none"]
  }),
  register: Schema.NullOr(RegisterStanding).annotate({
    description: "Newest proper answer of a national register of excluded players; null where none was asked."
  }),
  restrictions: wire(Restrictions).from,
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
  dormant_since: Schema.NullOr(timestamp).annotate({
    description:
      "When the account was marked as dormant: neither a sign-in, a bet nor a deposit for as long as the jurisdiction says; null: it is in use."
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
    birth_name: null,
    birth_place: null,
    last_name_prefix: null,
    language: "de",
    currency: "EUR",
    status: "active",
    category: "new",
    kyc_status: "not_started",
    is_verified: false,
    risk_level: "low",
    is_test: false,
    jurisdiction: "none",
    register: null,
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
    dormant_since: null,
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

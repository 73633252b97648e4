/**
 * Profiles: the rules of a jurisdiction as one document. An omitted field has the value of the profile `none`, which therefore consists of the
 * schema's defaults.
 */
import { Effect, Schema } from "effect"
import { limitFields } from "../LimitFields.ts"
import { isAmount } from "../Money.ts"
import { registerEvents, registerKinds } from "../register/Register.ts"
import { Duration } from "./Duration.ts"
import { exclusionPeriods, exclusionTypes, standardPeriods } from "./ExclusionPeriods.ts"

/** The field takes this value where a document leaves it out. */
const standing = <Field extends Schema.Constraint>(field: Field, value: Field["Encoded"]) =>
  Schema.withDecodingDefaultKey<Field>(Effect.succeed(value))(field)

/** Fields that stand together under one key; a document may leave out any, or all. */
const group = <const Fields extends Schema.Struct.Fields>(fields: Fields) => Schema.Struct(fields)

const amount = Schema.Number.check(
  Schema.makeFilter((value: number) => isAmount(value) && value > 0 || "must be a positive integer of minor units")
)

const integer = (from: number, to: number) => {
  const message = `must be an integer between ${from} and ${to}`
  return Schema.Int.annotate({ message }).check(Schema.isBetween({ minimum: from, maximum: to }, { message }))
}

/** The database holds neither a zero nor half a pair. */
const storable = Schema.makeFilter((value: string) =>
  value.isWellFormed() && !/\p{Cc}/u.test(value) || "must not contain control characters"
)

const text = (length: number) =>
  Schema.String.check(
    Schema.makeFilter((value: string) =>
      value.trim().length > 0 && value.length <= length || `must be 1 to ${length} characters`
    ),
    storable
  )

const word = Schema.String.check(
  Schema.makeFilter((value: string) => /^[a-z][a-z0-9_]{0,49}$/.test(value) || "must be a word of lower-case letters")
)

const list = <Item extends Schema.Constraint>(item: Item, most: number) =>
  Schema.Array(item).check(Schema.makeFilter((items) => items.length <= most || `must have ${most} entries at most`))

/** At least one: what is made of none could be met by nobody, or would hold nobody. */
const someOf = <Item extends Schema.Constraint>(item: Item, most: number) =>
  list(item, most).check(Schema.makeFilter((items) => items.length > 0 || "must have at least 1 entry"))

const limitField = Schema.Literals(limitFields)

/** An amount by limit; minutes for `max_session_minutes`. */
const perLimit = Schema.Record(limitField, Schema.optionalKey(amount))

const bounds = { min: Schema.NullOr(Duration), max: Schema.NullOr(Duration) }

/** A lower amount for the young goes with the age below which it counts. */
const byAge = {
  under_age: standing(Schema.NullOr(integer(18, 99)), null),
  amount_under: standing(Schema.NullOr(amount), null)
}

const isWhole = ({ amount_under, under_age }: { readonly amount_under: unknown; readonly under_age: unknown }) =>
  (amount_under === null) === (under_age === null) || "must have both under_age and amount_under, or neither"

export const unavailablePolicies = ["refuse", "last_good", "allow"] as const

/** Kinds of data, each kept for a time of its own. */
export const retentionClasses = [
  "identity",
  "payments",
  "gambling",
  "aml",
  "exclusion",
  "checks",
  "consents",
  "security",
  "marketing"
] as const

export type RetentionClass = (typeof retentionClasses)[number]

/** How sure a figure is: the authority's own text, two independent secondary texts, one, or the author's own judgement. */
const confidences = ["A", "B", "C", "D"] as const

const RegisterUse = Schema.Struct({
  kind: Schema.Literals(registerKinds),
  on: Schema.Record(
    Schema.Literals(registerEvents),
    Schema.optionalKey(Schema.Struct({
      max_age: standing(Duration, "PT24H"),
      unavailable: standing(Schema.Literals(unavailablePolicies), "refuse")
    }))
  ),
  last_good_max_age: standing(Schema.NullOr(Duration), null)
})

const Stake = Schema.Struct({ categories: someOf(word, 20), amount, ...byAge }).check(Schema.makeFilter(isWhole))

const breaks = group({
  periods: standing(
    Schema.Record(Schema.Literals(exclusionPeriods), Schema.optionalKey(Schema.Literals(exclusionTypes))),
    standardPeriods
  ),
  time_out: standing(Schema.Struct(bounds), { min: null, max: "P30D" }),
  self_exclusion: standing(Schema.Struct(bounds), { min: "P3M", max: null }),
  ends: standing(Schema.Literals(["by_itself", "on_request"]), "by_itself"),
  return_wait: standing(Schema.NullOr(Duration), null),
  scope: standing(Schema.Literals(["operator", "licensee", "ask"]), "operator")
})

/** How a raise of a limit waits. */
export const Raise = group({
  wait: standing(Schema.NullOr(Duration), null),
  until_period_ends: standing(Schema.Boolean, false),
  confirm: standing(Schema.Boolean, false),
  confirm_within: standing(Duration, "P7D")
})

const limits = group({
  required: standing(list(someOf(limitField, limitFields.length), 10), []),
  required_before: standing(Schema.Literals(["play", "deposit"]), "play"),
  prompt: standing(Schema.Boolean, false),
  caps: standing(perLimit, {}),
  contact_above: standing(perLimit, {}),
  raise: standing(Raise, {})
})

const NetCap = Schema.Struct({ amount, ...byAge }).check(Schema.makeFilter(isWhole))

const Rules = Schema.Struct({
  minimum_age: standing(integer(18, 30), 18),
  breaks: standing(breaks, {}),
  limits: standing(limits, {}),
  deposits: standing(group({ net_cap: standing(Schema.NullOr(NetCap), null) }), {}),
  stakes: standing(list(Stake, 20), []),
  bonuses: standing(
    group({
      max_wagering_multiplier: standing(Schema.NullOr(integer(1, 1000)), null),
      max_amount: standing(Schema.NullOr(amount), null),
      min_valid_days: standing(Schema.NullOr(integer(1, 3650)), null),
      minimum_age: standing(Schema.NullOr(integer(18, 99)), null),
      first_only: standing(Schema.Boolean, false)
    }),
    {}
  ),
  reality_check: standing(
    group({
      default: standing(Schema.NullOr(Duration), null),
      min: standing(Duration, "PT10M"),
      max: standing(Duration, "PT4H"),
      grace: standing(Duration, "PT60S")
    }),
    {}
  ),
  registers: standing(list(RegisterUse, registerKinds.length), []),
  vulnerability: standing(
    Schema.NullOr(Schema.Struct({ net_deposits: amount, window: Duration, repeat: Duration })),
    null
  ),
  reviews: standing(
    group({
      limits: standing(Schema.NullOr(Duration), null),
      no_limits: standing(Schema.NullOr(Duration), null),
      funds_notice: standing(Schema.NullOr(Duration), null)
    }),
    {}
  ),
  consents: standing(
    group({
      channels: standing(list(word, 20), ["email", "sms", "newsletter"]),
      products: standing(list(word, 20), ["casino"]),
      reset_on_exclusion: standing(Schema.Boolean, false)
    }),
    {}
  ),
  dormant: standing(group({ after: standing(Schema.NullOr(Duration), null) }), {}),
  retention: standing(
    Schema.NullOr(Schema.Record(Schema.Literals(retentionClasses), Schema.optionalKey(Duration))),
    null
  )
})

/** A profile's code: `gb`, `ca-on`; one of an operator's own begins with `x-`. */
const ProfileCode = Schema.String.check(
  Schema.makeFilter((code: string) =>
    /^[a-z]{1,10}(-[a-z0-9]{1,20}){0,3}$/.test(code) || "must be a code of lower-case letters, like gb or x-island"
  )
)

export const Profile = Schema.Struct({
  code: ProfileCode,
  name: text(100),
  /** ISO 4217; amounts of the document are its minor units. */
  currency: standing(
    Schema.String.check(Schema.isPattern(/^[A-Z]{3}$/, { message: "must be a currency code" })).annotate({
      examples: ["EUR"]
    }),
    "EUR"
  ),
  ...Rules.fields,
  /** Where a figure comes from, by its path, and how sure it is. No rule. */
  sources: standing(
    Schema.Record(
      Schema.String.check(Schema.isMaxLength(100), storable),
      Schema.Struct({ confidence: Schema.Literals(confidences), source: text(500) })
    ).check(Schema.makeFilter((sources) => Object.keys(sources).length <= 200 || "must have 200 entries at most")),
    {}
  )
})

export type Profile = typeof Profile.Type

/** The profile of an operator that sets none: what the schema fills in. */
export const noneCode = "none"

/** A code that staff may give to a profile of their own. */
export const isOwnCode = (code: string): boolean => code.startsWith("x-")

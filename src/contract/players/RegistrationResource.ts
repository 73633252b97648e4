/**
 * Request schemas of a registration and of a profile update (SPEC section 4.2): the published schema is the enforced one, and all invalid fields are
 * reported at once. Taken values and excluded persons are checked by the service.
 */
import { Option, Result, Schema, Struct } from "effect"
import { ipAddress, keptAs, text } from "../common/Fields.ts"
import { fieldIssues } from "../common/FormErrors.ts"
import { ageAt, dayNumber } from "../../domain/jurisdiction/Rules.ts"
import { isCountry, isCurrency, toE164 } from "../../domain/Standards.ts"
import { formOf } from "../common/Resource.ts"
import { birthDate, changing, clearable, person } from "./PlayerResource.ts"

/** Messages by field; nested fields with dots. */
export type FieldMessages = { readonly [field: string]: ReadonlyArray<string> }

/** Age of a person whom no jurisdiction says more of. */
const adultYears = 18

const holds = (message: string, predicate: (text: string) => boolean) =>
  Schema.makeFilter((text: string) => predicate(text) || message)

const password = Schema.String.check(
  Schema.isBetweenCodePoints(8, 200, { message: "must be 8 to 200 characters" }),
  holds("must be 8 to 200 characters", (text) => text.length <= 200),
  Schema.isPattern(/\p{L}/u, { message: "must contain a letter" }),
  Schema.isPattern(/\p{Nd}/u, { message: "must contain a digit" })
)

const optional = Schema.optionalKey

const named = Struct.map(person, formOf)

const country = named.country.check(holds("must be an ISO 3166-1 alpha-2 country code", isCountry))

const phone = keptAs(
  Schema.requiredKey(named.phone).check(
    holds("must be a phone number in international format, like +35621234567", (text) => toE164(text) !== undefined)
  ),
  (text) => toE164(text) ?? text
)

const forms = {
  ...named,
  country,
  phone: optional(phone),
  currency: optional(
    Schema.requiredKey(named.currency).check(holds("must be an active ISO 4217 currency code", isCurrency))
  )
}

/** The values are trimmed before. What has to be there stands first. */
export const Registration = Schema.Struct({
  ...Struct.pick(forms, ["username", "email", "first_name", "last_name", "birth_date", "country"]),
  terms_accepted: Schema.Literal(true).annotate({ message: "must be true: the player has to accept the terms" }),
  ...Struct.pick(forms, ["external_id"]),
  password: optional(password),
  ...forms,
  ...Struct.map({
    promo_code: text(64),
    affiliate_id: text(255),
    btag: text(255),
    registration_ip: ipAddress,
    terms_version: text(64),
    marketing: Schema.Struct({ email: Schema.Boolean, sms: Schema.Boolean, newsletter: Schema.Boolean }).mapFields(
      Struct.map(optional)
    ),
    is_test: Schema.Boolean,
    // any name: one that is no limit is refused, where a struct would pass over it
    limits: Schema.Record(Schema.String, Schema.Unknown).annotate({
      description: "Limits that the player begins with, as in a change of limits."
    }),
    jurisdiction: text(64, { description: "One of the operator's profiles; without it the default one." })
  }, optional)
}).annotate({
  identifier: "Registration",
  examples: [{
    username: "lucky_luke",
    email: "luke@example.com",
    first_name: "Luke",
    last_name: "Marten",
    birth_date: "1990-12-31",
    country: "DE",
    terms_accepted: true,
    external_id: "c-1001",
    phone: "+4915112345678",
    language: "de",
    registration_ip: "203.0.113.7",
    marketing: { email: true }
  }]
})

export type Registration = typeof Registration.Type

/** The fields that can change, each under the rules of a registration; absent means unchanged. */
const Changes = Schema.Struct({
  ...Struct.map({ ...Struct.map(changing, formOf), country, phone }, optional),
  marketing: optional(Schema.Struct({ email: optional(Schema.Boolean) }))
})

const decodeChanges = Schema.decodeUnknownResult(Changes, { errors: "all" })

/** Null takes away a value that a player may be without. */
export const ProfileUpdate = Schema.Struct({
  ...Changes.fields,
  ...Struct.map(
    Struct.map(Struct.map(Struct.pick(forms, clearable), Schema.requiredKey), Schema.NullOr),
    optional
  )
}).annotate({
  identifier: "ProfileUpdate",
  examples: [{ city: "Hamburg", phone: null, marketing: { email: false } }]
})

/** The fields that no two players of an operator share. Undefined where the field is absent or not well formed. */
export interface UniqueFields {
  readonly username: string | undefined
  readonly email: string | undefined
  readonly phone: string | undefined
  readonly external_id: string | undefined
}

export interface CheckedRegistration {
  /** Present when every field keeps its rules. */
  readonly registration: Registration | undefined
  readonly messages: FieldMessages
  readonly unique: UniqueFields
}

const decodeRegistration = Schema.decodeUnknownResult(Registration, { errors: "all" })
const decodeBirthDate = Schema.decodeUnknownOption(birthDate)
const decodeUsername = Schema.decodeUnknownOption(forms.username)
const decodeEmail = Schema.decodeUnknownOption(forms.email)
const decodePhone = Schema.decodeUnknownOption(phone)
const decodeExternalId = Schema.decodeUnknownOption(Schema.requiredKey(forms.external_id))

type Body = { readonly [field: string]: unknown }

const isObject = (value: unknown): value is Body => typeof value === "object" && value !== null && !Array.isArray(value)

/** Fields of which a blank is a part, or a fault, of the value. */
const untrimmed: ReadonlySet<string> = new Set([
  "username",
  "gender",
  "password",
  "birth_date",
  "country",
  "language",
  "currency",
  "registration_ip"
])

const trimmed = (field: string, value: unknown): unknown =>
  typeof value === "string" && !untrimmed.has(field) ? value.trim() : value

const isBlank = (field: string, value: unknown): boolean =>
  value === null || (typeof value === "string" && field !== "password" && value.trim() === "")

const clearableFields: ReadonlySet<string> = new Set(clearable)

/** The fields that carry a value: null and blanks were not given. */
const given = (body: Body): Body =>
  Object.fromEntries(
    Object.entries(body).flatMap(([field, value]) =>
      isBlank(field, value)
        ? []
        : [[field, field === "marketing" && isObject(value) ? given(value) : trimmed(field, value)]]
    )
  )

/** The refusal of a birth date that is too late. */
const ageMessages = (sent: unknown, now: number, years = adultYears): FieldMessages => {
  const day = decodeBirthDate(sent)
  return Option.isSome(day) && ageAt(dayNumber(day.value), now) < years
    ? { birth_date: [`must be at least ${years} years ago`] }
    : {}
}

const uniqueIn = (sent: Body): UniqueFields => ({
  username: Option.getOrUndefined(decodeUsername(sent["username"])),
  email: Option.getOrUndefined(decodeEmail(sent["email"])),
  phone: Option.getOrUndefined(decodePhone(sent["phone"])),
  external_id: Option.getOrUndefined(decodeExternalId(sent["external_id"]))
})

/** The jurisdictions that an operator's players can be registered under. */
export interface RegistrationTerms {
  /** Age of the youngest player by jurisdiction, in years. */
  readonly minimumAges: ReadonlyMap<string, number>
  readonly defaultProfile: string
}

/** Checks the body of a registration. `now` is epoch milliseconds. */
export const checkRegistration = (body: Body, terms: RegistrationTerms, now: number): CheckedRegistration => {
  const { defaultProfile, minimumAges } = terms
  const sent = given(body)
  const decoded = decodeRegistration(sent)
  const { jurisdiction = defaultProfile } = sent
  const years = typeof jurisdiction === "string" ? minimumAges.get(jurisdiction) : undefined
  const messages = {
    ...(Result.isFailure(decoded) ? fieldIssues(decoded.failure.issue) : {}),
    ...(years === undefined ? { jurisdiction: [`must be one of ${[...minimumAges.keys()].join(", ")}`] } : {}),
    ...ageMessages(sent["birth_date"], now, years)
  }
  return {
    registration: Result.isSuccess(decoded) && Object.keys(messages).length === 0 ? decoded.success : undefined,
    messages,
    unique: uniqueIn(sent)
  }
}

/** What a profile update changes: fields of a person, and a consent. */
export const profileFields = [...Struct.keys(changing), "marketing.email"] as const

export type ProfileField = (typeof profileFields)[number]

/** The new values of the fields sent, as they are stored; null takes one away. */
export type ProfileChanges = ReadonlyMap<ProfileField, string | boolean | null>

export interface CheckedChanges {
  /** Present when every field keeps its rules. */
  readonly changes: ProfileChanges | undefined
  readonly messages: FieldMessages
  readonly unique: UniqueFields
}

/** Checks the body of a profile update of a player in a jurisdiction with this minimum age. A blank text counts as null. `now` is epoch milliseconds. */
export const checkProfileChanges = (body: Body, now: number, minimumAge = adultYears): CheckedChanges => {
  const fields = Object.entries(body).filter(([field]) => Object.hasOwn(ProfileUpdate.fields, field))
  const empty = fields.flatMap(([field, value]) => field !== "marketing" && isBlank(field, value) ? [field] : [])
  const sent = Object.fromEntries(
    fields.filter(([field]) => !empty.includes(field)).map(([field, value]) => [field, trimmed(field, value)])
  )
  const decoded = decodeChanges(sent)
  const messages: FieldMessages = {
    ...(Result.isFailure(decoded) ? fieldIssues(decoded.failure.issue) : {}),
    ...Object.fromEntries(
      empty.filter((field) => !clearableFields.has(field)).map((field) => [field, ["must not be empty"]])
    ),
    ...ageMessages(sent["birth_date"], now, minimumAge)
  }
  const unique = { ...uniqueIn(sent), username: undefined }
  if (Result.isFailure(decoded) || Object.keys(messages).length > 0) return { changes: undefined, messages, unique }
  const { marketing, ...values } = decoded.success
  const changes = new Map<ProfileField, string | boolean | null>(
    profileFields.filter((field) => empty.includes(field)).map((field) => [field, null])
  )
  for (const field of profileFields) {
    const value = field === "marketing.email" ? marketing?.email : values[field]
    if (value !== undefined) changes.set(field, value)
  }
  return { changes, messages, unique }
}

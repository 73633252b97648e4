/**
 * What a registration must say (SPEC section 4.2), field by field and all at once. Pure: what is taken already, and who is
 * excluded, is asked of the database elsewhere.
 */
import { Option, Result, Schema, SchemaGetter, SchemaIssue } from "effect"
import * as Net from "node:net"
import { iso } from "../../platform/Time.ts"
import { isCountry, isCurrency, toE164 } from "../../platform/Standards.ts"

/** What is wrong, by field; nested fields with dots. */
export type FieldMessages = { readonly [field: string]: ReadonlyArray<string> }

const adultYears = 18
const textLength = 255

const failsWith = (message: string, holds: (text: string) => boolean) =>
  Schema.makeFilter((text: string) => holds(text) || message)

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const isPlain = failsWith("must not contain control characters", (text) => !/[\u0000-\u001f\u007f]/.test(text))
const isWellFormed = failsWith("must be well-formed text", (text) => text.isWellFormed())

const AnyText = Schema.String.annotate({ message: "must be a string" })

const Text = (maxLength: number) =>
  AnyText.pipe(Schema.decodeTo(
    Schema.String.check(
      Schema.isMaxLength(maxLength, { message: `must have at most ${maxLength} characters` }),
      isPlain,
      isWellFormed
    ),
    { decode: SchemaGetter.transform((text) => text.trim()), encode: SchemaGetter.passthrough() }
  ))

const Username = AnyText.check(
  Schema.isPattern(/^[A-Za-z0-9_-]{3,30}$/, {
    message: "must have 3 to 30 characters: letters, digits, dashes, underscores"
  })
)

const Email = AnyText.pipe(Schema.decodeTo(
  Schema.String.check(
    Schema.isMaxLength(254, { message: "must have at most 254 characters" }),
    Schema.isPattern(/^[^\s@"(),:;<>[\]\\]+@[^\s@.]+(\.[^\s@.]+)+$/, { message: "must be an e-mail address" }),
    isPlain,
    isWellFormed
  ),
  { decode: SchemaGetter.transform((text) => text.trim().toLowerCase()), encode: SchemaGetter.passthrough() }
))

/** A day of the calendar, `YYYY-MM-DD`. */
const isDay = (text: string): boolean => {
  if (!/^(19|20)\d\d-\d\d-\d\d$/.test(text)) return false
  const time = Date.parse(`${text}T00:00:00.000Z`)
  return Number.isFinite(time) && iso(time).startsWith(text)
}

const BirthDate = AnyText.check(failsWith("must be a date like 1990-12-31", isDay))

const Phone = AnyText.pipe(
  Schema.check(
    failsWith("must be a phone number in international format, like +35621234567", (text) => toE164(text) !== undefined)
  ),
  Schema.decodeTo(Schema.String, {
    decode: SchemaGetter.transform((text) => toE164(text) ?? text),
    encode: SchemaGetter.passthrough()
  })
)

const Password = AnyText.check(
  failsWith(
    "must have 8 to 200 characters with letters and digits",
    (text) => text.length >= 8 && text.length <= 200 && /\p{L}/u.test(text) && /\p{Nd}/u.test(text)
  )
)

const Flag = Schema.Boolean.annotate({ message: "must be true or false" })

const required = { messageMissingKey: "is required" }

/** The fields of a registration after the rules: trimmed, lower-cased, numbers in E.164. Absent means not given. */
export const Registration = Schema.Struct({
  username: Username.annotateKey(required),
  email: Email.annotateKey(required),
  first_name: Text(textLength).annotateKey(required),
  last_name: Text(textLength).annotateKey(required),
  birth_date: BirthDate.annotateKey(required),
  country: AnyText.check(failsWith("must be an ISO 3166-1 alpha-2 country code", isCountry)).annotateKey(required),
  terms_accepted: Schema.Literal(true).annotate({ message: "must be true: the player has to accept the terms" })
    .annotateKey(required),
  external_id: Schema.optionalKey(Text(textLength)),
  password: Schema.optionalKey(Password),
  middle_name: Schema.optionalKey(Text(textLength)),
  city: Schema.optionalKey(Text(textLength)),
  address: Schema.optionalKey(Text(500)),
  zip_code: Schema.optionalKey(Text(32)),
  personal_id: Schema.optionalKey(Text(64)),
  document_number: Schema.optionalKey(Text(64)),
  gender: Schema.optionalKey(
    Schema.Literals(["male", "female", "other"]).annotate({ message: "must be male, female or other" })
  ),
  phone: Schema.optionalKey(Phone),
  language: Schema.optionalKey(
    AnyText.check(Schema.isPattern(/^[a-z]{2}$/, { message: "must be a two-letter language code like en" }))
  ),
  currency: Schema.optionalKey(AnyText.check(failsWith("must be an active ISO 4217 currency code", isCurrency))),
  promo_code: Schema.optionalKey(Text(64)),
  affiliate_id: Schema.optionalKey(Text(textLength)),
  btag: Schema.optionalKey(Text(textLength)),
  registration_ip: Schema.optionalKey(
    AnyText.check(failsWith("must be an IPv4 or IPv6 address", (text) => Net.isIP(text) !== 0))
  ),
  terms_version: Schema.optionalKey(Text(64)),
  marketing: Schema.optionalKey(
    Schema.Struct({
      email: Schema.optionalKey(Flag),
      sms: Schema.optionalKey(Flag),
      newsletter: Schema.optionalKey(Flag)
    }).annotate({ message: "must be an object" })
  ),
  is_test: Schema.optionalKey(Flag)
})

export type Registration = typeof Registration.Type

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

/** True from the 18th birthday on, by the calendar day in UTC. `birthDate` is `YYYY-MM-DD`, `now` epoch milliseconds. */
export const isAdult = (birthDate: string, now: number): boolean => {
  const [year = "", ...monthAndDay] = iso(now).slice(0, 10).split("-")
  return birthDate <= [String(Number(year) - adultYears), ...monthAndDay].join("-")
}

/** What is said of a birth date that is too late. */
export const tooYoung: ReadonlyArray<string> = [`must be at least ${adultYears} years ago`]

const decode = Schema.decodeUnknownResult(Registration, { errors: "all" })
const decodeBirthDate = Schema.decodeUnknownOption(BirthDate)
const decodeUsername = Schema.decodeUnknownOption(Username)
const decodeEmail = Schema.decodeUnknownOption(Email)
const decodePhone = Schema.decodeUnknownOption(Phone)
const decodeExternalId = Schema.decodeUnknownOption(Registration.fields.external_id)
const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** What is wrong with a body, by field. */
export const messagesOf = (issue: SchemaIssue.Issue): FieldMessages => {
  const messages: { [field: string]: Array<string> } = {}
  for (const { message, path = [] } of format(issue).issues) {
    const field = path.map((part) => String(typeof part === "object" ? part.key : part)).join(".")
    const known = messages[field] ??= []
    if (!known.includes(message)) known.push(message)
  }
  return messages
}

const isObject = (value: unknown): value is { readonly [field: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** What is null or blank was not given. A password is taken as it is. */
const given = (body: { readonly [field: string]: unknown }): { readonly [field: string]: unknown } =>
  Object.fromEntries(
    Object.entries(body).flatMap(([field, value]) =>
      value === null || (typeof value === "string" && field !== "password" && value.trim() === "")
        ? []
        : [[field, field === "marketing" && isObject(value) ? given(value) : value]]
    )
  )

/** Checks the body of a registration. `now` is epoch milliseconds. */
export const checkRegistration = (body: { readonly [field: string]: unknown }, now: number): CheckedRegistration => {
  const fields = given(body)
  const decoded = decode(fields)
  const birthDate = decodeBirthDate(fields["birth_date"])
  const isTooYoung = Option.isSome(birthDate) && !isAdult(birthDate.value, now)
  return {
    registration: Result.isSuccess(decoded) && !isTooYoung ? decoded.success : undefined,
    messages: {
      ...(Result.isFailure(decoded) ? messagesOf(decoded.failure.issue) : {}),
      ...(isTooYoung ? { birth_date: tooYoung } : {})
    },
    unique: {
      username: Option.getOrUndefined(decodeUsername(fields["username"])),
      email: Option.getOrUndefined(decodeEmail(fields["email"])),
      phone: Option.getOrUndefined(decodePhone(fields["phone"])),
      external_id: Option.getOrUndefined(decodeExternalId(fields["external_id"]))
    }
  }
}

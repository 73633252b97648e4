/**
 * What an operator may change about who a player is (SPEC section 4.2), field by field and all at once. Pure: what is taken
 * already is asked of the database elsewhere.
 */
import { Option, Result, Schema } from "effect"
import { type FieldMessages, isAdult, messagesOf, Registration, tooYoung, type UniqueFields } from "./Registration.ts"

const { address, birth_date, city, country, email, external_id, first_name, language, last_name, phone } =
  Registration.fields

/** The fields that can change, each under the rules of a registration. Absent means unchanged. */
const Fields = Schema.Struct({
  email: Schema.optionalKey(email),
  first_name: Schema.optionalKey(first_name),
  last_name: Schema.optionalKey(last_name),
  birth_date: Schema.optionalKey(birth_date),
  country: Schema.optionalKey(country),
  city,
  address,
  phone,
  external_id,
  language,
  marketing: Schema.optionalKey(
    Schema.Struct({
      email: Schema.optionalKey(Schema.Boolean.annotate({ message: "must be true or false" }))
    }).annotate({ message: "must be an object" })
  )
})

export const profileFields = [
  "email",
  "first_name",
  "last_name",
  "birth_date",
  "country",
  "city",
  "address",
  "phone",
  "external_id",
  "language",
  "marketing.email"
] as const

export type ProfileField = (typeof profileFields)[number]

/** What a player may be without. */
const clearable: ReadonlySet<string> = new Set(["city", "address", "phone", "external_id"])

/** The new values of the fields sent, as they are stored; null takes one away. */
export type ProfileChanges = ReadonlyMap<ProfileField, string | boolean | null>

export interface CheckedChanges {
  /** Present when every field keeps its rules. */
  readonly changes: ProfileChanges | undefined
  readonly messages: FieldMessages
  readonly unique: Omit<UniqueFields, "username">
}

const decode = Schema.decodeUnknownResult(Fields, { errors: "all" })
const decodeBirthDate = Schema.decodeUnknownOption(birth_date)
const decodeEmail = Schema.decodeUnknownOption(email)
const decodePhone = Schema.decodeUnknownOption(phone)
const decodeExternalId = Schema.decodeUnknownOption(external_id)

const isBlank = (value: unknown): boolean => value === null || (typeof value === "string" && value.trim() === "")

/**
 * Checks the body of a profile update. Null, or a blank text, takes away what a player may be without. `now` is epoch
 * milliseconds.
 */
export const checkProfileChanges = (body: { readonly [field: string]: unknown }, now: number): CheckedChanges => {
  const names = profileFields.filter((field) => field !== "marketing.email" && Object.hasOwn(body, field))
  const blank = names.filter((field) => isBlank(body[field]))
  const sent = Object.fromEntries([
    ...names.filter((field) => !blank.includes(field)).map((field) => [field, body[field]] as const),
    ...(Object.hasOwn(body, "marketing") ? [["marketing", body["marketing"]] as const] : [])
  ])
  const decoded = decode(sent)
  const birthDate = decodeBirthDate(sent["birth_date"])
  const messages: FieldMessages = {
    ...(Result.isFailure(decoded) ? messagesOf(decoded.failure.issue) : {}),
    ...Object.fromEntries(
      blank.filter((field) => !clearable.has(field)).map((field) => [field, ["must not be empty"]])
    ),
    ...(Option.isSome(birthDate) && !isAdult(birthDate.value, now) ? { birth_date: tooYoung } : {})
  }
  const unique = {
    email: Option.getOrUndefined(decodeEmail(sent["email"])),
    phone: Option.getOrUndefined(decodePhone(sent["phone"])),
    external_id: Option.getOrUndefined(decodeExternalId(sent["external_id"]))
  }
  if (Result.isFailure(decoded) || Object.keys(messages).length > 0) return { changes: undefined, messages, unique }
  const { marketing, ...fields } = decoded.success
  const changes = new Map<ProfileField, string | boolean | null>(blank.map((field) => [field, null]))
  for (const field of profileFields) {
    const value = field === "marketing.email" ? marketing?.email : fields[field]
    if (value !== undefined) changes.set(field, value)
  }
  return { changes, messages, unique }
}

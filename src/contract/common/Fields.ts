/**
 * Request field schemas, each with its validation message, which continues the name of the field ("username" must be …). Every text is bounded and
 * free of control characters, which the database cannot hold.
 *
 * Only the form is validated here. Checks that need the time, the database or a changing list are made by `src/features`.
 */
import { Schema, SchemaGetter } from "effect"
import ipaddr from "ipaddr.js"
import { maxAmount } from "../../domain/Money.ts"

// oxlint-disable-next-line no-control-regex -- matches control characters
const controls = /[\u0000-\u001f\u007f]/
// oxlint-disable-next-line no-control-regex -- as above, but line breaks and tabs may stay
const controlsInLines = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/

const hasNo = (pattern: RegExp) =>
  Schema.makeFilter(
    (text: string) => text.isWellFormed() && !pattern.test(text),
    { message: "must not contain control characters", expected: "no control characters" }
  )

const lengthMessage = (min: number, max: number) =>
  min === 0 ? `must be at most ${max} characters` : `must be ${min} to ${max} characters`

declare module "effect/Schema" {
  namespace Annotations {
    interface Annotations {
      /** An amount of money, in minor units. */
      readonly amount?: true
      /** A text that may have line breaks. */
      readonly lines?: true
    }
  }
}

type About = Schema.Annotations.Bottom<string, readonly []>

// Annotates the text before its checks: an annotation after a check belongs to that check alone.
const string = (about: About) => Schema.String.annotate(about)

/** Single line of text, 1 to `max` characters. */
export const text = (max: number, about: About = {}) =>
  string(about).check(Schema.isBetweenLength(1, max, { message: lengthMessage(1, max) }), hasNo(controls))

/** Text with line breaks allowed, up to `max` characters. */
export const lines = (max: number, about: About = {}) =>
  string({ ...about, lines: true }).check(
    Schema.isMaxLength(max, { message: lengthMessage(0, max) }),
    hasNo(controlsInLines)
  )

/** A text of this form that is kept in another one. */
export const keptAs = (form: Schema.String, change: (text: string) => string) =>
  form.pipe(
    Schema.decodeTo(Schema.String, { decode: SchemaGetter.transform(change), encode: SchemaGetter.passthrough() })
  )

/** One of the given words. */
export const oneOf = <const Words extends ReadonlyArray<string>>(words: Words) =>
  Schema.Literals(words).annotate({ message: `must be one of: ${words.join(", ")}` })

/** External id: a provider's transaction, round or game. */
export const reference = text(128)

/** Digest of a file. */
export const sha256 = text(64).check(
  Schema.isPattern(/^[0-9a-f]{64}$/u, { message: "must be 64 hexadecimal digits" })
)

export const username = string({ examples: ["lucky_luke"] }).check(
  Schema.isPattern(/^[A-Za-z0-9_-]{3,30}$/u, {
    message: "must be 3 to 30 characters: letters, digits, dashes and underscores"
  })
)

export const email = string({ format: "email", examples: ["luke@example.com"] }).check(
  Schema.isMaxLength(254, { message: lengthMessage(0, 254) }),
  Schema.isPattern(/^[^\s@<>()[\],;:\\"]+@[^\s@.<>()[\],;:\\"]+(\.[^\s@.<>()[\],;:\\"]+)+$/u, {
    message: "must be an e-mail address"
  }),
  hasNo(controls)
)

const daysOf = (year: number, month: number): number =>
  month === 2
    ? (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28)
    : [4, 6, 9, 11].includes(month)
    ? 30
    : 31

const datePattern = /^(\d{4})-(\d{2})-(\d{2})/

/** True when a text begins with an existing date. */
const hasDay = (value: string): boolean => {
  const match = datePattern.exec(value)
  if (match === null) return false
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])]
  return year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month)
}

/** Calendar day, `YYYY-MM-DD`. */
export const date = string({ format: "date", examples: ["1990-12-31"] }).check(
  Schema.makeFilter((value: string) => value.length === 10 && hasDay(value), {
    message: "must be a date like 1990-12-31",
    expected: "a date"
  })
)

const instantPattern = /^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/

/** An offset can move an instant out of the four-digit years that the database and the wire support. */
const hasYear = (value: string): boolean => /^(?!0000)\d{4}/.test(new Date(value).toISOString())

/** Instant, ISO 8601 with an offset or `Z`. */
export const instant = string({ format: "date-time", examples: ["2026-11-20T12:00:00Z"] }).check(
  Schema.makeFilter((value: string) => instantPattern.test(value) && hasDay(value) && hasYear(value), {
    message: "must be a date and time like 2026-11-20T12:00:00Z",
    expected: "a date and time"
  })
)

/** Form of an ISO 3166-1 alpha-2 code. */
export const country = string({ examples: ["DE"] }).check(
  Schema.isPattern(/^[A-Z]{2}$/u, { message: "must be a two-letter ISO 3166-1 country code like DE" })
)

/** Form of an ISO 4217 code. */
export const currency = string({ examples: ["EUR"] }).check(
  Schema.isPattern(/^[A-Z]{3}$/u, { message: "must be a three-letter ISO 4217 currency code like EUR" })
)

export const language = string({ examples: ["en"] }).check(
  Schema.isPattern(/^[a-z]{2}$/u, { message: "must be a two-letter language code like en" })
)

const isIPv4 = (value: string): boolean => ipaddr.IPv4.isValidFourPartDecimal(value)

/** An embedded IPv4 address must be decimal: other notations are parsed differently by different programs. */
const isIPv6 = (value: string): boolean => {
  const tail = value.slice(value.lastIndexOf(":") + 1)
  return value.includes(":") && ipaddr.IPv6.isValid(value) && (!tail.includes(".") || isIPv4(tail))
}

export const ipAddress = string({ examples: ["203.0.113.7"] }).check(
  Schema.makeFilter(
    (value: string) => isIPv4(value) || isIPv6(value),
    { message: "must be an IPv4 or IPv6 address", expected: "an IP address" }
  )
)

/** Minor units of a currency, at least `minimum`. */
export const amountFrom = (minimum: number, description = "Minor units.") =>
  Schema.Number.annotate({ description, examples: [2500], amount: true }).check(
    Schema.isInt({ message: "must be an integer in minor units" }),
    Schema.isBetween({ minimum, maximum: maxAmount }, { message: `must be between ${minimum} and ${maxAmount}` })
  )

/** Integer between two inclusive bounds. */
export const integer = (minimum: number, maximum: number) =>
  Schema.Number.check(
    Schema.isInt({ message: "must be an integer" }),
    Schema.isBetween({ minimum, maximum }, { message: `must be between ${minimum} and ${maximum}` })
  )

const idForm = /^[1-9]\d{0,15}$/u

/** Like {@link pathId}, without a schema: undefined for an invalid id. */
export const idInPath = (segment = ""): number | undefined => {
  const id = idForm.test(segment) ? Number(segment) : undefined
  // 16 digits may exceed the exact integers, of which alone a key can be
  return Number.isSafeInteger(id) ? id : undefined
}

/** Id assigned by the service, in a path. Any other text is not found. */
export const pathId = Schema.String.check(
  Schema.isPattern(idForm, { message: "must be an id" })
).pipe(
  Schema.decodeTo(
    Schema.Number.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
    {
      decode: SchemaGetter.transform(Number),
      encode: SchemaGetter.transform(String)
    }
  )
)

/** Short name of an operator or a provider. */
export const slug = Schema.String.annotate({ examples: ["lucky-casino"] }).check(
  Schema.isPattern(/^[a-z][a-z0-9-]{1,62}$/u, {
    message: "must be 2 to 63 characters: lower-case letters, digits and dashes, a letter first"
  })
)

const address = Schema.String.annotate({ examples: ["203.0.113.7", "10.0.0.0/8"] }).check(
  Schema.makeFilter(
    (value: string) =>
      ipaddr.isValidCIDR(value) || ipaddr.IPv4.isValidFourPartDecimal(value) ||
      (value.includes(":") && ipaddr.IPv6.isValid(value)),
    { message: "must be an address or a range like 10.0.0.0/8", expected: "an address" }
  )
)

export const addresses = Schema.Array(address).check(
  Schema.isMaxLength(100, { message: "must have at most 100 entries" })
)

/** Web address; placeholders are allowed anywhere after the host. */
export const webAddress = text(2000).check(
  Schema.makeFilter(
    (value: string) => /^https?:\/\//.test(value) && URL.canParse(value.replaceAll(/[{}]/g, "x")),
    { message: "must be an http or https address", expected: "a web address" }
  )
)

export const percent = Schema.Number.check(
  Schema.isBetween({ minimum: 0, maximum: 100 }, { message: "must be between 0 and 100" })
)

/** `true` or `false` in a query. */
export const flagInQuery = oneOf(["true", "false"])

/** Values by the JSON schema of an endpoint, some of them existing ids. */
import fc from "fast-check"
import { isNode, type Node } from "./Endpoints.ts"

/** Known ids, by field name. Grows with the service's answers; bounded. */
export class Known {
  readonly #values = new Map<string, Array<unknown>>()

  /** Maximum number of ids kept per name, newest first. */
  static readonly maxEach = 60

  add(name: string, value: unknown): void {
    const values = this.#values.get(name) ?? []
    this.#values.set(name, values)
    if (values.includes(value)) return
    values.push(value)
    if (values.length > Known.maxEach) values.shift()
  }

  /** The id at a place, modulo their number; undefined when none of that name is known. */
  pick(name: string, place: number): unknown {
    const values = this.#values.get(name) ?? []
    return values[place % Math.max(1, values.length)]
  }
}

/** Texts that often cause errors. */
const oddTexts = [
  "",
  " ",
  "0",
  "-1",
  "null",
  "true",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\u202e",
  "ﬁ",
  "ß",
  "İ",
  "👩‍👩‍👧‍👦",
  "e\u0301",
  "'; --",
  "%",
  "%00",
  "../../",
  "__proto__",
  "constructor",
  "toString",
  "{}",
  "[]",
  "1e999",
  "NaN",
  "9007199254740993",
  "99999999999999999999",
  "2026-02-30",
  "0000-00-00",
  "9999-12-31T23:59:60.000Z",
  "+275760-09-13T00:00:00.001Z",
  "x".repeat(5000)
]

const oddNumbers = [
  0,
  -0,
  -1,
  1,
  0.5,
  1e21,
  1e308,
  -1e308,
  2 ** 31,
  2 ** 32,
  2 ** 53 - 1,
  2 ** 53,
  -(2 ** 53),
  1e15,
  5e-324
]

export const oddValues: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(...oddTexts),
  fc.constantFrom<unknown>(...oddNumbers),
  fc.constantFrom<unknown>(null, true, false, [], {}, [[]], [null], { a: { b: { c: {} } } }),
  fc.jsonValue({ maxDepth: 3 })
)

const instants = fc.date({ min: new Date("1900-01-01"), max: new Date("2100-01-01"), noInvalidDate: true })

/** A host that never resolves (RFC 2606): no generated URL is ever called. */
const nowhere = "https://hook.invalid/"

/** Mostly the first, now and then the second. */
const mostly = (usual: fc.Arbitrary<unknown>, other: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ arbitrary: usual, weight: 14 }, { arbitrary: other, weight: 1 })

const money = (maximum: number) => mostly(fc.integer({ min: 1, max: maximum }), fc.constantFrom<unknown>(...oddNumbers))

const words = fc.stringMatching(/^[A-Za-z][a-z]{2,12}$/)

const days = fc.integer({ min: 1, max: 28 }).map((day) => `2026-11-${String(day).padStart(2, "0")}`)

/** Fields whose values have a meaning beyond their schema. */
const meant: { readonly [name: string]: fc.Arbitrary<unknown> } = {
  country: mostly(fc.constantFrom("MT", "SE", "DE"), fc.constantFrom("XX", "ZZ", "mt")),
  currency: mostly(fc.constant("EUR"), fc.constantFrom("SEK", "JPY", "XXX", "eur")),
  base: fc.constantFrom("EUR", "SEK"),
  birth_date: mostly(
    fc.constantFrom("1990-01-01", "1950-12-31", "2000-02-29"),
    fc.constantFrom("2015-01-01", "1890-01-01")
  ),
  terms_accepted: mostly(fc.constant(true), fc.constant(false)),
  phone: mostly(fc.constantFrom("+35699123456", "+46701234567"), fc.constant("12")),
  url: fc.nat(9).map((number) => `${nowhere}${number}`),
  launch_url: fc.constant(`${nowhere}?t={token}&g={game}&m={mode}`),
  demo_url: fc.constant(`${nowhere}demo?g={game}`),
  thumbnail_url: fc.constant(`${nowhere}thumbnail.png`),
  amount: money(2000),
  stake: money(200),
  params: fc.constantFrom({ direction: "under", target: 50 }, { direction: "over", target: 20 }, {}),
  ip: fc.constant([]),
  password: words.map((word) => `${word}-2026-x`),
  registration_ip: fc.constantFrom("192.0.2.7", "2001:db8::7"),
  personal_id: words,
  document_number: words,
  limits: fc.dictionary(
    fc.constantFrom("max_daily_bet", "max_weekly_deposit", "max_monthly_loss", "max_balance", "max_session_minutes"),
    fc.option(fc.integer({ min: 0, max: 1_000_000 }))
  ),
  rate: fc.double({ min: 0.01, max: 100, noNaN: true }),
  rtp: fc.double({ min: 80, max: 99, noNaN: true }),
  page: fc.integer({ min: 1, max: 3 }),
  per_page: fc.integer({ min: 1, max: 100 }),
  older_than_hours: fc.integer({ min: 1, max: 100 }),
  from: days,
  to: days,
  username: fc.stringMatching(/^[a-z]{5,20}$/),
  name: words,
  first_name: words,
  last_name: words,
  reason: words
}

/** Names that a caller makes up anew more often than it repeats one. */
const madeUp = new Set([
  "transaction_id",
  "round_id",
  "request_id",
  "external_reference",
  "username",
  "email",
  "external_id"
])

/** A text by a pattern; any text where fast-check does not know the pattern's language. */
const byPattern = (pattern: string, flags: string): fc.Arbitrary<string> => {
  try {
    return fc.stringMatching(new RegExp(pattern, flags))
  } catch {
    return fc.string()
  }
}

const textOf = (schema: Node): fc.Arbitrary<unknown> => {
  const { format, maxLength, minLength, pattern } = schema
  if (format === "date-time") return instants.map((date) => date.toISOString())
  if (format === "date") return instants.map((date) => date.toISOString().slice(0, 10))
  if (format === "email") return fc.emailAddress()
  if (typeof pattern === "string") return byPattern(pattern, "u")
  const from = typeof minLength === "number" ? minLength : 0
  const to = typeof maxLength === "number" ? maxLength : 100
  const sane = fc.stringMatching(/^[A-Za-z0-9-]{8,12}$/).map((text) => text.slice(0, to).padEnd(from, "x"))
  return mostly(
    sane,
    fc.oneof(
      fc.string({ unit: "grapheme", minLength: from, maxLength: Math.min(to, from + 40) }),
      fc.string({ unit: "binary", minLength: from, maxLength: Math.min(to, from + 10) }),
      fc.constant("x".repeat(to))
    )
  )
}

const numberOf = ({ maximum, minimum, type }: Node): fc.Arbitrary<unknown> => {
  const from = typeof minimum === "number" ? minimum : -(2 ** 53 - 1)
  const to = typeof maximum === "number" ? maximum : 2 ** 53 - 1
  return type === "integer"
    ? mostly(
      fc.integer({ min: Math.max(from, 0), max: Math.min(to, 5000) }),
      fc.oneof(fc.maxSafeInteger(), fc.constantFrom(from, to))
    )
    : fc.double({ min: from, max: to, noNaN: true })
}

const objectOf = ({ properties, required }: Node, known: Known): fc.Arbitrary<unknown> => {
  const fields = isNode(properties) ? properties : {}
  const needed = Array.isArray(required) ? required.map(String).filter((name) => name in fields) : []
  return fc.record(
    Object.fromEntries(
      Object.entries(fields).map(([name, inner]) => [name, fieldOf(name, isNode(inner) ? inner : {}, known)])
    ),
    { requiredKeys: needed }
  )
}

/** A value by its schema. */
const valueOf = (schema: Node, known: Known): fc.Arbitrary<unknown> => {
  const { allOf, anyOf, const: only, enum: choices, items, oneOf, type } = schema
  if (only !== undefined) return fc.constant(only)
  if (Array.isArray(choices)) return fc.constantFrom<unknown>(...choices)
  const parts = anyOf ?? oneOf
  if (Array.isArray(parts)) return fc.oneof(...parts.filter(isNode).map((part) => valueOf(part, known)))
  if (Array.isArray(allOf)) {
    return valueOf(Object.assign({}, ...allOf.filter(isNode), { ...schema, allOf: undefined }), known)
  }
  if (Array.isArray(type)) return fc.oneof(...type.map((each) => valueOf({ ...schema, type: each }, known)))
  switch (type) {
    case "string":
      return textOf(schema)
    case "integer":
    case "number":
      return numberOf(schema)
    case "boolean":
      return fc.boolean()
    case "null":
      return fc.constant(null)
    case "array":
      return fc.array(valueOf(isNode(items) ? items : {}, known), { maxLength: 4 })
    case "object":
      return objectOf(schema, known)
    default:
      return oddValues
  }
}

/** A value of a field: by its schema, by its meaning, or an existing id. */
export const fieldOf = (name: string, schema: Node, known: Known): fc.Arbitrary<unknown> => {
  const bySchema = valueOf(schema, known)
  const byMeaning = meant[name] ?? bySchema
  // Evaluated at the draw, with the ids known by then.
  const existing = fc.tuple(fc.nat(Known.maxEach), byMeaning).map(([place, other]) => known.pick(name, place) ?? other)
  return fc.oneof(
    { arbitrary: existing, weight: madeUp.has(name) ? 6 : 16 },
    { arbitrary: byMeaning, weight: madeUp.has(name) ? 12 : 2 },
    { arbitrary: bySchema, weight: 1 }
  )
}

/** A body of an endpoint. */
export const bodyOf = valueOf

/** Damage to a valid request: in its values, its bytes, its headers and its path. */
import fc from "fast-check"
import { maxBodyBytes } from "../../../src/contract/common/Envelope.ts"
import { isNode } from "./Endpoints.ts"
import { oddValues } from "./Values.ts"

/** Changes one part of a JSON value, chosen by `place`. */
export type ValueDamage = (value: unknown) => unknown

/** The value with the part at one place replaced. Places are counted from the outside in, fields in order. */
const replaceAt = (value: unknown, place: number, replace: (inner: unknown) => unknown): unknown => {
  const entries = isNode(value) ? Object.entries(value) : Array.isArray(value) ? [...value.entries()] : []
  if (entries.length === 0 || place === 0) return replace(value)
  const index = (place - 1) % entries.length
  const deeper = Math.floor((place - 1) / entries.length)
  const inside = (inner: unknown) => deeper === 0 ? replace(inner) : replaceAt(inner, deeper, replace)
  if (Array.isArray(value)) return value.map((inner: unknown, at) => at === index ? inside(inner) : inner)
  return Object.fromEntries(entries.map(([key, inner], at) => [key, at === index ? inside(inner) : inner]))
}

const without = (value: unknown, place: number): unknown =>
  isNode(value) ? Object.fromEntries(Object.entries(value).filter((_, at, all) => at !== place % all.length)) : value

const deep = (depth: number): unknown => {
  let value: unknown = 0
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

const surpriseNames = [
  "__proto__",
  "constructor",
  "prototype",
  "",
  "a.b",
  "a[0]",
  "id",
  "operator_id",
  "player_id",
  "x".repeat(300)
]

const surprise = (value: unknown, name: string, inner: unknown): unknown =>
  isNode(value) ? Object.fromEntries([...Object.entries(value), [name, inner]]) : value

/** Numbers of names or elements, above all bounds and below. */
const counts = fc.constantFrom(60, 300, 5000, 20_000)

const manyNames = (value: unknown, count: number): unknown =>
  isNode(value)
    ? { ...value, ...Object.fromEntries(Array.from({ length: count }, (_, name) => [`invented_${name}`, name])) }
    : value

/** Bytes of elements, at which no more are added: twice what a body may have. */
const maxElementsBytes = 2 * maxBodyBytes

const manyElements = (value: unknown, count: number): unknown => {
  if (!Array.isArray(value)) return value
  const bytesEach = JSON.stringify(value).length / Math.max(1, value.length)
  return Array.from(
    { length: Math.min(count, Math.ceil(maxElementsBytes / bytesEach)) },
    (_, at): unknown => value[at % Math.max(1, value.length)] ?? {}
  )
}

/** Damage to a body's values. */
export const valueDamage: fc.Arbitrary<ValueDamage> = fc.oneof(
  fc.tuple(fc.nat(40), oddValues).map(([place, odd]): ValueDamage => (value) => replaceAt(value, place + 1, () => odd)),
  fc.nat(40).map((place): ValueDamage => (value) => without(value, place)),
  fc.tuple(fc.constantFrom(...surpriseNames), oddValues).map(([name, odd]): ValueDamage => (value) =>
    surprise(value, name, odd)
  ),
  fc.tuple(fc.nat(40), fc.constantFrom(2, 50, 3000)).map(([place, depth]): ValueDamage => (value) =>
    replaceAt(value, place, () => deep(depth))
  ),
  oddValues.map((odd): ValueDamage => () => odd),
  fc.tuple(fc.nat(6), counts).map(([place, count]): ValueDamage => (value) =>
    replaceAt(value, place, (inner) => manyElements(manyNames(inner, count), count))
  )
)

type ByteDamage = (bytes: Buffer) => Buffer

/** Damage to the bytes of a body or of a whole request. */
export const byteDamage: fc.Arbitrary<ByteDamage> = fc.oneof(
  fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })).map(([place, mask]): ByteDamage => (bytes) => {
    const copy = Buffer.from(bytes)
    if (copy.length > 0) copy[place % copy.length] = (copy[place % copy.length] ?? 0) ^ mask
    return copy
  }),
  fc.nat().map((place): ByteDamage => (bytes) => bytes.subarray(0, place % (bytes.length + 1))),
  fc.tuple(fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 20 })).map(([place, added]): ByteDamage => (bytes) => {
    const at = place % (bytes.length + 1)
    return Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at)])
  }),
  fc.tuple(fc.nat(), fc.nat(), fc.nat(60)).map(([from, to, length]): ByteDamage => (bytes) => {
    const start = from % (bytes.length + 1)
    const at = to % (bytes.length + 1)
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(start, start + length), bytes.subarray(at)])
  }),
  fc.constantFrom<ByteDamage>(
    (bytes) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]),
    (bytes) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(bytes.toString("utf8"), "utf16le")]),
    (bytes) => Buffer.concat([bytes, Buffer.from("{}")]),
    () => Buffer.from("[".repeat(20_000)),
    () => Buffer.from(`{"amount":${"9".repeat(4000)}}`),
    () => Buffer.from(`{"a":1,"a":2,"__proto__":{"x":1}}`),
    () => Buffer.alloc(300_000, "a")
  )
)

/** Header values that are strange, in what a header may hold at all. */
const oddHeaderValues = fc.oneof(
  fc.constantFrom("", " ", "0", "-1", "null", "é", "x".repeat(200), "x".repeat(2000), "a,b", "\t", "1e9", "Infinity"),
  fc.stringMatching(/^[ -~]{0,140}$/)
)

/** Protocols of an upgrade request. */
const upgrades = fc.constantFrom("websocket", "h2c", "TLS/1.0", "anything", "a, b").map((protocol) => ({
  Connection: "Upgrade",
  Upgrade: protocol
}))

/** Headers that an endpoint reads, with strange values; an empty value of some means that it is left out. */
const strangeHeaders: fc.Arbitrary<{ readonly [name: string]: string }> = fc.dictionary(
  fc.constantFrom(
    "Idempotency-Key",
    "X-Request-Id",
    "X-Nonce",
    "X-Timestamp",
    "X-Signature",
    "Authorization",
    "Content-Type",
    "Accept",
    "Accept-Encoding",
    "Content-Encoding",
    "X-Forwarded-For",
    "X-Forwarded-Proto",
    "Origin",
    "traceparent"
  ),
  oddHeaderValues,
  { minKeys: 1, maxKeys: 2 }
)

/** Headers that no good request has. */
export const oddHeaders: fc.Arbitrary<{ readonly [name: string]: string }> = fc.oneof(
  { arbitrary: strangeHeaders, weight: 4 },
  { arbitrary: upgrades, weight: 1 }
)

/** Damage to a path with its query. What comes out is still one word of visible ASCII. */
export const pathDamage: fc.Arbitrary<(uri: string) => string> = fc.oneof(
  fc.tuple(
    fc.nat(),
    fc.constantFrom(
      "%",
      "%00",
      "%ff",
      "%2e%2e/",
      "//",
      "/",
      "?",
      "&",
      "=",
      "a[]=1&",
      "+",
      ";",
      "%E2%80%AE",
      "~",
      "\\",
      "'",
      "|"
    )
  ).map(([place, added]) => (uri: string) => {
    const at = 1 + place % uri.length
    return uri.slice(0, at) + added + uri.slice(at)
  }),
  fc.nat().map((place) => (uri: string) => uri.slice(0, 1 + place % uri.length)),
  fc.constantFrom(
    (uri: string) => `${uri}${uri.includes("?") ? "&" : "?"}page=1&page=2`,
    (uri: string) => `${uri}${uri.includes("?") ? "&" : "?"}${"x=1&".repeat(500)}`,
    (uri: string) => `${uri}/${"y".repeat(6000)}`,
    (uri: string) => uri.toUpperCase(),
    (uri: string) => `${uri}?__proto__=1&constructor=2&per_page=1e3`
  )
)

/** Requests to one endpoint: valid by its schema, or valid ones with damage. */
import fc from "fast-check"
import { byteDamage, oddHeaders, pathDamage, type ValueDamage, valueDamage } from "./Damage.ts"
import { type Endpoint, isNode, type Parameter } from "./Endpoints.ts"
import { bodyOf, fieldOf, type Known } from "./Values.ts"

export interface Request {
  readonly endpoint: Endpoint
  /** Path and query as sent and signed. */
  readonly uri: string
  /** Null without a body. */
  readonly body: Buffer | null
  /** Override the sender's own; an empty one removes the header. */
  readonly headers: { readonly [name: string]: string }
  /** Index of the caller among the possible ones. */
  readonly caller: number
  /** Damage to the bytes of the whole request on the wire; null: none, sent by an HTTP client. */
  readonly onTheWire: ((bytes: Buffer) => Buffer) | null
}

const textOf = (value: unknown): string =>
  (typeof value === "string" ? value : JSON.stringify(value) ?? "").toWellFormed()

const parametersOf = (endpoint: Endpoint, place: Parameter["in"], known: Known) => {
  const parameters = endpoint.parameters.filter((each) => each.in === place)
  return fc.record(
    Object.fromEntries(parameters.map(({ name, schema }) => [name, fieldOf(name, schema, known).map(textOf)])),
    { requiredKeys: place === "path" ? parameters.map(({ name }) => name) : [] }
  )
}

const uriOf = (
  { path }: Endpoint,
  inPath: { readonly [name: string]: string | undefined },
  inQuery: { readonly [name: string]: string | undefined }
): string => {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(inPath[name] ?? ""))
  const query = Object.entries(inQuery).map(([name, value = ""]) => `${name}=${encodeURIComponent(value)}`)
  return query.length === 0 ? filled : `${filled}?${query.join("&")}`
}

/** Something that happens in one of so many requests. */
const seldom = <A>(arbitrary: fc.Arbitrary<A>, oneIn: number) =>
  fc.oneof({ arbitrary: fc.constant(null), weight: oneIn - 1 }, { arbitrary, weight: 1 })

const repeatable = fc.nat(30).map((number) => `fuzz-${number}`)

/** Makes most wins name an existing bet with its round and session. */
const ofOneBet = (value: unknown, known: Known, place: number): unknown => {
  if (!isNode(value) || !("bet_transaction_id" in value) || place % 4 === 0) return value
  const bet = known.pick("bet", place)
  return isNode(bet) ? { ...value, ...bet } : value
}

const damages: fc.Arbitrary<ReadonlyArray<ValueDamage>> = fc.oneof(
  { arbitrary: fc.constant([]), weight: 2 },
  { arbitrary: fc.array(valueDamage, { minLength: 1, maxLength: 3 }), weight: 1 }
)

/** Requests to an endpoint. Two of three are valid by its schema. */
export const requestTo = (endpoint: Endpoint, known: Known): fc.Arbitrary<Request> =>
  fc.record({
    inPath: parametersOf(endpoint, "path", known),
    inQuery: parametersOf(endpoint, "query", known),
    value: endpoint.body === null ? fc.constant(null) : bodyOf(endpoint.body, known),
    damage: damages,
    bytes: seldom(byteDamage, 12),
    path: seldom(pathDamage, 20),
    headers: seldom(oddHeaders, 12),
    key: seldom(repeatable, 10),
    caller: fc.nat(),
    onTheWire: seldom(byteDamage, 60)
  }).map(({ bytes, caller, damage, headers, inPath, inQuery, key, onTheWire, path, value }): Request => {
    const uri = uriOf(endpoint, inPath, inQuery)
    const damaged = damage.reduce<unknown>((inside, each) => each(inside), ofOneBet(value, known, caller))
    const written = endpoint.body === null ? null : Buffer.from(JSON.stringify(damaged) ?? "")
    return {
      endpoint,
      uri: path === null ? uri : path(uri),
      body: written === null || bytes === null ? written : bytes(written),
      headers: { ...(key === null ? {} : { "Idempotency-Key": key }), ...headers },
      caller,
      onTheWire
    }
  })

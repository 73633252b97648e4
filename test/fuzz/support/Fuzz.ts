/**
 * Sends generated requests to a running service and checks the answers: never a 5xx, never silence, every answer in
 * the form of the contract, and a ledger that verifies afterwards.
 */
import { Clock, Effect, Result } from "effect"
import fc from "fast-check"
import type * as Net from "node:net"
import { connect } from "node:net"
import type { Unexpected } from "../../kit/Casino.ts"
import { ConnectionLost, exchange, type Reply, signedHeaders } from "../../kit/HttpCalls.ts"
import { type Endpoint, endpointsOf, isNode, type Node } from "./Endpoints.ts"
import { type Request, requestTo } from "./Requests.ts"
import { Known } from "./Values.ts"
import { type Callers, type FuzzTargets, openFixture, tidy } from "./World.ts"

export interface FuzzOptions {
  readonly targets: FuzzTargets
  readonly requests: number
  readonly seed: number
  /** Number of concurrent requests. With one, a run repeats exactly. */
  readonly connections: number
  /** Called now and then with the number of finished requests. */
  readonly onProgress: (done: number) => Effect.Effect<void>
}

/** A request that was not answered as it should have been. */
export interface Finding {
  readonly what: string
  readonly request: string
  readonly answer: string
}

export interface FuzzOutcome {
  readonly requests: number
  /** Number of answers by status; 0 means a connection closed without one, after damage on the wire. */
  readonly byStatus: { readonly [status: string]: number }
  /** Number of answers by endpoint and status. */
  readonly byEndpoint: { readonly [endpoint: string]: { readonly [status: string]: number } }
  /** The first of them. */
  readonly findings: ReadonlyArray<Finding>
}

const maxFindings = 50

/** Number of requests after which a new fixture follows: by then the old one's keys are revoked and its players excluded. */
const requestsPerFixture = 300

/** Number of fixtures in use: older ones are called now and then in their current state. */
const fixturesInUse = 3

/** Requests are drawn so many at a time, by what is known at that moment. */
const drawn = 100

/** POST endpoints that register players and move money. */
const movesMoney = /\/provider\/wallet\/|\/(players|deposits|withdrawals|corrections|play)$/

/**
 * Relative frequency of an endpoint. A verification of the whole ledger takes seconds. Calls that move money build on each other (a win needs its
 * bet), and most generated ones are refused: drawn like all others, a run of some thousand requests may settle nothing.
 */
const weightOf = ({ method, path }: Endpoint): number =>
  path.endsWith("/verification") ? 1 : method === "POST" && movesMoney.test(path) ? 1000 : 200

const silence = "20 seconds"

const nounOf: { readonly [segment: string]: ReadonlyArray<string> } = {
  players: ["player", "player_id"],
  deposits: ["payment", "payment_request_id"],
  withdrawals: ["payment", "payment_request_id"],
  staff: ["staff"],
  operators: ["operator"],
  providers: ["provider"],
  games: ["game"],
  "payment-methods": ["method"],
  bonuses: ["bonus", "bonus_id", "player_bonus_id"],
  "promo-codes": ["promo", "bonus"],
  webhooks: ["webhook"]
}

const rememberedFields = [
  "transaction_id",
  "session_token",
  "player_ref",
  "external_reference",
  "code",
  "username",
  "email",
  "external_id"
]

/** An operator with its resources and endpoints. */
interface Fixture {
  callers: Callers
  readonly known: Known
  readonly anyRequest: fc.Arbitrary<Request>
}

/** Signs with the new secret after a successful rotation. */
const learnSecret = ({ json }: Reply, fixture: Fixture): void => {
  const data = isNode(json) ? json["data"] : undefined
  if (!isNode(data)) return
  const { key, secret } = data
  const { operator, provider } = fixture.callers
  if (typeof secret !== "string") return
  if (operator.key === key) fixture.callers = { ...fixture.callers, operator: { ...operator, secret } }
  if (provider.key === key) fixture.callers = { ...fixture.callers, provider: { ...provider, secret } }
}

/** Key of the player of a session token. */
const playerAt = (sessionToken: unknown): string => `player_ref of ${String(sessionToken)}`

/** Undefined for a body that is not JSON: an endpoint may succeed without a body. */
const parse = (body: Buffer | null): unknown => {
  try {
    return JSON.parse(String(body).replace(/^\ufeff/, ""))
  } catch {
    return undefined
  }
}

/** Stores the ids of a successful answer. */
const learn = ({ body, endpoint }: Request, { json }: Reply, known: Known): void => {
  const data = isNode(json) ? json["data"] : undefined
  if (!isNode(data)) return
  const { id, key, round_id: round, token } = data
  if (endpoint.method === "POST") {
    for (const name of nounOf[endpoint.path.split("/").at(-1) ?? ""] ?? []) known.add(name, id)
    if (typeof key === "string") known.add("key", key)
    if (typeof token === "string" && endpoint.audience === "operator") known.add("bearer", token)
    if (typeof round === "number") known.add("round", round)
  }
  const { player_ref: ref, session_token: session } = data
  if (typeof session === "string" && typeof ref === "string") known.add(playerAt(session), ref)
  for (const name of rememberedFields) if (typeof data[name] === "string") known.add(name, data[name])
  const sent = parse(body)
  if (!isNode(sent)) return
  const { game_id, round_id, session_token, transaction_id } = sent
  if (typeof transaction_id === "string") known.add("target_transaction_id", transaction_id)
  const player = known.pick(playerAt(session_token), 0)
  if (endpoint.path.endsWith("/bet") && player !== undefined) {
    known.add("bet", { bet_transaction_id: transaction_id, round_id, game_id, player_ref: player })
  }
}

const portOf = ({ audience }: Endpoint, { backofficePort, publicPort }: FuzzTargets) =>
  audience === "staff" ? backofficePort : publicPort

/** Headers of a caller of this kind. */
const headersOf = (
  request: Request,
  targets: FuzzTargets,
  callers: Callers,
  known: Known,
  nowSeconds: number,
  nonce: string
) => {
  const { body, caller, endpoint: { audience, method }, uri } = request
  if (audience === "staff") return { Authorization: `Bearer ${targets.staffToken}` }
  if (audience === "player") return { Authorization: `Bearer ${String(known.pick("bearer", caller))}` }
  const signer = audience === "operator" ? callers.operator : callers.provider
  const raw = body === null ? {} : { raw: body }
  return signedHeaders(signer, uri, { method, timestamp: nowSeconds, nonce, ...raw })
}

/** Sends bytes over a bare connection; returns the status of the answer, 0 when the connection is closed without one. */
const sendBytes = (port: number, bytes: Buffer): Effect.Effect<number> =>
  Effect.callback((resume) => {
    let text = ""
    const socket: Net.Socket = connect(port, "127.0.0.1", () => socket.end(bytes))
    const finish = () => {
      socket.destroy()
      resume(Effect.succeed(Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0)))
    }
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1")
    })
    socket.on("close", finish)
    socket.on("error", finish)
    return Effect.sync(() => socket.destroy())
  })

const wireForm = (
  { body, endpoint: { method }, uri }: Request,
  headers: { readonly [name: string]: string }
): Buffer => {
  const all = {
    Host: "127.0.0.1",
    Connection: "close",
    ...(body === null ? {} : { "Content-Type": "application/json", "Content-Length": String(body.length) }),
    ...headers
  }
  const head = [`${method} ${uri} HTTP/1.1`, ...Object.entries(all).map(([name, value]) => `${name}: ${value}`)]
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body ?? Buffer.alloc(0)])
}

const described = (request: Request, headers: { readonly [name: string]: string }): string =>
  wireForm(request, headers).toString("utf8").slice(0, 4000)

const readDocument = Effect.fnUntraced(function*({ agent }: FuzzTargets, port: number) {
  const { json } = yield* exchange(agent, port, "/openapi.json")
  const document: Node = isNode(json) ? json : {}
  return endpointsOf(document)
})

/** Sends the requests. */
export const fuzz = Effect.fnUntraced(function*(
  { connections, targets, onProgress, requests, seed }: FuzzOptions
): Effect.fn.Return<FuzzOutcome, Unexpected | ConnectionLost> {
  const endpoints = [
    ...(yield* readDocument(targets, targets.publicPort)),
    ...(yield* readDocument(targets, targets.backofficePort))
  ]
  const requestsIn = (known: Known) =>
    fc.oneof(
      ...endpoints.map((endpoint) => ({
        arbitrary: requestTo(endpoint, known),
        weight: weightOf(endpoint)
      }))
    )
  const fixtures: Array<Fixture> = []
  const byStatus: Record<string, number> = {}
  const byEndpoint: Record<string, Record<string, number>> = {}
  const findings: Array<Finding> = []
  let nonces = 0

  const count = (counts: Record<string, number>, name: string | number) => {
    counts[name] = (counts[name] ?? 0) + 1
  }
  const find = (finding: Finding) => {
    if (findings.length < maxFindings) findings.push(finding)
  }

  const sendOne = Effect.fnUntraced(function*(request: Request, fixture: Fixture) {
    const { callers, known } = fixture
    const port = portOf(request.endpoint, targets)
    const nowSeconds = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    const made = { ...headersOf(request, targets, callers, known, nowSeconds, `f${nonces++}`), ...request.headers }
    const headers = Object.fromEntries(Object.entries(made).filter(([, value]) => value !== ""))
    if (request.onTheWire !== null) {
      const status = yield* Effect.timeoutOption(
        sendBytes(port, request.onTheWire(wireForm(request, headers))),
        silence
      )
      const got = status._tag === "Some" ? status.value : "silence"
      count(byStatus, got)
      if (got === "silence" || got >= 500) {
        find({ what: `${got} for damaged bytes`, request: described(request, headers), answer: "" })
      }
      return
    }
    const raw = request.body === null ? {} : { raw: request.body }
    const ask = exchange(targets.agent, port, request.uri, { method: request.endpoint.method, headers, ...raw })
    // A connection that the service closes while a request is on its way is no answer to it: it is asked once more.
    const reply = yield* ask.pipe(
      Effect.retry({ times: 1, while: ({ isSilence }) => !isSilence }),
      Effect.result,
      Effect.catchDefect((defect) => Effect.succeed(Result.fail(defect)))
    )
    if (Result.isFailure(reply)) {
      const { failure } = reply
      const why = failure instanceof ConnectionLost
        ? failure.reason
        : failure instanceof Error
        ? failure.message
        : String(failure)
      count(byStatus, "none")
      return find({ what: why, request: described(request, headers), answer: "" })
    }
    const { status, text } = reply.success
    count(byStatus, status)
    count(byEndpoint[request.endpoint.name] ??= {}, status)
    if (status >= 500) find({ what: `${status}`, request: described(request, headers), answer: text.slice(0, 1000) })
    if (status < 300) {
      learn(request, reply.success, known)
      learnSecret(reply.success, fixture)
    }
  })

  for (let done = 0; done < requests; done += drawn) {
    if (done % requestsPerFixture === 0) {
      const known = new Known()
      fixtures.unshift({ callers: yield* openFixture(targets, known), known, anyRequest: requestsIn(known) })
      if (fixtures.length > fixturesInUse) fixtures.pop()
    }
    const fixture = fixtures[done / drawn % 4 === 3 ? fixtures.length - 1 : 0]
    if (fixture === undefined) continue
    yield* tidy(targets, fixture.callers, fixture.known)
    const batch = fc.sample(fixture.anyRequest, {
      seed: seed * 1_000_003 + done,
      numRuns: Math.min(drawn, requests - done)
    })
    yield* Effect.forEach(batch, (request) => sendOne(request, fixture), { concurrency: connections, discard: true })
    yield* onProgress(done + batch.length)
  }
  return { requests, byStatus, byEndpoint, findings }
})

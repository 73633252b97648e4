/**
 * Calls over real HTTP with exact bytes: no client normalises a URI or a header, and a broken connection is a value. An answer missing from the
 * OpenAPI document fails the test.
 */
import { Clock, Effect, Schedule, Schema, type Scope } from "effect"
import { HttpServer } from "effect/http"
import { createHash } from "node:crypto"
import * as Http from "node:http"
import * as Net from "node:net"
import { undocumented } from "./Documented.ts"
import { sign } from "./sign.ts"

export interface Reply {
  readonly status: number
  readonly headers: { readonly [name: string]: string | undefined }
  readonly text: string
  /** The body as JSON, undefined when it is none. */
  readonly json: unknown
  /** `error.code` of the envelope. */
  readonly code: string | undefined
  /** `error.details` of the envelope. */
  readonly details: { readonly [name: string]: unknown }
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read answers the way callers do
  readonly data: any
  // oxlint-disable-next-line typescript/no-explicit-any -- the same
  readonly meta: any
  // oxlint-disable-next-line typescript/no-explicit-any -- the same
  readonly links: any
}

export interface Call {
  readonly method?: string
  readonly body?: unknown
  /** Sent as it is; wins over `body`. */
  readonly raw?: string | Uint8Array
  readonly headers?: { readonly [name: string]: string | ReadonlyArray<string> }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const errorOf = (json: unknown): { readonly code?: string; readonly details?: { readonly [name: string]: unknown } } =>
  typeof json === "object" && json !== null && "error" in json ? Object(json.error) : {}

/** The bytes that a call sends. */
export const bytesOf = ({ body, raw }: Call): string | Uint8Array =>
  raw ?? (body === undefined ? "" : JSON.stringify(body))

/** No complete answer: unknown outcome. */
export class ConnectionLost extends Schema.TaggedError<ConnectionLost>()("ConnectionLost", {
  reason: Schema.String,
  /** The connection stood, and nothing came over it. */
  isSilence: Schema.Boolean
}) {}

/** Ports at which an earlier version answers: without fields that came later. */
const earlierPorts = new Set<number>()

/** Says that an earlier version answers at a port. */
export const answersEarlier = (port: number): void => {
  earlierPorts.add(port)
}

/** Longer than any caller waits. Turns a test that would hang into one that fails; it measures nothing. */
const silenceMs = 40_000

/** Sends one request, as it is, over the connections of an agent; without one, over a connection of its own. */
export const exchange = (
  agent: Http.Agent | false,
  port: number,
  path: string,
  call: Call = {}
): Effect.Effect<Reply, ConnectionLost> =>
  Effect.callback((resume) => {
    const bytes = Buffer.from(bytesOf(call))
    const method = call.method ?? (bytes.length > 0 ? "POST" : "GET")
    const lost = (error: Error, isSilence = false) =>
      resume(Effect.fail(new ConnectionLost({ reason: error.message, isSilence })))
    const request = Http.request({
      host: "127.0.0.1",
      port,
      path,
      agent,
      method,
      headers: {
        ...(bytes.length > 0 ? { "content-type": "application/json" } : {}),
        ...(call.headers?.["transfer-encoding"] === undefined ? { "content-length": String(bytes.length) } : {}),
        ...call.headers
      }
    }, (response) => {
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("error", (error) => lost(error))
      const done = () => {
        const text = Buffer.concat(chunks).toString("utf8")
        const json = parse(text)
        const { code, details = {} } = errorOf(json)
        const { data, links, meta } = Object(json)
        const headers = Object.fromEntries(
          Object.entries(response.headers).map((
            [name, value]
          ) => [name, Array.isArray(value) ? value.join(", ") : value])
        )
        const reply = { status: response.statusCode ?? 0, headers, text, json, code, details, data, meta, links }
        const wrong = undocumented(method, path, reply, earlierPorts.has(port))
        resume(wrong === undefined ? Effect.succeed(reply) : Effect.die(new Error(`${wrong} (${path})`)))
      }
      response.on("end", done)
      // events have no end of their own: the first of them is the answer
      if (response.headers["content-type"]?.startsWith("text/event-stream") === true) {
        response.once("data", () => {
          done()
          response.destroy()
        })
      }
    })
    request.on("error", (error) => lost(error))
    request.setTimeout(silenceMs, () => {
      lost(new Error(`no answer to ${path}`), true)
      request.destroy()
    })
    request.end(bytes)
    return Effect.sync(() => request.destroy())
  })

/** As {@link exchange} over a connection of its own, which must not break. */
export const send = (port: number, path: string, call: Call = {}): Effect.Effect<Reply> =>
  Effect.orDie(exchange(false, port, path, call))

export interface Signer {
  readonly header: "X-Api-Key" | "X-Provider-Key"
  readonly key: string
  readonly secret: string
}

export interface SignedCall extends Call {
  /** Unix seconds. */
  readonly timestamp: number
  readonly nonce?: string
}

/** The headers that sign a call. */
export const signedHeaders = (signer: Signer, path: string, call: SignedCall): { readonly [name: string]: string } => {
  const bytes = bytesOf(call)
  const method = call.method ?? (bytes.length > 0 ? "POST" : "GET")
  return {
    [signer.header]: signer.key,
    "X-Timestamp": String(call.timestamp),
    "X-Signature": sign(
      signer.secret,
      method,
      path,
      String(call.timestamp),
      method === "GET" || method === "HEAD" ? "" : bytes,
      call.nonce
    ),
    ...(call.nonce === undefined ? {} : { "X-Nonce": call.nonce })
  }
}

/** Unix time of the clock in seconds. */
export const unixSeconds = Effect.map(Clock.currentTimeMillis, (now) => Math.floor(now / 1000))

/** Sends a request signed now, or at its timestamp. Headers of the call win over those that sign it. */
export const sendSigned = (
  port: number,
  signer: Signer,
  path: string,
  call: Partial<SignedCall> = {}
): Effect.Effect<Reply> =>
  Effect.flatMap(unixSeconds, (timestamp) =>
    send(port, path, {
      ...call,
      headers: { ...signedHeaders(signer, path, { timestamp, ...call }), ...call.headers }
    }))

/** The port that a server listens on. */
export const listensAt = ({ address }: HttpServer.HttpServer["Service"]): number =>
  address._tag === "UnixPathAddress" ? 0 : address.port

export const portOf = Effect.map(HttpServer.HttpServer, listensAt)

/** Bases of paths that do not begin with `/api/`. */
const bases = { "X-Api-Key": "/api/v1/operator", "X-Provider-Key": "/api/v1/provider/wallet" } as const

const targetOf = ({ header }: Signer, path: string): string => path.startsWith("/api/") ? path : bases[header] + path

let nonces = 0

/** A nonce that no other request has. */
const nextNonce = (): string => `n${process.pid}-${++nonces}`

/** Sends a signed request, unlike any other by its nonce, to the server of the context. */
export const signedCall = (signer: Signer, path: string, call: Partial<SignedCall> = {}) =>
  Effect.flatMap(portOf, (port) => sendSigned(port, signer, targetOf(signer, path), { nonce: nextNonce(), ...call }))

/** Sends a request without a signature to the server of the context. */
export const plainCall = (path: string, call: Call = {}) => Effect.flatMap(portOf, (port) => send(port, path, call))

/** Call of a player's browser; paths are relative to `/api/v1/player`. */
export const browserCall = (token: string, path: string, call: Call = {}) =>
  plainCall(`/api/v1/player${path}`, { ...call, headers: { authorization: `Bearer ${token}`, ...call.headers } })

/** Connections that are closed with the scope. */
export const makeAgent = (maxSockets = 64): Effect.Effect<Http.Agent, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => new Http.Agent({ keepAlive: true, maxSockets })),
    (agent) => Effect.sync(() => agent.destroy())
  )

type Headers = { readonly [name: string]: string }

/** Calls of a signer; paths that do not begin with `/api/` are of the operators' API, or of the wallet API. */
export interface SignedCalls<E, R> {
  readonly signer: Signer
  readonly send: (path: string, call?: Partial<SignedCall>) => Effect.Effect<Reply, E, R>
  readonly call: (method: string, path: string, body?: unknown, headers?: Headers) => Effect.Effect<Reply, E, R>
  readonly get: (path: string) => Effect.Effect<Reply, E, R>
  readonly post: (path: string, body?: unknown, headers?: Headers) => Effect.Effect<Reply, E, R>
  readonly put: (path: string, body: unknown) => Effect.Effect<Reply, E, R>
  readonly patch: (path: string, body: unknown) => Effect.Effect<Reply, E, R>
}

/** A signing caller of one port. */
export interface Caller extends SignedCalls<ConnectionLost, never> {}

const callsBy = <E, R>(signer: Signer, send: SignedCalls<E, R>["send"]): SignedCalls<E, R> => {
  const call: SignedCalls<E, R>["call"] = (method, path, body, headers = {}) =>
    send(path, { method, headers, ...body !== undefined && { body } })
  return {
    signer,
    send,
    call,
    get: (path) => call("GET", path),
    post: (path, body, headers) => call("POST", path, body, headers),
    put: (path, body) => call("PUT", path, body),
    patch: (path, body) => call("PATCH", path, body)
  }
}

/** Calls of an operator's key to the server of the context. */
export const operatorWith = ({ key, secret }: Pick<Signer, "key" | "secret">) => {
  const signer: Signer = { header: "X-Api-Key", key, secret }
  return callsBy(signer, (path, call) => signedCall(signer, path, call))
}

/**
 * Signs with the clock of the test. An operator's request carries a nonce of its own, so that the same can be sent twice in a
 * second; a provider's is sent byte for byte again. `aheadMs`: by how much it signs ahead of its own clock.
 */
export const callerOf = (agent: Http.Agent | false, port: number, signer: Signer, aheadMs = () => 0): Caller =>
  callsBy(signer, (path, call = {}) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const target = targetOf(signer, path)
      const timestamp = Math.floor((now + aheadMs()) / 1000)
      const nonce = signer.header === "X-Api-Key" ? { nonce: nextNonce() } : {}
      const headers = { ...signedHeaders(signer, target, { timestamp, ...nonce, ...call }), ...call.headers }
      return exchange(agent, port, target, { ...call, headers })
    }))

/**
 * As {@link callerOf}, following the service's clock: after TIMESTAMP_OUT_OF_RANGE it signs again with the
 * service's time, and keeps that offset.
 */
export const callerByServiceClock = (agent: Http.Agent, port: number, signer: Signer): Caller => {
  let aheadMs = 0
  const caller = callerOf(agent, port, signer, () => aheadMs)
  const send: Caller["send"] = (path, call) =>
    Effect.flatMap(caller.send(path, call), (reply) => {
      if (reply.code !== "TIMESTAMP_OUT_OF_RANGE") return Effect.succeed(reply)
      return Effect.flatMap(Clock.currentTimeMillis, (now) => {
        aheadMs = Date.parse(String(reply.details["server_time"])) - now
        return send(path, call)
      })
    })
  return callsBy(signer, send)
}

/** Caller of the staff API, by token. */
export const staffOf = (agent: Http.Agent, port: () => number, token: string) => ({
  send: (path: string, call: Call = {}) =>
    exchange(agent, port(), path, { ...call, headers: { authorization: `Bearer ${token}`, ...call.headers } })
})

/**
 * Caller for test setup: retries until answered, with an idempotency key for operator calls,
 * so that the call takes effect once.
 */
export const patiently = ({ send, signer }: Pick<Caller, "send" | "signer">): Caller =>
  callsBy(signer, (path, call = {}) => {
    const isKeyed = signer.header === "X-Api-Key" && call.method === "POST"
    const key = createHash("sha256").update(path).update(bytesOf(call)).digest("hex")
    const headers = { ...(isKeyed ? { "Idempotency-Key": key } : {}), ...call.headers }
    return Effect.result(send(path, { ...call, headers })).pipe(
      Effect.repeat({
        until: (result) => result._tag === "Success" && result.success.status !== 503,
        schedule: Schedule.spaced("100 millis"),
        times: 600
      }),
      Effect.flatMap(Effect.fromResult)
    )
  })

/** Sends bytes on a connection of their own and gives all that comes back until the server closes it. */
export const sendBytes = (port: number, bytes: string | Uint8Array): Effect.Effect<string> =>
  Effect.callback((resume) => {
    const chunks: Array<Buffer> = []
    const socket = Net.connect(port, "127.0.0.1", () => socket.write(bytes))
    socket.on("data", (chunk) => chunks.push(chunk))
    socket.on("error", () => {})
    socket.on("close", () => resume(Effect.succeed(Buffer.concat(chunks).toString("latin1"))))
    return Effect.sync(() => socket.destroy())
  })

/**
 * Calls over real HTTP with exact bytes: no client normalises a URI or a header. An answer missing from the
 * OpenAPI document fails the test.
 */
import { Clock, Effect, Schema } from "effect"
import { HttpServer } from "effect/http"
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
}

/** An answer with the content of its envelope. */
export interface Answer extends Reply {
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read answers as any caller would
  readonly data: any
  // oxlint-disable-next-line typescript/no-explicit-any -- the same
  readonly meta: any
  // oxlint-disable-next-line typescript/no-explicit-any -- the same
  readonly links: any
}

/** Opens the envelope of an answer. */
export const opened = (reply: Reply): Answer => {
  const { data, links, meta } = Object(reply.json)
  return { ...reply, data, meta, links }
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
        const headers = Object.fromEntries(
          Object.entries(response.headers).map((
            [name, value]
          ) => [name, Array.isArray(value) ? value.join(", ") : value])
        )
        const reply = { status: response.statusCode ?? 0, headers, text, json, code, details }
        const wrong = undocumented(method, path, reply)
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

let fresh = 0

/** Sends a signed request, unlike any other by its nonce, to the server of the context. */
export const sendFresh = (signer: Signer, path: string, call: Partial<SignedCall> = {}) =>
  Effect.flatMap(portOf, (port) => sendSigned(port, signer, path, { nonce: `f${fresh++}`, ...call }))

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

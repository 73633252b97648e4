/**
 * Calls over real HTTP, with nothing between the test and the bytes: no client that tidies a URI or a header. An answer that the
 * OpenAPI document does not know fails the test.
 */
import { Effect } from "effect"
import * as Http from "node:http"
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

/** Sends a request to a local port, as it is. The connection is its own. */
export const send = (port: number, path: string, call: Call = {}): Effect.Effect<Reply> =>
  Effect.callback((resume) => {
    const bytes = Buffer.from(bytesOf(call))
    const method = call.method ?? (bytes.length > 0 ? "POST" : "GET")
    const request = Http.request({
      host: "127.0.0.1",
      port,
      path,
      method,
      agent: false,
      headers: {
        ...(bytes.length > 0 ? { "content-type": "application/json" } : {}),
        ...(call.headers?.["transfer-encoding"] === undefined ? { "content-length": String(bytes.length) } : {}),
        ...call.headers
      }
    }, (response) => {
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("error", (error) => resume(Effect.die(error)))
      response.on("end", () => {
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
      })
    })
    request.on("error", (error) => resume(Effect.die(error)))
    request.end(bytes)
    return Effect.sync(() => request.destroy())
  })

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

/** Sends a signed request. Headers of the call win over those that sign it. */
export const sendSigned = (port: number, signer: Signer, path: string, call: SignedCall): Effect.Effect<Reply> =>
  send(port, path, { ...call, headers: { ...signedHeaders(signer, path, call), ...call.headers } })

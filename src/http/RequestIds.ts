/** Request ids: the caller's `X-Request-Id` if acceptable, else one that is unique across processes and restarts. */
import { Context, Effect, Layer } from "effect"
import type { IncomingMessage } from "node:http"
import { Entropy } from "../platform/Entropy.ts"

/** Acceptable ids of callers: printable, short, and safe in a log line. */
const sane = /^[\x21-\x7e]{1,128}$/

/** A request's identity and headers. */
export interface Named {
  readonly source: object
  readonly headers: { readonly [name: string]: string | undefined }
}

/** Identity and headers of Node.js's request. */
export const namedBy = (source: IncomingMessage): Named => {
  const id = source.headers["x-request-id"]
  return { source, headers: { "x-request-id": typeof id === "string" ? id : undefined } }
}

export class RequestIds extends Context.Service<RequestIds, {
  /** Stable id of a request. */
  readonly of: (request: Named) => string
  /** As `of`, for the last use of a request: keeps nothing. */
  readonly last: (request: Named) => string
  /** New id, for malformed HTTP. */
  readonly next: () => string
}>()("pitboss/http/RequestIds") {
  static readonly layer = Layer.effect(
    RequestIds,
    Effect.gen(function*() {
      const entropy = yield* Entropy
      const prefix = entropy.token("req_", 12)
      // Kept: given, count. Request ids: a random prefix of the process and a number. Several nodes: its own; a request that is sent on keeps its id.
      const given = new WeakMap<object, string>()
      let count = 0

      const next = () => `${prefix}${(count++).toString(36).padStart(6, "0")}`

      const last = (request: Named) => {
        const sent = request.headers["x-request-id"]
        return given.get(request.source) ?? (sent !== undefined && sane.test(sent) ? sent : next())
      }

      const of = (request: Named) => {
        const id = last(request)
        given.set(request.source, id)
        return id
      }

      return { next, of, last }
    })
  ).pipe(Layer.provide(Entropy.layer))
}

import { Context, Effect, Layer } from "effect"
import { Entropy } from "../platform/Entropy.ts"

/** What a caller may choose: visible, short, and harmless in a log line. */
const sane = /^[\x21-\x7e]{1,128}$/

/** What names a request: the object that stands for it, and the headers it came with. */
export interface Named {
  readonly source: object
  readonly headers: { readonly [name: string]: string | undefined }
}

/**
 * The name of a request in answers and logs: the caller's `X-Request-Id` where it is sane, else one that is unique over
 * all processes and restarts.
 */
export class RequestIds extends Context.Service<RequestIds, {
  /** The same for the same request, however often asked. */
  readonly of: (request: Named) => string
  /** As `of`, for whoever is the last to ask: nothing is kept. */
  readonly last: (request: Named) => string
  /** A new one, for what never became a request. */
  readonly next: () => string
}>()("pitboss/http/RequestIds") {
  static readonly layer = Layer.effect(
    RequestIds,
    Effect.gen(function*() {
      const entropy = yield* Entropy
      const prefix = entropy.token("req_", 12)
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

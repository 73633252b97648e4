/**
 * Which pages may call the player endpoints from a browser (CORS). Everything else of the API is called by servers, which know no
 * origins, and says nothing about them: a browser then lets no page read its answers.
 */
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { MethodsOf } from "./Methods.ts"

/** Origins like `https://casino.example`, or all. */
export type Origins = "*" | ReadonlyArray<string>

const playerPaths = "/api/v1/player/"

/** What a page may read of an answer besides its body. */
const exposed = "X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, Retry-After, Idempotent-Replayed"

/** What a page may send. Never cookies: the player's token is all that says who calls, and pages send it themselves. */
const allowedHeaders = "Authorization, Content-Type, Idempotency-Key, X-Request-Id"

/** Seconds that a browser may remember a preflight; none keeps it for longer than two hours. */
const maxAgeSeconds = "7200"

export interface CrossOrigin {
  /** The answer to a browser that asks before it calls; undefined for every other request, and where nothing is to be called. */
  readonly preflight: (
    request: HttpServerRequest.HttpServerRequest,
    methodsOfPath: MethodsOf
  ) => HttpServerResponse.HttpServerResponse | undefined
  /** The headers of every answer, refusals included, so that a page can read why it was refused. */
  readonly headers: (request: HttpServerRequest.HttpServerRequest) => { readonly [name: string]: string }
}

const none = {}

/** For pages of these origins. */
export const makeCrossOrigin = (origins: Origins): CrossOrigin => {
  const forAll = { "access-control-allow-origin": "*", "access-control-expose-headers": exposed }
  const others = { "vary": "Origin" }
  const known = new Set(origins === "*" ? [] : origins)

  const headers: CrossOrigin["headers"] = ({ headers: { origin }, url }) => {
    if (!url.startsWith(playerPaths)) return none
    if (origins === "*") return forAll
    return origin === undefined || !known.has(origin)
      ? others
      : { ...others, "access-control-allow-origin": origin, "access-control-expose-headers": exposed }
  }

  const preflight: CrossOrigin["preflight"] = (request, methodsOfPath) => {
    const { headers: { "access-control-request-method": asked, origin }, method, url } = request
    if (method !== "OPTIONS" || asked === undefined || origin === undefined || !url.startsWith(playerPaths)) {
      return undefined
    }
    const methods = methodsOfPath(url)
    if (methods === undefined) return undefined
    const answer = HttpServerResponse.empty({ status: 204 })
    return origins === "*" || known.has(origin)
      ? HttpServerResponse.setHeaders(answer, {
        "access-control-allow-methods": methods.join(", "),
        "access-control-allow-headers": allowedHeaders,
        "access-control-max-age": maxAgeSeconds
      })
      : answer
  }

  return { preflight, headers }
}

/** CORS of the player endpoints. The other endpoints are called by servers and send no CORS headers. */
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { playerPaths, type RouteOf } from "./Methods.ts"

/** Origins such as `https://casino.example`, or `*` for all. */
export type Origins = "*" | ReadonlyArray<string>

/** `Access-Control-Expose-Headers`. */
const exposed = "X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, Retry-After, Idempotent-Replayed"

/** `Access-Control-Allow-Headers`. No cookies: the player's token alone identifies the caller. */
const allowedHeaders = "Authorization, Content-Type, Idempotency-Key, X-Request-Id"

/** Validity of a preflight answer; browsers cache it for at most two hours. */
const maxAgeSeconds = "7200"

export interface CrossOrigin {
  /** Answer to a preflight; undefined for other requests and unknown paths. */
  readonly preflight: (
    request: HttpServerRequest.HttpServerRequest,
    routeOf: RouteOf
  ) => HttpServerResponse.HttpServerResponse | undefined
  /** Headers of every response, refusals included, so that a page can read them. */
  readonly headers: (request: HttpServerRequest.HttpServerRequest, route: string) => { readonly [name: string]: string }
}

const none = {}

/** CORS for pages of these origins. */
export const makeCrossOrigin = (origins: Origins): CrossOrigin => {
  const forAll = { "access-control-allow-origin": "*", "access-control-expose-headers": exposed }
  const others = { "vary": "Origin" }
  const known = new Set(origins === "*" ? [] : origins)

  const headers: CrossOrigin["headers"] = ({ headers: { origin } }, route) => {
    if (!route.startsWith(playerPaths)) return none
    if (origins === "*") return forAll
    return origin === undefined || !known.has(origin)
      ? others
      : { ...others, "access-control-allow-origin": origin, "access-control-expose-headers": exposed }
  }

  const preflight: CrossOrigin["preflight"] = (request, routeOf) => {
    const { headers: { "access-control-request-method": asked, origin }, method, url } = request
    if (method !== "OPTIONS" || asked === undefined || origin === undefined) return undefined
    const { methods = [], path = "" } = routeOf(url) ?? {}
    if (methods.length === 0 || !path.startsWith(playerPaths)) return undefined
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

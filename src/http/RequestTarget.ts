/** Request targets: as sent, for signatures, and escaped for the router. */
import { Context, Effect } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"

type Request = HttpServerRequest.HttpServerRequest

/** Path and query as sent, byte for byte, for signatures. */
export const targetOf = ({ source, url }: Request): string =>
  "url" in source && typeof source.url === "string" ? source.url : url

/** A target's path and query, in which a question mark is an ordinary character (RFC 3986, 3.4). */
export const splitTarget = (target: string): { readonly path: string; readonly query: string } => {
  const end = target.indexOf("?")
  return end < 0 ? { path: target, query: "" } : { path: target.slice(0, end), query: target.slice(end + 1) }
}

/**
 * Escapes semicolons and number signs of the path, which the router treats as its end. A semicolon is an ordinary character of
 * a segment (RFC 3986, 3.3); a number sign in a request target (RFC 9112, 3.2) was left unescaped by its sender.
 */
export const forRouter = (request: Request): Request => {
  if (!request.url.includes(";") && !request.url.includes("#")) return request
  const [path = "", ...query] = request.url.split("?")
  return request.modify({ url: [path.replaceAll(";", "%3B").replaceAll("#", "%23"), ...query].join("?") })
}

/** Path and query of a request as the router read them: escapes decoded, a repeated query parameter as a list. */
export const routedValues = Effect.contextWith((context: Context.Context<never>) =>
  Effect.succeed({
    params: Context.getOrUndefined(context, HttpRouter.RouteContext)?.params ?? {},
    query: Context.getOrUndefined(context, HttpServerRequest.ParsedSearchParams) ?? {}
  })
)

/** Request targets: as sent, and escaped for the router. */
import type { HttpServerRequest } from "effect/http"

type Request = HttpServerRequest.HttpServerRequest

/** Path and query as sent, byte for byte, for signatures. */
export const targetOf = ({ source, url }: Request): string =>
  "url" in source && typeof source.url === "string" ? source.url : url

/**
 * Escapes semicolons and number signs of the path, which the router treats as its end. A semicolon is an ordinary character of
 * a segment (RFC 3986, 3.3); a number sign in a request target (RFC 9112, 3.2) was left unescaped by its sender.
 */
export const forRouter = (request: Request): Request => {
  if (!request.url.includes(";") && !request.url.includes("#")) return request
  const [path = "", ...query] = request.url.split("?")
  return request.modify({ url: [path.replaceAll(";", "%3B").replaceAll("#", "%23"), ...query].join("?") })
}

/** The target of a request, as it came over the wire and as the router is to read it. */
import type { HttpServerRequest } from "effect/http"

type Request = HttpServerRequest.HttpServerRequest

/** Path and query as they were sent, byte for byte: what a signature is over. */
export const targetOf = ({ source, url }: Request): string =>
  "url" in source && typeof source.url === "string" ? source.url : url

/**
 * The request as the router is to see it. To the router a semicolon begins the query and a number sign ends the path, so that a path
 * would be taken for another, shorter one. By RFC 3986, section 3.3, a semicolon is a letter of its segment like any other; a number
 * sign has no business in a request (RFC 9112, section 3.2), and whoever sends one has not escaped what they mean.
 */
export const forRouter = (request: Request): Request => {
  if (!request.url.includes(";") && !request.url.includes("#")) return request
  const [path = "", ...query] = request.url.split("?")
  return request.modify({ url: [path.replaceAll(";", "%3B").replaceAll("#", "%23"), ...query].join("?") })
}

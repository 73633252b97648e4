/**
 * Where webhooks may go: to the public internet over TLS, never into the network that the service itself stands in. What a
 * name leads to is up to whoever owns it, so an endpoint is judged when it is set, and every address again when a connection to
 * it is made (`docs/decisions/0017-webhooks.md`).
 */
import ipaddr from "ipaddr.js"

/** The addresses that IPv6 has given out so far. All others lead somewhere else, some of them to an IPv4 address inside. */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3")

/** Public by its number, but answered by the machine room of a cloud. */
const cloudServices = [ipaddr.IPv4.parseCIDR("168.63.129.16/32")]

/** Whether an IP address is one of the public internet. An IPv4 address in IPv6 clothes is judged as what it is. */
export const isPublicAddress = (address: string): boolean => {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  if (parsed.range() !== "unicast") return false
  return parsed instanceof ipaddr.IPv6
    ? parsed.match(globalUnicast)
    : !cloudServices.some((network) => parsed.match(network))
}

/** The IP address that a host in a URL is; undefined for a name. */
export const literalAddress = (hostname: string): string | undefined => {
  const bare = hostname.startsWith("[") && hostname.endsWith("]") ? hostname.slice(1, -1) : hostname
  return ipaddr.isValid(bare) ? bare : undefined
}

/** Names that never lead to the public internet. */
const localName = /(^|\.)(localhost|local|internal|intranet|home\.arpa)\.?$/

/** What is wrong with the URL of an endpoint; undefined when nothing is. `allowInsecure` is the setting of that name. */
export const targetProblem = (url: string, allowInsecure: boolean): string | undefined => {
  const parsed = URL.parse(url)
  if (parsed === null || (parsed.protocol !== "https:" && parsed.protocol !== "http:")) {
    return "must be an https address"
  }
  if (parsed.username !== "" || parsed.password !== "") return "must not hold a user name or a password"
  if (parsed.hash !== "") return "must not have a fragment"
  if (allowInsecure) return undefined
  if (parsed.protocol !== "https:") return "must be an https address"
  const address = literalAddress(parsed.hostname)
  const isInside = address === undefined ? localName.test(parsed.hostname) : !isPublicAddress(address)
  return isInside ? "must lead to the public internet" : undefined
}

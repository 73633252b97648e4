/**
 * Allowed targets of outgoing requests (SSRF protection): the public internet over TLS, never the service's own network. The owner of a
 * name may change its addresses, so that a target is checked when it is set and at every connection (`docs/decisions/0017-webhooks.md`).
 */
import ipaddr from "ipaddr.js"

/** Assigned global unicast addresses. Others may lead to an internal IPv4 address. */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3")

/** Public addresses that a cloud answers internally. */
const cloudServices = [ipaddr.IPv4.parseCIDR("168.63.129.16/32")]

/** Whether an IP address is public. An IPv4-mapped one counts as IPv4. */
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

/** The error of a target's URL, if there is one. `allowInsecure` lets `http:` and the own network in. */
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

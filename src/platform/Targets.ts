/**
 * Allowed targets of outgoing requests (SSRF protection): the public internet over TLS, never the service's own network. The addresses of a name may
 * change, so a target is checked when it is set and at every connection (`docs/decisions/0017-webhooks.md`).
 */
import ipaddr from "ipaddr.js"

/** Assigned global unicast addresses. Others may lead to an internal IPv4 address. */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3")

/** Public addresses that cloud providers route internally. */
const cloudServices = [ipaddr.IPv4.parseCIDR("168.63.129.16/32")]

/** True for a public IP address. An IPv4-mapped one is treated as IPv4. */
export const isPublicAddress = (address: string): boolean => {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  if (parsed.range() !== "unicast") return false
  return parsed instanceof ipaddr.IPv6
    ? parsed.match(globalUnicast)
    : !cloudServices.some((network) => parsed.match(network))
}

/** IP address given as the host of a URL; undefined for a name. */
export const literalAddress = (hostname: string): string | undefined => {
  const bare = hostname.startsWith("[") && hostname.endsWith("]") ? hostname.slice(1, -1) : hostname
  return ipaddr.isValid(bare) ? bare : undefined
}

/** Names that never resolve to the public internet. */
const localName = /(^|\.)(localhost|local|internal|intranet|home\.arpa)\.?$/

/** Validation error of a target's URL, if any. `allowInsecure` allows `http:` and the own network. */
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

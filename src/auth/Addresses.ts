/** Client addresses and allow-lists (SPEC section 5.2). */
import ipaddr from "ipaddr.js"

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Parsed networks. */
export type Networks = ReadonlyArray<readonly [Address, number]>

const parse = (text: string): Address | undefined =>
  ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text) ? ipaddr.process(text) : undefined

/** Matches no caller. */
const nowhere = [ipaddr.parse("::"), 128] as const

/** Parses addresses and CIDR ranges. An invalid entry matches nothing. */
export const networks = (entries: ReadonlyArray<string>): Networks =>
  entries.flatMap((entry) => {
    if (ipaddr.isValidCIDR(entry)) {
      const [address, bits] = ipaddr.parseCIDR(entry)
      // ::ffff:10.0.0.0/104 equals 10.0.0.0/8
      return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96
        ? [[address.toIPv4Address(), bits - 96] as const]
        : [[address, bits] as const]
    }
    const address = parse(entry)
    return address === undefined ? [nowhere] : [[address, address.kind() === "ipv6" ? 128 : 32] as const]
  })

const contains = (list: Networks, address: Address): boolean =>
  list.some(([network, bits]) =>
    network instanceof ipaddr.IPv4
      ? address instanceof ipaddr.IPv4 && address.match(network, bits)
      : address instanceof ipaddr.IPv6 && address.match(network, bits)
  )

/** Whether an address is in one of the networks; false for undefined. */
export const isWithin = (list: Networks, address: string | undefined): boolean => {
  const parsed = address === undefined ? undefined : parse(address)
  return parsed !== undefined && contains(list, parsed)
}

/** Entry of `X-Forwarded-For` without the port added by some proxies. */
const withoutPort = (entry: string): string => {
  const bracketed = /^\[([^\]]+)\](:\d+)?$/.exec(entry)
  if (bracketed?.[1] !== undefined) return bracketed[1]
  return /^\d+\.\d+\.\d+\.\d+:\d+$/.test(entry) ? entry.slice(0, entry.lastIndexOf(":")) : entry
}

/** Trusted proxies in a row: more are nobody's, and each entry costs a microsecond before the caller is known. */
const maxHops = 32

/**
 * Address of the caller: the connection's or, behind a trusted proxy, the last one in `X-Forwarded-For` that is not a trusted proxy. Undefined
 * when an entry up to there is not an address, or no other one is among the last 32.
 */
export const clientAddress = (
  peer: string | undefined,
  forwardedFor: string | undefined,
  proxies: Networks
): string | undefined => {
  if (proxies.length === 0 || forwardedFor === undefined || !isWithin(proxies, peer)) return peer
  let end = forwardedFor.length
  for (let hops = 0; hops < maxHops; hops++) {
    const comma = forwardedFor.lastIndexOf(",", end - 1)
    const hop = parse(withoutPort(forwardedFor.slice(comma + 1, end).trim()))
    if (hop === undefined) return undefined
    if (comma < 0 || !contains(proxies, hop)) return hop.toString()
    end = comma
  }
  return undefined
}

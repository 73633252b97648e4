/** Recognises loopback hosts, `localhost` and the loopback addresses, and names the host at which a listening service is reached. */
import ipaddr from "ipaddr.js"

export const isLoopback = (host: string): boolean => {
  const name = host.replace(/^\[(.*)\]$/, "$1").toLowerCase()
  return name === "localhost" || ipaddr.isValid(name) && ipaddr.process(name).range() === "loopback"
}

/** Host to connect to, as a URL has it, where a service listens on `host`: of a wildcard, this machine. */
export const reachable = (host: string): string => {
  const there = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host
  return there.includes(":") ? `[${there}]` : there
}

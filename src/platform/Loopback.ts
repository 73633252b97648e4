import ipaddr from "ipaddr.js"
import { hostsOf } from "./DatabaseHosts.ts"

/** True for a host name or address of this machine. */
export const isLoopback = (host: string): boolean => {
  const name = host.replace(/^\[(.*)\]$/, "$1").toLowerCase()
  return name === "localhost" || ipaddr.isValid(name) && ipaddr.process(name).range() === "loopback"
}

/** True when a PostgreSQL address leads to another machine without requiring TLS. */
export const isOpenConnection = (databaseUrl: string): boolean => hostsOf(databaseUrl).some(isOpen)

const isOpen = (databaseUrl: string): boolean => {
  const url = URL.parse(databaseUrl)
  if (url === null) return false
  const host = url.searchParams.get("host") ?? decodeURIComponent(url.hostname)
  // a path is a local socket
  if (host === "" || host.startsWith("/") || isLoopback(host)) return false
  const mode = url.searchParams.get("sslmode")
  return !(mode === null
    ? ["true", "1"].includes(url.searchParams.get("ssl") ?? "")
    : ["require", "verify-ca", "verify-full"].includes(mode))
}

import ipaddr from "ipaddr.js"

/** True for a host name or address of this machine. */
export const isLoopback = (host: string): boolean => {
  const name = host.replace(/^\[(.*)\]$/, "$1").toLowerCase()
  return name === "localhost" || ipaddr.isValid(name) && ipaddr.process(name).range() === "loopback"
}

/** Recognises loopback hosts: `localhost` and the loopback addresses. */
import ipaddr from "ipaddr.js"

export const isLoopback = (host: string): boolean => {
  const name = host.replace(/^\[(.*)\]$/, "$1").toLowerCase()
  return name === "localhost" || ipaddr.isValid(name) && ipaddr.process(name).range() === "loopback"
}

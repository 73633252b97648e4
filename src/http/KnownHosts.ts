/** Host check of the back-office port against DNS rebinding: the attacking page is same-origin to the browser, but its Host differs. */
import { refuse } from "../domain/Refusal.ts"
import { isLoopback } from "../platform/Loopback.ts"
import type { SettingsShape } from "../platform/Settings.ts"
import type { Take } from "./Take.ts"
import { writeRefusal } from "./Refusals.ts"

/** Refusal of a request under a host that is not one of the back office. */
export const otherHost = refuse(
  "INVALID_REQUEST",
  "The back office is not served at this host and port. Set BACKOFFICE_URL of the service to the address that is called, or call " +
    "it by its own port: a forwarded one has to have the same number on both sides.",
  { setting: "BACKOFFICE_URL" }
)

/** Host and port of a `Host` header. */
const parted = (header: string): readonly [host: string, port: string] | undefined => {
  const found = /^(\[[0-9a-f:.]+\]|[0-9a-z._-]+)(?::(\d{1,5}))?$/i.exec(header)
  return found === null ? undefined : [(found[1] ?? "").toLowerCase(), found[2] ?? ""]
}

export type KnownHosts = (
  header: string | undefined,
  local: { readonly address?: string | undefined; readonly port?: number | undefined }
) => boolean

/** Loopback names, the listening address and the host of `BACKOFFICE_URL`. */
export const makeKnownHosts = (
  { backofficeHost, backofficeUrl }: Pick<SettingsShape, "backofficeHost" | "backofficeUrl">
): KnownHosts => {
  const named = backofficeUrl === undefined ? undefined : new URL(backofficeUrl).host.toLowerCase()
  return (header, { address, port }) => {
    if (header === undefined) return false
    if (header.toLowerCase() === named) return true
    const [host, sentPort] = parted(header) ?? ["", ""]
    if (host === "" || Number(sentPort === "" ? "80" : sentPort) !== port) return false
    const bare = host.replace(/^\[(.*)\]$/, "$1")
    return isLoopback(host) || bare === backofficeHost.toLowerCase() || bare === address?.replace(/^::ffff:/, "")
  }
}

/** Refuses requests with any other host before reading them. */
export const refuseOtherHosts = (isKnown: KnownHosts, nextId: () => string): Take => (request, response) => {
  const { localAddress: address, localPort: port } = request.socket
  if (isKnown(request.headers.host, { address, port })) return false
  writeRefusal(response, otherHost, nextId(), 421)
  return true
}

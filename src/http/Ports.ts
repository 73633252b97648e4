/** Probes the ports that the service listens on before anything else starts: with a taken port, the start ends and names the setting to change. */
import { Effect, Layer } from "effect"
import * as Net from "node:net"
import { Settings } from "../platform/Settings.ts"
import { StartupError } from "../platform/StartupError.ts"

/** Environment variables of an address. */
export interface AddressSettings {
  readonly host: string
  readonly port: string
  /** The port of this process alone, when several share the first. */
  readonly ownPort: string
}

export const publicSettings: AddressSettings = { host: "HOST", port: "PORT", ownPort: "NODE_PORT" }

export const backofficeSettings: AddressSettings = {
  host: "BACKOFFICE_HOST",
  port: "BACKOFFICE_PORT",
  ownPort: "NODE_BACKOFFICE_PORT"
}

/** A host and port to listen on, with the settings that choose them. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
  readonly hostSetting: string
  readonly portSetting: string
}

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : ""

export const cannotListen = (
  { host, hostSetting, port, portSetting }: ListenAddress,
  cause: unknown
): StartupError => {
  const code = codeOf(cause)
  const [setting, remedy] = code === "EADDRINUSE"
    ? [portSetting, `Another program listens there: stop it, or set ${portSetting} to a free port.`]
    : code === "EACCES"
    ? [portSetting, `Ports below 1024 need a privilege: set ${portSetting} to a higher one.`]
    : [hostSetting, `Set ${hostSetting} to an address of this machine.`]
  const reason = cause instanceof Error ? cause.message : "unknown"
  return new StartupError({ message: `${setting}: cannot listen on ${host}:${port} (${reason}). ${remedy}` })
}

/** Fails when the port is taken; sockets that may share a port would share it with another service as well. */
export const probePort = (address: ListenAddress): Effect.Effect<void, StartupError> =>
  Effect.callback((resume) => {
    const { host, port } = address
    const probe = Net.createServer()
    probe.once("error", (error) => resume(Effect.fail(cannotListen(address, error))))
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resume(Effect.void)))
  })

/** Probes the service's ports. A port of several processes is their supervisor's to probe; this process has its own beside it. */
export const layerFreePorts = Layer.effectDiscard(Effect.gen(function*() {
  const settings = yield* Settings
  const addressOf = (names: AddressSettings, host: string, port: number, ownPort: number | undefined) =>
    probePort({
      host,
      port: ownPort ?? port,
      hostSetting: names.host,
      portSetting: ownPort === undefined ? names.port : names.ownPort
    })
  yield* addressOf(publicSettings, settings.host, settings.port, settings.nodePort)
  yield* addressOf(
    backofficeSettings,
    settings.backofficeHost,
    settings.backofficePort,
    settings.nodeBackofficePort
  )
}))

import * as NodeServices from "@effect/platform-node/NodeServices"
import { Config, Context, Effect, FileSystem, Layer, Option, Path, Redacted, Result, Schema } from "effect"
import ipaddr from "ipaddr.js"
import { Entropy } from "./Entropy.ts"
import { isLoopback } from "./Loopback.ts"
import { StartupError } from "./StartupError.ts"

/** What the service was told from outside, checked and with its defaults filled in. */
export interface SettingsShape {
  /** Public API. */
  readonly host: string
  readonly port: number
  /** Staff API and pages. */
  readonly backofficeHost: string
  readonly backofficePort: number
  /** The address that staff use, where it is another one than host and port. */
  readonly backofficeUrl: string | undefined
  /** An external PostgreSQL; undefined means the embedded one. */
  readonly databaseUrl: Redacted.Redacted | undefined
  /** The role that owns its tables, for migrations; undefined means that the service's role does. */
  readonly databaseOwnerUrl: Redacted.Redacted | undefined
  /** Absolute path of the folder for the embedded database and generated secrets. */
  readonly dataDir: string
  /** Seed the demo operator when the database is empty. */
  readonly demo: boolean
  /** 32 bytes that encrypt stored secrets. */
  readonly masterKey: Redacted.Redacted<Uint8Array>
  /** Opens what it sealed, and seals nothing: the key before this one, until all is sealed anew. */
  readonly masterKeyPrevious: Redacted.Redacted<Uint8Array> | undefined
  /** Start although the master key does not open what is stored: whoever says so gives it up, to be made anew. */
  readonly masterKeyLost: boolean
  /** The staff token that works before any staff exists: generated when embedded, else `BACKOFFICE_TOKEN` if given. */
  readonly bootstrapToken: Redacted.Redacted | undefined
  /** Whether the bootstrap token works although it was retired: for who has lost every admin. */
  readonly bootstrapTokenRestored: boolean
  /** How long a staff token works from when it was issued. */
  readonly staffTokenDays: number
  /** Allow `http:` and loopback webhook targets. */
  readonly webhookAllowInsecure: boolean
  /** Networks whose `X-Forwarded-For` is believed, in CIDR notation. */
  readonly trustProxy: ReadonlyArray<string>
  /** Serve `/docs` and `/openapi.json` on the public port. */
  readonly docs: boolean
  /** Origins of the pages that may call the player endpoints from a browser, or all. */
  readonly playerOrigins: "*" | ReadonlyArray<string>
  readonly logLevel: "Trace" | "Debug" | "Info" | "Warn" | "Error" | "Fatal" | "None"
}

const logLevels = {
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  warning: "Warn",
  error: "Error",
  fatal: "Fatal",
  none: "None"
} as const

const Switch = Schema.Literals(["on", "off"])
const Port = Schema.NumberFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 0, maximum: 65_535 }))
const Days = Schema.NumberFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: 3650 }))
const Host = Schema.String.check(Schema.isPattern(/^[0-9A-Za-z._:-]+$/))
const LogLevel = Schema.Literals(["trace", "debug", "info", "warn", "warning", "error", "fatal", "none"])
const DatabaseUrl = Schema.String.check(Schema.isPattern(/^postgres(ql)?:\/\/\S+$/))
const MasterKey = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9+/]{43}=$/))
const Token = Schema.String.check(Schema.isPattern(/^[\x21-\x7e]{16,}$/))
const Cidr = Schema.String.check(Schema.makeFilter((text: string) => isCidr(text)))

function isCidr(text: string): boolean {
  return text.includes("/") ? ipaddr.isValidCIDR(text) : ipaddr.isValid(text)
}

/** Scheme, host and port, as browsers send it. */
const Origin = Schema.String.check(Schema.makeFilter((text: string) => isOrigin(text)))

function isOrigin(text: string): boolean {
  const url = /^https?:\/\//.test(text) ? URL.parse(text) : null
  return url?.origin === text
}

const toCidr = (text: string): string =>
  text.includes("/") ? text : `${text}/${ipaddr.parse(text).kind() === "ipv6" ? 128 : 32}`

const listOf = (text: string): ReadonlyArray<string> =>
  text.split(",").map((part) => part.trim()).filter((part) => part !== "")

/** One variable: undefined when it is unset or empty, the decoded value, or the one line that stops the start. */
const read = <A>(name: string, codec: Schema.Codec<A, string>, expected: string) =>
  Effect.gen(function*() {
    const given = yield* Config.option(Config.String(name)).pipe(
      Effect.mapError(() => new StartupError({ message: `${name} cannot be read` }))
    )
    const text = Option.getOrElse(given, () => "").trim()
    if (text === "") return undefined
    const decoded = Schema.decodeUnknownResult(codec)(text)
    if (Result.isSuccess(decoded)) return decoded.success
    return yield* new StartupError({ message: `${name} must be ${expected}` })
  })

const address = Effect.gen(function*() {
  return {
    host: (yield* read("HOST", Host, "a host name or an IP address")) ?? "127.0.0.1",
    port: (yield* read("PORT", Port, "a port number from 0 to 65535")) ?? 8080,
    backofficeHost: (yield* read("BACKOFFICE_HOST", Host, "a host name or an IP address")) ?? "127.0.0.1",
    backofficePort: (yield* read("BACKOFFICE_PORT", Port, "a port number from 0 to 65535")) ?? 8081
  }
})

const dataFolder = Effect.gen(function*() {
  const path = yield* Path.Path
  return path.resolve((yield* read("DATA_DIR", Schema.String, "a folder")) ?? ".data")
})

const unusable = (file: string) => (error: { readonly message: string }) =>
  new StartupError({ message: `DATA_DIR: ${file} cannot be used (${error.message.replaceAll(/\s+/g, " ")})` })

/** The secret in `DATA_DIR/name`, made by `generate` the first time; only the user that runs the service can read it. */
const generatedSecret = <A extends string>(
  dataDir: string,
  name: string,
  codec: Schema.Codec<A, string>,
  generate: () => string
) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const file = path.join(dataDir, name)
    yield* fs.makeDirectory(dataDir, { recursive: true, mode: 0o711 })
    if (!(yield* fs.exists(file))) {
      // "wx" fails when another start was faster; the content read below is then that one's.
      yield* fs.writeFileString(file, generate() + "\n", { flag: "wx", mode: 0o600 }).pipe(
        Effect.catchTag("PlatformError", (error) =>
          error.reason._tag === "AlreadyExists" ? Effect.void : Effect.fail(error))
      )
    }
    const text = (yield* fs.readFileString(file)).trim()
    if (!Schema.is(codec)(text)) {
      return yield* new StartupError({ message: `DATA_DIR: ${file} does not hold a valid secret` })
    }
    return Redacted.make(text)
  }).pipe(Effect.catchTag("PlatformError", (error) =>
    Effect.fail(unusable(name)(error))))

const keyOf = (text: string) => Redacted.make(new Uint8Array(Buffer.from(text, "base64")))

const load = Effect.gen(function*() {
  const entropy = yield* Entropy
  const databaseUrl = yield* read("DATABASE_URL", DatabaseUrl, "a postgres:// address")
  const databaseOwnerUrl = yield* read("DATABASE_OWNER_URL", DatabaseUrl, "a postgres:// address")
  if (databaseOwnerUrl !== undefined && databaseUrl === undefined) {
    return yield* new StartupError({
      message: "DATABASE_OWNER_URL needs DATABASE_URL, the address for the service's role"
    })
  }
  const dataDir = yield* dataFolder
  const demo = yield* read("DEMO", Switch, "on or off")
  const masterKey = yield* read("MASTER_KEY", MasterKey, "32 bytes in base64")
  const previous = yield* read("MASTER_KEY_PREVIOUS", MasterKey, "32 bytes in base64")
  const isLost = yield* read("MASTER_KEY_LOST", Switch, "on or off")
  const token = yield* read("BACKOFFICE_TOKEN", Token, "at least 16 visible characters")
  const restored = yield* read("BOOTSTRAP_TOKEN_RESTORED", Switch, "on or off")
  const staffTokenDays = yield* read("STAFF_TOKEN_DAYS", Days, "a whole number of days from 1 to 3650")
  const insecure = yield* read("WEBHOOK_ALLOW_INSECURE", Switch, "on or off")
  const backofficeUrl = yield* read("BACKOFFICE_URL", Origin, "an address like https://backoffice.example")
  const docs = yield* read("DOCS", Switch, "on or off")
  const proxies = yield* read("TRUST_PROXY", Schema.String, "a list of networks")
  const networks = listOf(proxies ?? "")
  if (!networks.every(Schema.is(Cidr))) {
    return yield* new StartupError({
      message: "TRUST_PROXY must be a comma-separated list of networks like 10.0.0.0/8"
    })
  }
  const origins = (yield* read("PLAYER_ORIGINS", Schema.String, "a list of origins")) ?? "*"
  const playerOrigins = origins === "*" ? origins : listOf(origins)
  if (playerOrigins !== "*" && (playerOrigins.length === 0 || !playerOrigins.every(Schema.is(Origin)))) {
    return yield* new StartupError({
      message: "PLAYER_ORIGINS must be * or a comma-separated list of origins like https://casino.example"
    })
  }
  const logLevel = yield* read("LOG_LEVEL", LogLevel, "one of trace, debug, info, warn, error, fatal, none")
  if (databaseUrl !== undefined && masterKey === undefined) {
    return yield* new StartupError({ message: "MASTER_KEY is required with DATABASE_URL: 32 bytes in base64" })
  }
  const key = masterKey !== undefined
    ? Redacted.make(masterKey)
    : yield* generatedSecret(
      dataDir,
      "master.key",
      MasterKey,
      () => Buffer.from(entropy.bytes(32)).toString("base64")
    )
  const listening = yield* address
  return {
    ...listening,
    backofficeUrl,
    databaseUrl: databaseUrl === undefined ? undefined : Redacted.make(databaseUrl),
    databaseOwnerUrl: databaseOwnerUrl === undefined ? undefined : Redacted.make(databaseOwnerUrl),
    dataDir,
    // its secrets are in a file, but its key is anybody's guess to try once the API is open to others
    demo: demo === undefined ? databaseUrl === undefined && isLoopback(listening.host) : demo === "on",
    masterKey: keyOf(Redacted.value(key)),
    masterKeyPrevious: previous === undefined ? undefined : keyOf(previous),
    masterKeyLost: isLost === "on",
    bootstrapToken: databaseUrl === undefined
      ? yield* generatedSecret(dataDir, "backoffice.token", Token, () => entropy.token("pbs_", 40))
      : token === undefined
      ? undefined
      : Redacted.make(token),
    bootstrapTokenRestored: restored === "on",
    staffTokenDays: staffTokenDays ?? 90,
    webhookAllowInsecure: insecure === "on",
    docs: docs !== "off",
    trustProxy: networks.map(toCidr),
    playerOrigins,
    logLevel: logLevels[logLevel ?? "info"]
  } satisfies SettingsShape
})

/**
 * The settings of the running service, from environment variables. A wrong or missing one fails the layer with a
 * {@link StartupError} that names it.
 *
 *     const { port, dataDir } = yield* Settings
 */
export class Settings extends Context.Service<Settings, SettingsShape>()("pitboss/platform/Settings") {
  static readonly layer = Layer.effect(Settings, load).pipe(Layer.provide([Entropy.layer, NodeServices.layer]))

  /** Settings for a test: nothing is read from or written to disk. The master key is all zeros unless overridden. */
  static readonly layerTest = (overrides: Partial<SettingsShape> = {}) =>
    Layer.succeed(Settings, {
      host: "127.0.0.1",
      port: 0,
      backofficeHost: "127.0.0.1",
      backofficePort: 0,
      backofficeUrl: undefined,
      databaseUrl: undefined,
      databaseOwnerUrl: undefined,
      dataDir: ".data",
      demo: false,
      masterKey: Redacted.make(new Uint8Array(32)),
      masterKeyPrevious: undefined,
      masterKeyLost: false,
      bootstrapToken: Redacted.make("test-bootstrap-token"),
      bootstrapTokenRestored: false,
      staffTokenDays: 90,
      webhookAllowInsecure: true,
      docs: true,
      trustProxy: [],
      playerOrigins: "*",
      logLevel: "Info",
      ...overrides
    })
}

/**
 * What the command line needs to reach the running service: the staff API's address, and the token that says who acts
 * (`BACKOFFICE_TOKEN`, else the bootstrap token that the service left in `DATA_DIR`). Writes nothing.
 */
export const commandLineSettings = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { backofficeHost, backofficePort } = yield* address
  const given = yield* read("BACKOFFICE_TOKEN", Token, "at least 16 visible characters")
  const file = path.join(yield* dataFolder, "backoffice.token")
  const token = given ??
    (yield* fs.readFileString(file).pipe(
      Effect.map((text) => text.trim()),
      Effect.orElseSucceed(() => undefined)
    ))
  // A wildcard is where the service listens, not where one connects.
  const host = backofficeHost === "0.0.0.0" ? "127.0.0.1" : backofficeHost === "::" ? "::1" : backofficeHost
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${backofficePort}`,
    token: token === undefined ? undefined : Redacted.make(token)
  }
})

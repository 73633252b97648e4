/** Settings from environment variables, of the service and of the command line. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Config, ConfigProvider, Context, Effect, FileSystem, Layer, Path, Redacted, Schema } from "effect"
import ipaddr from "ipaddr.js"
import { Entropy } from "./Entropy.ts"
import { isLoopback, reachable } from "./Loopback.ts"
import { StartupError } from "./StartupError.ts"

const isCidr = (text: string): boolean => text.includes("/") ? ipaddr.isValidCIDR(text) : ipaddr.isValid(text)

/** Scheme, host and port, as browsers send it. */
const isOrigin = (text: string): boolean => /^https?:\/\//.test(text) && URL.parse(text)?.origin === text

/** Identity provider URL: its claims about staff must not be read or changed in transit. */
const isIssuer = (text: string): boolean => {
  const url = URL.parse(text)
  return url !== null && url.search === "" && url.hash === "" &&
    (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname)))
}

const toCidr = (text: string): string =>
  text.includes("/") ? text : `${text}/${ipaddr.parse(text).kind() === "ipv6" ? 128 : 32}`

const listOf = (text: string): ReadonlyArray<string> =>
  text.split(",").map((part) => part.trim()).filter((part) => part !== "")

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

const text = (isValid: (text: string) => boolean) => Schema.String.check(Schema.makeFilter(isValid))
const wholeNumber = (minimum: number, maximum: number) =>
  Schema.NumberFromString.check(Schema.isInt(), Schema.isBetween({ minimum, maximum }))
const Host = Schema.String.check(Schema.isPattern(/^[0-9A-Za-z._:-]+$/))
const Port = wholeNumber(0, 65_535)
const DatabaseUrl = Schema.String.check(Schema.isPattern(/^postgres(ql)?:\/\/\S+$/))
const MasterKey = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9+/]{43}=$/))
const Token = Schema.String.check(Schema.isPattern(/^[\x21-\x7e]{16,}$/))
const Visible = Schema.String.check(Schema.isPattern(/^[\x21-\x7e]{1,500}$/))
const Networks = text((networks) => listOf(networks).every(isCidr))
const Origins = text((origins) => origins === "*" || listOf(origins).length > 0 && listOf(origins).every(isOrigin))
const LogLevel = Schema.Literals(["trace", "debug", "info", "warn", "warning", "error", "fatal", "none"])

/** Reads a variable: the fallback when unset or empty, the decoded value, or the one-line error that prevents the start. */
const read = <A, const Fallback>(
  name: string,
  codec: Schema.Codec<A, string>,
  expected: string,
  fallback: Fallback
): Effect.Effect<A | Fallback, StartupError> =>
  Config.String(name).pipe(
    Config.withDefault(""),
    Effect.mapError(() => new StartupError({ message: `${name} cannot be read` })),
    Effect.flatMap((given): Effect.Effect<A | Fallback, StartupError> =>
      given.trim() === ""
        ? Effect.succeed(fallback)
        : Effect.mapError(
          Schema.decodeUnknownEffect(codec)(given.trim()),
          () => new StartupError({ message: `${name} must be ${expected}` })
        )
    )
  )

const Switch = Schema.Literals(["on", "off"])
const isOn = (word: "on" | "off"): boolean => word === "on"

const bytesOf = (key: string): Redacted.Redacted<Uint8Array> =>
  Redacted.make(new Uint8Array(Buffer.from(key, "base64")))
/** `off`, or the files of a certificate, its key and the authority that signs all nodes' certificates. */
const ClusterTls = text((files) => files === "off" || listOf(files).length === 3)
const optional = <A, B>(map: (value: A) => B) => (value: A | undefined): B | undefined =>
  value === undefined ? undefined : map(value)

const databaseAddress = "a postgres:// address"
const masterKey = "32 bytes in base64"
const listening = {
  /** Staff API and pages. */
  backofficeHost: read("BACKOFFICE_HOST", Host, "a host name or an IP address", "127.0.0.1"),
  backofficePort: read("BACKOFFICE_PORT", Port, "a port number from 0 to 65535", 8081)
}
const bootstrapToken = read("BACKOFFICE_TOKEN", Token, "at least 16 visible characters", undefined)

/** Folder of the embedded database and generated secrets, as an absolute path. */
const dataDir = Effect.flatMap(
  Path.Path,
  (path) => Effect.map(read("DATA_DIR", Schema.String, "a folder", ".data"), (folder) => path.resolve(folder))
)

/** Individual variables; {@link load} adds defaults that depend on one another. */
const variables = Effect.all({
  ...listening,
  /** Public API. */
  host: read("HOST", Host, "a host name or an IP address", "127.0.0.1"),
  port: read("PORT", Port, "a port number from 0 to 65535", 8080),
  /** Address of this node alone, where several nodes share the ports. */
  nodePort: read("NODE_PORT", Port, "a port number from 0 to 65535", undefined),
  nodeBackofficePort: read("NODE_BACKOFFICE_PORT", Port, "a port number from 0 to 65535", undefined),
  /** Address used by staff, if not host and port. */
  backofficeUrl: read("BACKOFFICE_URL", text(isOrigin), "an address like https://backoffice.example", undefined),
  /** External PostgreSQL; undefined for the embedded one. */
  databaseUrl: read("DATABASE_URL", DatabaseUrl, databaseAddress, undefined).pipe(Effect.map(optional(Redacted.make))),
  /** Owner of its tables, for migrations; undefined when that is the service's role. */
  databaseOwnerUrl: read("DATABASE_OWNER_URL", DatabaseUrl, databaseAddress, undefined).pipe(
    Effect.map(optional(Redacted.make))
  ),
  dataDir,
  /** Seeds the demo operator when the database is empty. */
  demo: read("DEMO", Switch, "on or off", undefined).pipe(Effect.map(optional(isOn))),
  /** 32 bytes that encrypt stored secrets. */
  masterKey: read("MASTER_KEY", MasterKey, masterKey, undefined).pipe(Effect.map(optional(bytesOf))),
  /** Previous key: decrypts values until all are re-encrypted, and encrypts none. */
  masterKeyPrevious: read("MASTER_KEY_PREVIOUS", MasterKey, masterKey, undefined).pipe(Effect.map(optional(bytesOf))),
  /** Starts even though the master key does not decrypt the stored secrets, and abandons them. */
  masterKeyLost: read("MASTER_KEY_LOST", Switch, "on or off", "off").pipe(Effect.map(isOn)),
  /** Staff token for use before any staff account exists: generated when embedded. */
  bootstrapToken: Effect.map(bootstrapToken, optional(Redacted.make)),
  /** Re-enables a retired bootstrap token: for operators without any remaining admin. */
  bootstrapTokenRestored: read("BOOTSTRAP_TOKEN_RESTORED", Switch, "on or off", "off").pipe(Effect.map(isOn)),
  /** Validity of a staff token from its issue. */
  staffTokenDays: read("STAFF_TOKEN_DAYS", wholeNumber(1, 3650), "a whole number of days from 1 to 3650", 90),
  /** Idle time-out and maximum duration of a staff session in a browser. */
  staffSessionIdleMinutes: read(
    "STAFF_SESSION_IDLE_MINUTES",
    wholeNumber(1, 1440),
    "a whole number of minutes from 1 to 1440",
    30
  ),
  staffSessionHours: read("STAFF_SESSION_HOURS", wholeNumber(1, 168), "a whole number of hours from 1 to 168", 12),
  /** Identity provider for staff sign-in. */
  oidcIssuer: read("OIDC_ISSUER", text(isIssuer), "an https address, or one of this machine", undefined),
  oidcClientId: read("OIDC_CLIENT_ID", Visible, "1 to 500 visible characters", undefined),
  oidcClientSecret: read("OIDC_CLIENT_SECRET", Visible, "1 to 500 visible characters", undefined).pipe(
    Effect.map(optional(Redacted.make))
  ),
  /** Claim of the role; dots address nested objects. */
  oidcRoleClaim: read("OIDC_ROLE_CLAIM", Visible, "1 to 500 visible characters", "role"),
  /** Claim of the operator slugs that an account is bound to, and the default binding without it. */
  oidcOperatorsClaim: read("OIDC_OPERATORS_CLAIM", Visible, "1 to 500 visible characters", undefined),
  oidcOperatorsAbsent: read("OIDC_OPERATORS_ABSENT", Schema.Literals(["none", "all"]), "none or all", "none"),
  /** Allows `http:` and loopback webhook targets. */
  webhookAllowInsecure: read("WEBHOOK_ALLOW_INSECURE", Switch, "on or off", "off").pipe(Effect.map(isOn)),
  /** Allows `http:`, loopback and private addresses of game providers. */
  providerAllowInsecure: read("PROVIDER_ALLOW_INSECURE", Switch, "on or off", "off").pipe(Effect.map(isOn)),
  /** Allows `http:`, loopback and private addresses of registers of excluded players. */
  registerAllowInsecure: read("REGISTER_ALLOW_INSECURE", Switch, "on or off", "off").pipe(Effect.map(isOn)),
  /** Time that a register has for a question, from connecting to the last byte of its answer. */
  registerTimeoutMs: read(
    "REGISTER_TIMEOUT_MS",
    wholeNumber(500, 10_000),
    "a whole number of milliseconds from 500 to 10000",
    2000
  ),
  /** Address of the public API for vendors, if not host and port. */
  publicUrl: read("PUBLIC_URL", text(isOrigin), "an address like https://api.example", undefined),
  /** Serves `/docs` and `/openapi.json` on the public port. */
  docs: read("DOCS", Switch, "on or off", "on").pipe(Effect.map(isOn)),
  /** Networks whose `X-Forwarded-For` is trusted, in CIDR notation. */
  trustProxy: read("TRUST_PROXY", Networks, "a comma-separated list of networks like 10.0.0.0/8", "").pipe(
    Effect.map((networks): ReadonlyArray<string> => listOf(networks).map(toCidr))
  ),
  /** Origins of pages that may call the player endpoints from a browser, or all. */
  playerOrigins: read(
    "PLAYER_ORIGINS",
    Origins,
    "* or a comma-separated list of origins like https://casino.example",
    "*"
  ).pipe(Effect.map((origins) => origins === "*" ? "*" as const : listOf(origins))),
  /** Difference between the process's clock and PostgreSQL's from which on nothing is done that cannot be undone. */
  clockToleranceSeconds: read(
    "CLOCK_TOLERANCE_SECONDS",
    wholeNumber(5, 240),
    "a whole number of seconds from 5 to 240",
    30
  ),
  /** Joins the cluster of its database. */
  cluster: read("CLUSTER", Switch, "on or off", "off").pipe(Effect.map(isOn)),
  /** Address of this node for other nodes. */
  clusterHost: read("CLUSTER_HOST", Host, "a host name or an IP address", "127.0.0.1"),
  /** 0 for a free one. */
  clusterPort: read("CLUSTER_PORT", Port, "a port number from 0 to 65535", 0),
  /** Time for which an unresponsive node keeps its players. */
  clusterLeaseSeconds: read("CLUSTER_LEASE_SECONDS", wholeNumber(2, 60), "a whole number of seconds from 2 to 60", 4),
  /** Certificates of nodes, or `off` for a private network. */
  clusterTls: read("CLUSTER_TLS", ClusterTls, "off or the files certificate,key,authority", undefined).pipe(
    Effect.map(optional((files) => files === "off" ? "off" as const : listOf(files)))
  ),
  logLevel: read("LOG_LEVEL", LogLevel, "one of trace, debug, info, warn, error, fatal, none", "info").pipe(
    Effect.map((level) => logLevels[level])
  )
})

const unusable = (file: string) => (error: { readonly message: string }) =>
  new StartupError({ message: `DATA_DIR: ${file} cannot be used (${error.message.replaceAll(/\s+/g, " ")})` })

/** Secret in `DATA_DIR/name`, created by `generate` the first time; readable only by the user that runs the service. */
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
      // "wx" fails when a concurrent start was faster; its content is then read below.
      yield* fs.writeFileString(file, generate() + "\n", { flag: "wx", mode: 0o600 }).pipe(
        Effect.catchTag("PlatformError", (error) =>
          error.reason._tag === "AlreadyExists" ? Effect.void : Effect.fail(error))
      )
    }
    const text = (yield* fs.readFileString(file)).trim()
    if (!Schema.is(codec)(text)) {
      return yield* new StartupError({ message: `DATA_DIR: ${file} does not hold a valid secret: restore the file` })
    }
    return Redacted.make(text)
  }).pipe(Effect.catchTag("PlatformError", (error) =>
    Effect.fail(unusable(name)(error))))

/** Settings as they are given, once they agree with one another. Writes nothing: secrets that a start would make are undefined. */
export const givenSettings = Effect.gen(function*() {
  const given = yield* variables
  const { databaseUrl, demo, host, masterKey } = given
  const isEmbedded = databaseUrl === undefined
  if (given.databaseOwnerUrl !== undefined && isEmbedded) {
    return yield* new StartupError({
      message: "DATABASE_OWNER_URL needs DATABASE_URL, the address for the service's role"
    })
  }
  if (!isEmbedded && masterKey === undefined) {
    return yield* new StartupError({ message: "MASTER_KEY is required with DATABASE_URL: 32 bytes in base64" })
  }
  if (given.cluster && isEmbedded) {
    return yield* new StartupError({
      message: "CLUSTER=on needs DATABASE_URL: `npm run cluster` runs several nodes over the embedded database"
    })
  }
  if (given.cluster && !isLoopback(given.clusterHost) && given.clusterTls === undefined) {
    return yield* new StartupError({
      message:
        "CLUSTER_HOST beyond loopback needs CLUSTER_TLS: the files certificate,key,authority, or the word off on a private network"
    })
  }
  const { oidcClientId, oidcClientSecret, oidcIssuer } = given
  const hasOidc = oidcIssuer !== undefined && oidcClientId !== undefined && oidcClientSecret !== undefined
  if (!hasOidc && (oidcIssuer ?? oidcClientId ?? oidcClientSecret) !== undefined) {
    return yield* new StartupError({
      message: "OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET must be set together"
    })
  }
  return {
    ...given,
    oidc: hasOidc
      ? {
        issuer: oidcIssuer,
        clientId: oidcClientId,
        clientSecret: oidcClientSecret,
        roleClaim: given.oidcRoleClaim,
        operatorsClaim: given.oidcOperatorsClaim,
        operatorsAbsent: given.oidcOperatorsAbsent
      }
      : undefined,
    // the demo's secrets are in a file, but its key is guessable and must not be reachable from other machines
    demo: demo ?? (isEmbedded && isLoopback(host))
  }
})

const load = Effect.gen(function*() {
  const entropy = yield* Entropy
  const given = yield* givenSettings
  const { databaseUrl, dataDir, masterKey } = given
  const newKey = () => Buffer.from(entropy.bytes(32)).toString("base64")
  return {
    ...given,
    masterKey: masterKey ?? bytesOf(Redacted.value(yield* generatedSecret(dataDir, "master.key", MasterKey, newKey))),
    bootstrapToken: databaseUrl === undefined
      ? yield* generatedSecret(dataDir, "backoffice.token", Token, () => entropy.token("pbs_", 40))
      : given.bootstrapToken
  }
})

/** Validated settings with their defaults. */
export type SettingsShape = Effect.Success<typeof load>

/**
 * Settings of the running service. An invalid or missing one fails the layer with a {@link StartupError} that names it.
 *
 *     const { port, dataDir } = yield* Settings
 */
export class Settings extends Context.Service<Settings, SettingsShape>()("pitboss/platform/Settings") {
  static readonly layer = Layer.effect(Settings, load).pipe(Layer.provide([Entropy.layer, NodeServices.layer]))

  /** Settings for a test: the defaults, and free ports. The master key is all zeros unless overridden. */
  static readonly layerTest = (overrides: Partial<SettingsShape> = {}) =>
    Layer.effect(
      Settings,
      Effect.map(variables, (given): SettingsShape => ({
        ...given,
        port: 0,
        backofficePort: 0,
        demo: false,
        masterKey: Redacted.make(new Uint8Array(32)),
        bootstrapToken: Redacted.make("test-bootstrap-token"),
        oidc: undefined,
        webhookAllowInsecure: true,
        providerAllowInsecure: true,
        registerAllowInsecure: true,
        ...overrides
      }))
    ).pipe(Layer.orDie, Layer.provide([ConfigProvider.layer(ConfigProvider.fromUnknown({})), Path.layer]))
}

/**
 * Settings of the command line: the staff API's address and the caller's token (`BACKOFFICE_TOKEN`, otherwise the bootstrap token written to
 * `DATA_DIR` by the service). Writes nothing.
 */
export const commandLineSettings = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { backofficeHost, backofficePort } = yield* Effect.all(listening)
  const given = yield* bootstrapToken
  const file = path.join(yield* dataDir, "backoffice.token")
  const token = given ??
    (yield* fs.readFileString(file).pipe(
      Effect.map((text) => text.trim()),
      Effect.orElseSucceed(() => undefined)
    ))
  return {
    url: `http://${reachable(backofficeHost)}:${backofficePort}`,
    token: token === undefined ? undefined : Redacted.make(token)
  }
})

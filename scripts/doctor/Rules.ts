/** What would stop or slow a production start: rules over what was read, each with what to do next. */
import { neededConnections, refuseServer } from "../../src/platform/Database.ts"
import { isLoopback } from "../../src/platform/Loopback.ts"
import type { MigrationConflict } from "../../src/platform/Migrations.ts"

/** `fail`: stops or slows a production start, or is unsafe there; `warn`: to be looked at. */
export interface Finding {
  readonly subject: string
  readonly state: "ok" | "warn" | "fail"
  readonly found: string
  readonly next: string | null
}

/** What was read of the database; sizes in connections. */
export interface DatabaseReport {
  readonly version: number
  readonly fsync: string
  readonly synchronousCommit: string
  readonly fullPageWrites: string
  readonly readOnly: string
  readonly hasCollations: boolean
  readonly hasChecksums: boolean
  readonly isArchiving: boolean
  readonly sharedBuffersMb: number
  readonly maxConnections: number
  readonly reservedConnections: number
  /** Of this database's role; -1 for none. */
  readonly roleConnections: number
  readonly otherConnections: number
  /** Rights that the service does not need; null where its role is made at each start. */
  readonly excessiveRights: ReadonlyArray<string> | null
  readonly pendingMigrations: number
  readonly migrationConflict: MigrationConflict | null
  /** The database's clock less this machine's, milliseconds. */
  readonly clockAheadMs: number
}

/** A certificate, or why it cannot be read. */
export interface CertificateReport {
  readonly where: string
  readonly endsAt: number | null
  readonly problem: string | null
}

export interface Report {
  readonly now: number
  readonly nodeVersion: string
  readonly settings: {
    readonly isEmbedded: boolean
    readonly isOpenDatabase: boolean
    readonly isCluster: boolean
    readonly host: string
    readonly backofficeHost: string
    readonly publicUrl: string | null
    readonly backofficeUrl: string | null
    readonly trustProxy: ReadonlyArray<string>
    readonly playerOrigins: "*" | "listed"
    readonly clusterTls: "off" | "files" | null
    readonly clockToleranceSeconds: number
    readonly demo: boolean
    /** Variables that are on. */
    readonly on: ReadonlyArray<string>
  }
  /** Different characters and length of each secret that is given in the environment. */
  readonly secrets: ReadonlyArray<{ readonly name: string; readonly length: number; readonly different: number }>
  /** Files of secrets that others than their owner may read. */
  readonly readableSecrets: ReadonlyArray<string>
  /** Null: not there yet. Or why it cannot be reached. */
  readonly database: DatabaseReport | string | null
  /** How much this machine's clock was set while it was watched, milliseconds. */
  readonly clockStepMs: number
  readonly disk: {
    readonly folder: string
    readonly freeMb: number
    readonly syncMedianMs: number | null
    readonly problem: string | null
  }
  /** Null where the system does not say. */
  readonly openFiles: number | null
  readonly certificates: ReadonlyArray<CertificateReport>
  readonly lastBackup: { readonly at: number; readonly folder: string; readonly bytes: number } | null
  readonly hasPages: boolean
  readonly buildsPages: boolean
  /** What answers at the public port. */
  readonly port: "free" | "service" | "other"
}

/** Different characters that a secret of that many letters has at least; a random one of 32 bytes has 25 or more. */
const leastDifferent = 10
const leastSecretLength = 24

/** Insecure by their purpose: what each lets through. */
const insecure: { readonly [name: string]: string } = {
  WEBHOOK_ALLOW_INSECURE: "webhooks may go to http: and to this machine",
  PROVIDER_ALLOW_INSECURE: "providers may be reached by http: and in the own network",
  REGISTER_ALLOW_INSECURE: "registers may be reached by http: and in the own network",
  MASTER_KEY_LOST: "secrets that the master key does not open are given up",
  BOOTSTRAP_TOKEN_RESTORED: "the first staff token works again"
}

/** Median of an fdatasync, milliseconds: each group commit waits for one. */
const syncSlowMs = 5
const syncTooSlowMs = 20

const diskScarceMb = 1024
const diskTooScarceMb = 128

/** Connections of both servers at a time, and files of the service itself. */
const openFilesWanted = 21_000
const openFilesLeast = 4096

const clockWarnMs = 2000
const clockStepWarnMs = 50
const sharedBuffersLeastMb = 128
const hourMs = 3_600_000
const dayMs = 24 * hourMs
const backupStaleMs = 26 * hourMs
const certificateSoonMs = 30 * dayMs

const ok = (subject: string, found: string): Finding => ({ subject, state: "ok", found, next: null })
const warn = (subject: string, found: string, next: string): Finding => ({ subject, state: "warn", found, next })
const fail = (subject: string, found: string, next: string): Finding => ({ subject, state: "fail", found, next })

/** The findings that are bad, else the good one. */
const orOk = (bad: ReadonlyArray<Finding | false>, good: Finding): ReadonlyArray<Finding> => {
  const found = bad.filter((one) => one !== false)
  return found.length === 0 ? [good] : found
}

const node = ({ nodeVersion }: Pick<Report, "nodeVersion">): ReadonlyArray<Finding> => {
  const found = `Node.js ${nodeVersion}`
  return [
    Number(nodeVersion.split(".")[0]) >= 24 ? ok("node", found) : fail("node", found, "Install Node.js 24 or later.")
  ]
}

const settings = ({ readableSecrets, secrets, settings: given }: Report): ReadonlyArray<Finding> => [
  ok("settings", "every variable is valid"),
  ...orOk(
    [
      ...secrets.map(({ different, length, name }) =>
        (different < leastDifferent || length < leastSecretLength) &&
        fail("secrets", `${name} is weak: ${length} characters, ${different} different ones`, "openssl rand -base64 32")
      ),
      ...readableSecrets.map((file) => fail("secrets", `others may read ${file}`, `chmod 600 ${file}`))
    ],
    ok("secrets", "none is weak or readable by others")
  ),
  ...orOk(
    [
      ...given.on.map((name) => fail("switches", `${name}=on: ${insecure[name] ?? ""}`, `Unset ${name}.`)),
      given.demo && warn("switches", "DEMO: an empty database gets a demo operator", "Set DEMO=off.")
    ],
    ok("switches", "nothing is on that is for trials only")
  )
]

const connections = (
  { maxConnections, otherConnections, reservedConnections, roleConnections }: DatabaseReport,
  isCluster: boolean
): ReadonlyArray<Finding> => {
  const needed = neededConnections(isCluster)
  const free = maxConnections - reservedConnections - otherConnections
  const found = `${needed} needed, ${free} of max_connections ${maxConnections} free`
  const next = `Raise max_connections to ${reservedConnections + otherConnections + 2 * needed} or more.`
  return orOk(
    [
      roleConnections >= 0 && roleConnections < needed &&
      fail(
        "connections",
        `the role may have ${roleConnections}, ${needed} are needed`,
        "ALTER ROLE … CONNECTION LIMIT -1"
      ),
      free < needed ? fail("connections", found, next) : free < 2 * needed &&
        warn("connections", `${found}: too few for a second service, as while one takes over from another`, next)
    ],
    ok("connections", found)
  )
}

const clock = (
  { clockStepMs, settings: { clockToleranceSeconds } }: Report,
  aheadMs: number
): ReadonlyArray<Finding> => {
  const apart = Math.round(Math.abs(aheadMs))
  const found = `${apart} ms from the database's`
  const next = "Set both machines' clocks by NTP."
  return orOk(
    [
      apart >= clockToleranceSeconds * 1000
        ? fail("clock", found, next)
        : apart >= clockWarnMs && warn("clock", found, next),
      Math.abs(clockStepMs) >= clockStepWarnMs &&
      warn("clock", `was set by ${Math.round(clockStepMs)} ms while it was watched`, "Let NTP slew it.")
    ],
    ok("clock", found)
  )
}

const database = (report: Report): ReadonlyArray<Finding> => {
  const { database: read, settings: { isCluster, isEmbedded, isOpenDatabase } } = report
  if (read === null) return [ok("database", "the embedded one, which the first start creates")]
  if (typeof read === "string") {
    return [fail("database", read, isEmbedded ? "See the log of the service." : "Check DATABASE_URL and the server.")]
  }
  const kind = `PostgreSQL ${Math.floor(read.version / 10_000)}, ${isEmbedded ? "embedded" : "external"}`
  const refusal = refuseServer(read, { allowFsyncOff: false })
  return [
    ...orOk(
      [
        refusal !== undefined && fail("database", refusal, "Change the server's settings, or use another one."),
        read.fullPageWrites !== "on" &&
        fail("database", "full_page_writes is off: a power failure damages pages", "Set full_page_writes = on."),
        isOpenDatabase &&
        warn("database", "the connection is not encrypted", "Add ?sslmode=verify-full to DATABASE_URL.")
      ],
      ok("database", `${kind}, commits are durable`)
    ),
    ...orOk(
      [
        !read.hasChecksums &&
        warn("durability", "pages have no checksums", "pg_checksums --enable on the stopped server"),
        !isEmbedded && !read.isArchiving &&
        warn(
          "durability",
          "the WAL is not archived: a dump loses what came after it",
          "Set archive_mode, or a standby."
        ),
        read.sharedBuffersMb < sharedBuffersLeastMb &&
        warn("durability", `shared_buffers is ${read.sharedBuffersMb} MB`, "Set shared_buffers to 256MB or more.")
      ],
      ok("durability", `checksums on, shared_buffers ${read.sharedBuffersMb} MB`)
    ),
    ...connections(read, isCluster),
    ...orOk(
      (read.excessiveRights ?? []).map((right) =>
        warn("rights", `the service's role: ${right}`, "Use DATABASE_OWNER_URL and a role that owns nothing.")
      ),
      ok("rights", read.excessiveRights === null ? "the role is made at each start" : "the role has what it needs")
    ),
    read.migrationConflict !== null
      ? fail("migrations", read.migrationConflict.problem, read.migrationConflict.remedy)
      : read.pendingMigrations > 0
      ? warn("migrations", `${read.pendingMigrations} are pending`, "The start applies them: back up first.")
      : ok("migrations", "none is pending"),
    ...clock(report, read.clockAheadMs)
  ]
}

const disk = (
  { disk: { folder, freeMb, problem, syncMedianMs }, settings: { isEmbedded } }: Report
): ReadonlyArray<Finding> => {
  if (problem !== null || syncMedianMs === null) {
    return [fail("disk", `${folder} cannot be written: ${problem ?? ""}`, "Give DATA_DIR to the service's user.")]
  }
  const [slow, free] = [`fdatasync takes ${syncMedianMs.toFixed(2)} ms (median)`, `${freeMb} MB are free in ${folder}`]
  const larger = "Free some, or set DATA_DIR to a larger disk."
  return orOk(
    [
      freeMb < diskTooScarceMb ? fail("disk", free, larger) : freeMb < diskScarceMb && warn("disk", free, larger),
      // commits to an external database are on its disk
      isEmbedded && (syncMedianMs >= syncTooSlowMs
        ? fail("disk", slow, "Each commit waits for it: set DATA_DIR to a faster disk.")
        : syncMedianMs >= syncSlowMs && warn("disk", slow, "Each commit waits for it."))
    ],
    ok("disk", `${slow}, ${free}`)
  )
}

const limits = ({ openFiles }: Report): ReadonlyArray<Finding> => {
  if (openFiles === null) return []
  const found = `${openFiles} open files`
  const next = `ulimit -n ${openFilesWanted}, or LimitNOFILE=${openFilesWanted} of its unit`
  return [
    openFiles < openFilesLeast
      ? fail("limits", found, next)
      : openFiles < openFilesWanted
      ? warn("limits", `${found}: fewer than two servers of 10000 connections take`, next)
      : ok("limits", found)
  ]
}

const isHttp = (url: string | null): url is string =>
  url !== null && url.startsWith("http:") && !isLoopback(URL.parse(url)?.hostname ?? "")

const tls = ({ certificates, now, settings: given }: Report): ReadonlyArray<Finding> => {
  const { backofficeHost, backofficeUrl, clusterTls, host, playerOrigins, publicUrl, trustProxy } = given
  const certificateFindings = certificates.map(({ endsAt, problem, where }) => {
    if (endsAt === null) {
      return warn("tls", `${where}: ${problem ?? "no certificate"}`, "Look whether it answers from here.")
    }
    const found = `the certificate of ${where} ends ${new Date(endsAt).toISOString().slice(0, 10)}`
    return endsAt <= now
      ? fail("tls", found, "Renew it.")
      : endsAt - now < certificateSoonMs
      ? warn("tls", found, "Renew it soon.")
      : ok("tls", found)
  })
  return [
    ...certificateFindings,
    ...orOk(
      [
        isHttp(publicUrl) &&
        fail("proxy", `PUBLIC_URL is ${publicUrl}`, "End TLS in front, and name the https: address."),
        isHttp(backofficeUrl) &&
        fail("proxy", `BACKOFFICE_URL is ${backofficeUrl}`, "End TLS in front, and name the https: address."),
        trustProxy.some((network) => network.endsWith("/0")) &&
        fail("proxy", "TRUST_PROXY trusts everybody's X-Forwarded-For", "Name the networks of the proxies only."),
        !isLoopback(host) && trustProxy.length === 0 &&
        warn(
          "proxy",
          `HOST is ${host} without TRUST_PROXY: TLS is ended by a proxy, for whose address all callers count`,
          "Set TRUST_PROXY."
        ),
        !isLoopback(backofficeHost) &&
        warn("proxy", `BACKOFFICE_HOST is ${backofficeHost}`, "Keep it where only staff and the scraper reach it."),
        clusterTls === "off" && warn("proxy", "CLUSTER_TLS=off: nodes talk in the clear", "Only on a private network."),
        playerOrigins === "*" &&
        warn("proxy", "PLAYER_ORIGINS is *: any page may call the player endpoints", "Name the origins of the casino.")
      ],
      ok("proxy", "addresses and trusted proxies are in order")
    )
  ]
}

const backup = ({ lastBackup, now, settings: { isEmbedded } }: Report): ReadonlyArray<Finding> => {
  if (!isEmbedded) {
    return [warn("backup", "of an external PostgreSQL: not looked at", "docs/operations.md, Backup and restore")]
  }
  if (lastBackup === null) return [warn("backup", "there is none", "pitboss backup DIR")]
  const hours = Math.floor((now - lastBackup.at) / hourMs)
  const found = `${hours} h old, ${Math.ceil(lastBackup.bytes / 1_000_000)} MB, in ${lastBackup.folder}`
  return [
    now - lastBackup.at > backupStaleMs ? warn("backup", found, "pitboss backup DIR, every day") : ok("backup", found)
  ]
}

const pages = ({ buildsPages, hasPages }: Report): ReadonlyArray<Finding> => [
  hasPages
    ? ok("pages", "are built")
    : buildsPages
    ? warn("pages", "are not built: the first start does, and takes half a minute longer", "npm run build")
    : fail("pages", "are not there", "Install the package again.")
]

const port = ({ port: answering }: Report): ReadonlyArray<Finding> => [
  answering === "other"
    ? fail("service", "another program answers at HOST and PORT", "End it, or set PORT.")
    : ok("service", answering === "service" ? "runs" : "does not run")
]

/** All findings, in the order in which a start meets them. */
export const judge = (report: Report): ReadonlyArray<Finding> =>
  [node, settings, limits, disk, database, tls, pages, backup, port].flatMap((rule) => rule(report))

/** The findings where the settings stop the start: nothing that goes by them can be looked at. */
export const wrongSettings = (problem: string, nodeVersion: string): ReadonlyArray<Finding> => [
  ...node({ nodeVersion }),
  fail("settings", problem, "Set it as docs/operations.md says, and look again.")
]

import { assert, describe, it } from "@effect/vitest"
import { type DatabaseReport, judge, type Report, wrongSettings } from "../../scripts/doctor/Rules.ts"

// Goal: what would stop or slow a production start is said, and nothing else. Method: a report of a machine that is in order, and one thing changed at a time.

const now = Date.parse("2026-11-20T12:00:00Z")
const dayMs = 86_400_000

const database: DatabaseReport = {
  version: 180_001,
  fsync: "on",
  synchronousCommit: "on",
  fullPageWrites: "on",
  readOnly: "off",
  hasCollations: true,
  hasChecksums: true,
  isArchiving: false,
  sharedBuffersMb: 256,
  maxConnections: 100,
  reservedConnections: 3,
  roleConnections: -1,
  otherConnections: 0,
  excessiveRights: null,
  pendingMigrations: 0,
  migrationConflict: null,
  clockAheadMs: 3
}

const settings: Report["settings"] = {
  isEmbedded: true,
  isOpenDatabase: false,
  isCluster: false,
  host: "127.0.0.1",
  backofficeHost: "127.0.0.1",
  publicUrl: "https://api.example",
  backofficeUrl: null,
  trustProxy: ["10.0.0.0/8"],
  playerOrigins: "listed",
  clusterTls: null,
  clockToleranceSeconds: 30,
  demo: false,
  on: []
}

const healthy: Report = {
  now,
  nodeVersion: "24.21.0",
  settings,
  secrets: [{ name: "MASTER_KEY", length: 32, different: 30 }],
  readableSecrets: [],
  database,
  clockStepMs: 0,
  disk: { folder: "/data", freeMb: 50_000, syncMedianMs: 0.8, problem: null },
  openFiles: 65_536,
  certificates: [{ where: "https://api.example", endsAt: now + 60 * dayMs, problem: null }],
  lastBackup: { at: now - 3_600_000, folder: "/backups/1", bytes: 5_000_000 },
  hasPages: true,
  buildsPages: true,
  port: "free"
}

const badOf = (report: Report) =>
  judge(report).flatMap(({ next, state, subject }) => {
    assert.strictEqual(next === null, state === "ok", subject)
    return state === "ok" ? [] : [`${state} ${subject}`]
  })

const withSettings = (changed: Partial<Report["settings"]>): Report => ({
  ...healthy,
  settings: { ...settings, ...changed }
})
const withDatabase = (changed: Partial<DatabaseReport>, more: Partial<Report["settings"]> = {}): Report => ({
  ...withSettings(more),
  database: { ...database, ...changed }
})
const external = { isEmbedded: false } as const
/** Of an external database, whose backups nobody sees. */
const unseen = "warn backup"

const cases: ReadonlyArray<readonly [name: string, report: Report, bad: ReadonlyArray<string>]> = [
  ["a machine in order", healthy, []],
  ["a database that does not exist yet", { ...healthy, database: null }, []],
  ["a database that does not answer", { ...healthy, database: "no answer" }, ["fail database"]],
  ["an old Node.js", { ...healthy, nodeVersion: "22.1.0" }, ["fail node"]],
  ["an old PostgreSQL", withDatabase({ version: 140_009 }), ["fail database"]],
  ["fsync off", withDatabase({ fsync: "off" }), ["fail database"]],
  ["synchronous_commit off", withDatabase({ synchronousCommit: "off" }), ["fail database"]],
  ["full_page_writes off", withDatabase({ fullPageWrites: "off" }), ["fail database"]],
  ["a standby", withDatabase({ readOnly: "on" }), ["fail database"]],
  ["pages without checksums", withDatabase({ hasChecksums: false }), ["warn durability"]],
  ["small shared buffers", withDatabase({ sharedBuffersMb: 16 }), ["warn durability"]],
  ["an external database without an archive", withDatabase({}, external), ["warn durability", unseen]],
  ["an external database with an archive", withDatabase({ isArchiving: true }, external), [unseen]],
  ["an unencrypted database connection", withDatabase({ isArchiving: true }, { ...external, isOpenDatabase: true }), [
    "warn database",
    unseen
  ]],
  ["room for one service only", withDatabase({ maxConnections: 54 }), ["warn connections"]],
  ["room for two services", withDatabase({ maxConnections: 55 }), []],
  [
    "room for two nodes of a cluster only without its pools",
    withDatabase({ maxConnections: 55 }, { isCluster: true }),
    [
      "warn connections"
    ]
  ],
  ["no room for a service", withDatabase({ otherConnections: 72 }), ["fail connections"]],
  ["a role with few connections", withDatabase({ roleConnections: 20 }), ["fail connections"]],
  ["a role with too many rights", withDatabase({ excessiveRights: ["superuser"] }), ["warn rights"]],
  ["pending migrations", withDatabase({ pendingMigrations: 2 }), ["warn migrations"]],
  [
    "migrations of a later release",
    withDatabase({ migrationConflict: { problem: "it is unknown", remedy: "Start another one." } }),
    ["fail migrations"]
  ],
  ["a clock behind by three seconds", withDatabase({ clockAheadMs: -3000 }), ["warn clock"]],
  ["a clock beyond the tolerance", withDatabase({ clockAheadMs: 30_000 }), ["fail clock"]],
  ["a clock that was set", { ...healthy, clockStepMs: -400 }, ["warn clock"]],
  ["a weak secret", { ...healthy, secrets: [{ name: "MASTER_KEY", length: 32, different: 1 }] }, ["fail secrets"]],
  ["a short token", { ...healthy, secrets: [{ name: "BACKOFFICE_TOKEN", length: 16, different: 14 }] }, [
    "fail secrets"
  ]],
  ["a secret that others may read", { ...healthy, readableSecrets: ["/data/master.key"] }, ["fail secrets"]],
  ["insecure switches", withSettings({ on: ["WEBHOOK_ALLOW_INSECURE", "MASTER_KEY_LOST"] }), [
    "fail switches",
    "fail switches"
  ]],
  ["a demo operator", withSettings({ demo: true }), ["warn switches"]],
  ["a slow disk", { ...healthy, disk: { ...healthy.disk, syncMedianMs: 6 } }, ["warn disk"]],
  ["a disk that is too slow", { ...healthy, disk: { ...healthy.disk, syncMedianMs: 20 } }, ["fail disk"]],
  ["a nearly full disk", { ...healthy, disk: { ...healthy.disk, freeMb: 500 } }, ["warn disk"]],
  ["a full disk", { ...healthy, disk: { ...healthy.disk, freeMb: 100 } }, ["fail disk"]],
  ["a folder that cannot be written", {
    ...healthy,
    disk: { folder: "/data", freeMb: 0, syncMedianMs: null, problem: "EACCES" }
  }, ["fail disk"]],
  ["a slow disk that no commit waits for", {
    ...withDatabase({ isArchiving: true }, external),
    disk: { ...healthy.disk, syncMedianMs: 50 }
  }, [unseen]],
  ["a low limit of open files", { ...healthy, openFiles: 20_000 }, ["warn limits"]],
  ["too low a limit of open files", { ...healthy, openFiles: 1024 }, ["fail limits"]],
  ["a certificate that ends soon", {
    ...healthy,
    certificates: [{ where: "a.pem", endsAt: now + 29 * dayMs, problem: null }]
  }, ["warn tls"]],
  ["a certificate that has ended", { ...healthy, certificates: [{ where: "a.pem", endsAt: now, problem: null }] }, [
    "fail tls"
  ]],
  ["a certificate that cannot be read", {
    ...healthy,
    certificates: [{ where: "a.pem", endsAt: null, problem: "ENOENT" }]
  }, ["warn tls"]],
  [
    "public addresses in the clear",
    withSettings({
      publicUrl: "http://api.example",
      backofficeUrl: "http://staff.example"
    }),
    ["fail proxy", "fail proxy"]
  ],
  ["a trusted proxy range of all addresses", withSettings({ trustProxy: ["0.0.0.0/0"] }), ["fail proxy"]],
  ["a public host without a proxy", withSettings({ host: "0.0.0.0", trustProxy: [] }), ["warn proxy"]],
  ["a back office on all interfaces", withSettings({ backofficeHost: "0.0.0.0" }), ["warn proxy"]],
  ["unencrypted connections between nodes", withSettings({ clusterTls: "off" }), ["warn proxy"]],
  ["player origins set to any", withSettings({ playerOrigins: "*" }), ["warn proxy"]],
  ["no backup", { ...healthy, lastBackup: null }, ["warn backup"]],
  ["an old backup", { ...healthy, lastBackup: { at: now - 2 * dayMs, folder: "/b", bytes: 1 } }, ["warn backup"]],
  ["pages that the start builds", { ...healthy, hasPages: false }, ["warn pages"]],
  ["pages that are missing", { ...healthy, hasPages: false, buildsPages: false }, ["fail pages"]],
  ["a port used by another program", { ...healthy, port: "other" }, ["fail service"]],
  ["a running service", { ...healthy, port: "service" }, []]
]

describe("the doctor command", () => {
  it.each(cases)("judges %s, and says what to do about each problem", (_, report, bad) => {
    assert.deepStrictEqual(badOf(report), bad)
  })

  it("reports the invalid setting that prevents the start", () => {
    const [, finding] = wrongSettings("PORT must be a port number", "24.21.0")
    assert.deepInclude(finding, { state: "fail", subject: "settings", found: "PORT must be a port number" })
  })
})

/** Two PostgreSQL servers, the second a synchronous standby of the first: both have every acknowledged commit. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Redacted, References, Schedule, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import * as Fs from "node:fs"
import { join } from "node:path"
import { isRunning } from "../../src/platform/DataDirectoryLock.ts"
import { startEmbeddedPostgres } from "../../src/platform/EmbeddedPostgres.ts"
import { Entropy } from "../../src/platform/Entropy.ts"
import { serverFolder, startServer } from "./E2eDatabase.ts"
import { freePort } from "./ServiceProcess.ts"
import { adminQuery, asService, memoryInFolder } from "./TestServer.ts"

const settings = { ...memoryInFolder, shared_buffers: "64MB", max_connections: "200" }

const start = (dataDir: string, port: number, more: { readonly [name: string]: string }) =>
  startEmbeddedPostgres({ dataDir, port, serverSettings: { ...settings, ...more } }).pipe(
    Effect.provideService(References.MinimumLogLevel, "Warn"),
    Effect.provide(Entropy.layer)
  )

/** The same address with both servers in it. */
const ofBoth = (url: Redacted.Redacted, port: number): string => {
  const { host } = new URL(Redacted.value(url))
  return `${Redacted.value(url).replace(host, `${host},127.0.0.1:${port}`)}?target_session_attrs=read-write`
}

const isFollowed = (url: Redacted.Redacted) =>
  Effect.scoped(Effect.flatMap(
    PgClient.makeClient({ url }),
    (sql) => sql`SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming'`
  )).pipe(Effect.provide(Reactivity.layer), Effect.map((rows) => rows.length === 1))

/** Starts both until the scope closes. */
export const makeStandbyServers = Effect.gen(function*() {
  const [first, second] = [yield* serverFolder, yield* serverFolder]
  const [port, standbyPort] = [yield* freePort, yield* freePort]
  // the standby starts from a copy of the files of a stopped server
  yield* Effect.scoped(startServer({ dataDir: first, port }))
  yield* Effect.sync(() => {
    Fs.cpSync(first, second, { recursive: true, preserveTimestamps: true })
    const { gid, uid } = Fs.statSync(join(first, "postgres", "PG_VERSION"))
    const signal = join(second, "postgres", "standby.signal")
    Fs.writeFileSync(signal, "")
    for (const name of ["", ...Fs.readdirSync(join(second, "postgres"), { recursive: true, encoding: "utf8" })]) {
      Fs.chownSync(join(second, "postgres", name), uid, gid)
    }
  })
  const running = yield* Scope.make()
  yield* Effect.addFinalizer(() => Scope.close(running, Exit.void))
  const primary = yield* Scope.provide(start(first, port, { synchronous_standby_names: "standby" }), running)
  const { password, username } = new URL(Redacted.value(primary.url))
  const standby = yield* start(second, standbyPort, {
    primary_conninfo: `host=127.0.0.1 port=${port} user=${username} password=${password} application_name=standby`
  })
  yield* Effect.repeat(isFollowed(primary.url), { until: (answer) => answer, schedule: Schedule.spaced("50 millis") })
  return {
    primary,
    standby,
    /** Of both, for the owner and for the service's role. */
    ownerUrl: ofBoth(primary.url, standbyPort),
    serviceUrl: ofBoth(asService(primary.url), standbyPort),
    /** Kills the first server without a chance to say so. */
    killPrimary: Effect.gen(function*() {
      if (isRunning(primary.pid)) process.kill(primary.pid, "SIGKILL")
      yield* Scope.close(running, Exit.void)
    }),
    /** Makes the second server the one that takes writes; completes when it does. */
    promote: adminQuery(standby.url, "SELECT pg_promote(true, 30)")
  }
})

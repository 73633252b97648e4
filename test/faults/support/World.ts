/** Environment of a fault: the service as a process, on a PostgreSQL of its own behind a proxy, and its callers. */
import { type Cause, Effect, Layer, Redacted, References, Schedule, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { appendFileSync, closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs"
import type * as Http from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { layerChainUnkeyed } from "../../kit/Chains.ts"
import { LedgerAudit } from "../../../src/features/ledger/LedgerAudit.ts"
import { layerDatabaseAt, makeFickleServer, serverFolder } from "../../kit/E2eDatabase.ts"
import { addGame, addPaymentMethod, addStudio, addTenant, type Game } from "../../kit/Casino.ts"
import { type Caller, callerByServiceClock, exchange, makeAgent, staffOf } from "../../kit/HttpCalls.ts"
import type { HistoryLog, Line } from "../../kit/History.ts"
import { withdrawalMethod } from "../../kit/Operations.ts"
import { addStaff } from "../../kit/Keys.ts"
import { freePort, type ServiceExited, type ServiceProcess, startService } from "../../kit/ServiceProcess.ts"
import { type CuttingProxy, makeCuttingProxy } from "./CuttingProxy.ts"
import { makeSmallDisk, type SmallDisk } from "./SmallDisk.ts"

export interface World {
  readonly agent: Http.Agent
  readonly operator: Caller
  readonly provider: Caller
  readonly line: Line
  readonly game: Game
  readonly server: Effect.Success<ReturnType<typeof makeFickleServer>>
  readonly proxy: CuttingProxy
  /** Undefined on an ordinary disk. */
  readonly disk: SmallDisk | undefined
  /** The current service process. */
  readonly service: () => ServiceProcess
  /** Starts it again after its end. */
  readonly restart: Effect.Effect<void, ServiceExited>
  /** Completes when service and database serve. */
  readonly recovered: Effect.Effect<void, Cause.TimeoutError>
  readonly folder: RunFolder
}

export interface RunFolder extends HistoryLog {
  readonly path: string
  /** Keeps the folder when the scope closes. */
  readonly keep: () => void
  readonly writeDatabaseLine: (line: string) => void
  /** The last lines of PostgreSQL's log. */
  readonly databaseLines: () => ReadonlyArray<string>
}

/** Lines of PostgreSQL's log in a failure: more than a crash, its recovery and the start after it write. */
const databaseLinesShown = 60

/** A folder for the journal, and the output of service and database. Removed with the scope, unless kept or the run failed. */
export const makeRunFolder: Effect.Effect<RunFolder, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => {
    const path = mkdtempSync(join(tmpdir(), "pitboss-faults-"))
    const journal = openSync(join(path, "journal.jsonl"), "a")
    const databaseLog = join(path, "postgres.log")
    let isKept = false
    return {
      path,
      writeDatabaseLine: (line: string) => appendFileSync(databaseLog, `${line}\n`),
      databaseLines: () =>
        existsSync(databaseLog)
          ? readFileSync(databaseLog, "utf8").trimEnd().split("\n").slice(-databaseLinesShown)
          : [],
      write: (line: { readonly [field: string]: unknown }) => void writeSync(journal, `${JSON.stringify(line)}\n`),
      keep: () => {
        isKept = true
      },
      close: (hasFailed: boolean) => {
        closeSync(journal)
        if (hasFailed) process.stderr.write(`what is left of the run: ${path}\n`)
        else if (!isKept) rmSync(path, { recursive: true, force: true })
      }
    }
  }),
  (folder, exit) => Effect.sync(() => folder.close(exit._tag === "Failure"))
)

/** Space for an empty database, its WAL, and a run's worth of rows. */
const diskMegabytes = 320

/** Ends a wait that would never end; not a measurement. */
export const longEnough = "90 seconds"

const patiently = <A, E, R>(attempt: Effect.Effect<A, E, R>, isRight: (answer: A) => boolean) =>
  Effect.exit(attempt).pipe(
    Effect.repeat({
      until: (exit) => exit._tag === "Success" && isRight(exit.value),
      schedule: Schedule.spaced("20 millis")
    }),
    Effect.timeout(longEnough),
    Effect.asVoid
  )

/** An operator with a game on a service and a database that faults may hit. */
const makeWorldOn = Effect.fnUntraced(function*(
  folder: RunFolder,
  server: World["server"],
  disk: SmallDisk | undefined
) {
  const sql = yield* SqlClient.SqlClient
  const proxy = yield* makeCuttingProxy(server.port)
  const port = yield* freePort
  const agent = yield* makeAgent(256)
  const address = new URL(Redacted.value(server.url))
  address.port = String(proxy.port)
  const start = startService({
    port,
    databaseUrl: address.href,
    hasMovableClock: true,
    environment: { LOG_LEVEL: "warn" },
    onOutput: (text) => appendFileSync(join(folder.path, "service.log"), text)
  })
  let service = yield* start
  const { call: signed, operator } = yield* addTenant(agent, port, "acme")
  yield* addPaymentMethod(operator.id, withdrawalMethod)
  const studio = yield* addStudio(agent, port, "studio")
  const game = yield* addGame(studio.id, "dice")
  const call = callerByServiceClock(agent, port, signed.signer)
  const provider = callerByServiceClock(agent, port, studio.call.signer)
  const token = yield* addStaff("Grace")
  const scope = yield* Effect.scope
  return {
    agent,
    operator: call,
    provider,
    line: { operator: call, provider, staff: staffOf(agent, () => service.backofficePort, token) },
    game,
    server,
    proxy,
    disk,
    service: () => service,
    restart: Effect.map(Scope.provide(start, scope), (next) => {
      service = next
    }),
    recovered: Effect.andThen(
      patiently(sql`SELECT 1`, () => true),
      patiently(exchange(agent, port, "/health/ready"), ({ status }) => status === 200)
    ),
    folder
  } satisfies World
})

/** Makes a world, on an ordinary disk or on one that can be filled, for as long as it is used. */
export const withWorld = <A, E, R>(
  folder: RunFolder,
  hasSmallDisk: boolean,
  use: (world: World) => Effect.Effect<A, E, R>
) =>
  Effect.scoped(Effect.gen(function*() {
    const disk = hasSmallDisk ? yield* makeSmallDisk(diskMegabytes) : undefined
    const server = yield* makeFickleServer({
      folder: disk === undefined ? serverFolder : Effect.succeed(disk.folder),
      onLine: folder.writeDatabaseLine
    })
    return yield* Effect.scoped(Effect.flatMap(makeWorldOn(folder, server, disk), use)).pipe(
      Effect.provide(
        LedgerAudit.layer.pipe(Layer.provide(layerChainUnkeyed), Layer.provideMerge(layerDatabaseAt(server.url)))
      ),
      // suppresses the log lines of applied migrations
      Effect.provideService(References.MinimumLogLevel, "Warn")
    )
  }))

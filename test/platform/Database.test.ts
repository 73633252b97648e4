import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, References, Schedule, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Fs from "node:fs"
import * as Os from "node:os"
import {
  DatabaseUrl,
  JournalClient,
  layerDatabaseWith,
  refuseServer,
  ReportClient,
  ServingClient,
  verifyServer
} from "../../src/platform/Database.ts"
import { startEmbeddedPostgres } from "../../src/platform/EmbeddedPostgres.ts"
import { Entropy } from "../../src/platform/Entropy.ts"
import { oneOf, orTryAgain } from "../../src/store/Rows.ts"
import { serverFolder } from "../kit/E2eDatabase.ts"
import { TestDatabase } from "../kit/TestDatabase.ts"
import { memoryInFolder } from "../kit/TestServer.ts"

const setting = (sql: SqlClient.SqlClient, name: string) =>
  Effect.map(sql<{ readonly value: string }>`SELECT current_setting(${name}) AS value`, (rows) => rows[0]?.value)

/** Whether this process may set the priority of PostgreSQL's: as the same user, or as root with `CAP_SYS_NICE`, which containers may lack. */
const mayLower = process.platform === "linux" && (process.getuid?.() !== 0 ||
  (Number.parseInt(/CapEff:\s*(\w+)/.exec(Fs.readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0", 16) / 2 ** 23 &
      1) === 1)

const hasChrt = Fs.existsSync("/usr/bin/chrt")

/** Number of the scheduling policy SCHED_IDLE, and that of a process: field 41 of `/proc/PID/stat`, the third after the name. */
const idlePolicy = "5"
const policyOf = (pid: number | undefined) =>
  Fs.readFileSync(`/proc/${pid}/stat`, "latin1").replace(/^.*\) /, "").split(" ")[38]

layer(TestDatabase.layer)("database clients", (it) => {
  it.effect("read bigint as a number, and fail on one that a number does not hold exactly", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const largest = Number.MAX_SAFE_INTEGER
      const [row] = yield* sql`SELECT ${String(largest)}::bigint AS largest, ${String(-largest)}::bigint AS least,
        ARRAY[7, NULL]::bigint[] AS list`
      assert.deepStrictEqual(row, { largest, least: -largest, list: [7, null] })
      for (const beyond of ["9007199254740992", "-9007199254740992"]) {
        assert.isTrue(Exit.isFailure(yield* Effect.exit(sql`SELECT ${beyond}::bigint AS beyond`)), beyond)
      }
      assert.deepStrictEqual(yield* sql`SELECT 1::bigint AS again`, [{ again: 1 }])
    }))

  // Goal: a report never takes a processor that a commit could use. Method: the priority of the sessions' processes, of
  // which the database is one of this machine.
  it.effect.skipIf(!mayLower)("have low-priority sessions only for reports", () =>
    Effect.gen(function*() {
      const priorityOf = (sql: SqlClient.SqlClient) =>
        Effect.map(sql<{ readonly pid: number }>`SELECT pg_backend_pid() AS pid`, ([row]) => ({
          nice: Os.getPriority(row?.pid),
          isIdle: policyOf(row?.pid) === idlePolicy
        }))
      assert.deepStrictEqual(yield* priorityOf(yield* ReportClient), {
        nice: Os.constants.priority.PRIORITY_LOW,
        isIdle: hasChrt
      })
      const usual = { nice: Os.getPriority(), isIdle: false }
      assert.deepStrictEqual(yield* priorityOf(yield* SqlClient.SqlClient), usual)
      assert.deepStrictEqual(yield* priorityOf(yield* JournalClient), usual)
    }).pipe(Effect.provide(Layer.fresh(layerDatabaseWith({ allowFsyncOff: true })))))

  // Goal: the journal's sessions run as the journal's statements expect, and both kinds commit durably.
  // Method: ask each client's own session.
  it.effect("have the session settings of their purpose", () =>
    Effect.gen(function*() {
      const general = yield* SqlClient.SqlClient
      const journal = yield* JournalClient
      assert.strictEqual(yield* setting(general, "synchronous_commit"), "on")
      assert.strictEqual(yield* setting(general, "plan_cache_mode"), "force_custom_plan")
      const expected = {
        synchronous_commit: "on",
        plan_cache_mode: "force_generic_plan",
        enable_seqscan: "off",
        enable_hashjoin: "off",
        enable_mergejoin: "off",
        jit: "off",
        statement_timeout: "5s",
        TimeZone: "UTC"
      }
      for (const client of [journal, yield* ServingClient]) {
        for (const [name, value] of Object.entries(expected)) {
          assert.strictEqual(yield* setting(client, name), value, name)
        }
      }
      assert.strictEqual(yield* setting(journal, "lock_timeout"), "20ms")
    }))

  // Goal: waiting for a connection is bounded, and the pool recovers afterwards. Method: a pool of one connection, held
  // by a transaction; a test clock; statements and a transaction that wait, one of them too long.
  it.effect("wait for a connection no longer than their time limit", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const isHeld = yield* Deferred.make<void>()
      const mayEnd = yield* Deferred.make<void>()
      const one = oneOf(sql<{ readonly one: number }>`SELECT 1 AS one`)
      const holder = yield* Effect.forkChild(
        sql.withTransaction(
          Effect.andThen(sql`SELECT 1`, Effect.andThen(Deferred.succeed(isHeld, undefined), Deferred.await(mayEnd)))
        )
      )
      yield* Deferred.await(isHeld)
      const impatient = yield* Effect.forkChild(Effect.flip(orTryAgain(one)), { startImmediately: true })
      const transaction = yield* Effect.forkChild(Effect.flip(sql.withTransaction(one)), { startImmediately: true })
      yield* TestClock.adjust("4 seconds")
      const patient = yield* Effect.forkChild(Effect.all([one, one], { concurrency: 2 }), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* Fiber.join(impatient), { code: "TRY_AGAIN" })
      assert.strictEqual((yield* Fiber.join(transaction)).reason._tag, "ConnectionError")
      yield* Deferred.succeed(mayEnd, undefined)
      yield* Fiber.join(holder)
      assert.deepStrictEqual(yield* Fiber.join(patient), [{ one: 1 }, { one: 1 }])
      for (let again = 0; again < 3; again++) assert.deepStrictEqual(yield* sql.withTransaction(one), { one: 1 })
    }).pipe(
      Effect.provide(Layer.fresh(layerDatabaseWith({ allowFsyncOff: true, maxConnections: 1 })))
    ))

  // Goal: a failed transaction is not reported as committed, and a nested one is rolled back alone. Method: a failed statement whose
  // error is swallowed; a savepoint that is rolled back.
  it.effect("commit a transaction, and report failure if PostgreSQL rolled it back", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE kept (value integer PRIMARY KEY)`
      const failed = yield* Effect.exit(
        sql.withTransaction(Effect.andThen(sql`INSERT INTO kept VALUES (1)`, Effect.ignore(sql`SELECT 1 / 0`)))
      )
      assert.isTrue(Exit.isFailure(failed))
      yield* sql.withTransaction(Effect.gen(function*() {
        yield* sql`INSERT INTO kept VALUES (2)`
        yield* Effect.exit(sql.withTransaction(Effect.andThen(sql`INSERT INTO kept VALUES (3)`, Effect.fail("undo"))))
        yield* sql.withTransaction(sql`INSERT INTO kept VALUES (4)`)
      }))
      assert.deepStrictEqual(yield* sql`SELECT value FROM kept ORDER BY value`, [{ value: 2 }, { value: 4 }])
    }))

  // Goal: a server that could lose a commit is refused. Method: the run's own server, which does not flush.
  it.effect("refuse a server that does not flush to disk (fsync)", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(verifyServer({ allowFsyncOff: false }))
      assert.strictEqual(error.message, "DATABASE_URL: the server runs with fsync off and would lose money")
      yield* verifyServer({ allowFsyncOff: true })
    }))

  // Goal: what a migration would fail on is said before it, with what to do. Method: a database whose collations of ICU are gone, as without ICU.
  it.effect("refuse a server without ICU", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const error = yield* Effect.flip(sql.withTransaction(Effect.gen(function*() {
        yield* sql`SET LOCAL allow_system_table_mods = on`
        yield* sql`DELETE FROM pg_collation WHERE collname = 'und-x-icu'`
        return yield* verifyServer({ allowFsyncOff: true })
      })))
      assert.match(
        error.message,
        /^DATABASE_URL: the server has no ICU collations.*built with ICU.*pg_import_system_collations/
      )
    }))
})

describe("refuseServer", () => {
  // Goal: exactly servers that are too old, read-only or not durable are refused. Method: one fact wrong at a time.
  it("reports each unsafe server property", () => {
    const good = { version: 150_004, synchronousCommit: "on", fsync: "on", readOnly: "off", hasCollations: true }
    const check = (change: Partial<typeof good>) => refuseServer({ ...good, ...change }, { allowFsyncOff: false })
    assert.isUndefined(check({}))
    assert.isUndefined(check({ synchronousCommit: "remote_apply" }))
    assert.strictEqual(check({ version: 140_019 }), "PostgreSQL 15 or later is needed, this is 14")
    for (const value of ["off", "local", "remote_write"]) {
      assert.match(check({ synchronousCommit: value }) ?? "", /^synchronous_commit must be on .* it is /)
    }
    assert.match(check({ readOnly: "on" }) ?? "", /read-only/)
    assert.match(check({ hasCollations: false }) ?? "", /built with ICU/)
    assert.match(check({ fsync: "off" }) ?? "", /fsync off/)
    assert.isUndefined(refuseServer({ ...good, fsync: "off" }, { allowFsyncOff: true }))
  })
})

it.live("clients fail while the server is away and recover when it is back, without a restart", () =>
  // Goal: an outage of PostgreSQL is an outage of requests, not of the service.
  // Method: kill a server of our own under open pools and under a running statement, query while it is away, start it
  // again on the same port, and query until both clients answer. All with the clients that were opened first.
  Effect.gen(function*() {
    const dataDir = yield* serverFolder
    const start = (port?: number) =>
      startEmbeddedPostgres({
        dataDir,
        serverSettings: { ...memoryInFolder, shared_buffers: "16MB" },
        ...(port === undefined ? {} : { port })
      }).pipe(Effect.provide(Entropy.layer), Effect.provideService(References.MinimumLogLevel, "Error"))

    const serverScope = yield* Scope.make()
    const server = yield* Scope.provide(start(), serverScope)
    const clients = yield* Layer.build(
      layerDatabaseWith({ maxConnections: 3, maxJournalConnections: 2 }).pipe(
        Layer.provide(Layer.succeed(DatabaseUrl, { url: server.url, embedded: true }))
      )
    )
    for (const sql of [Context.get(clients, SqlClient.SqlClient), Context.get(clients, JournalClient)]) {
      yield* sql`SELECT 1 AS n`
    }
    const general = Context.get(clients, SqlClient.SqlClient)
    const journal = Context.get(clients, JournalClient)
    const inFlight = yield* Effect.forkChild(Effect.flip(general`SELECT pg_sleep(60)`))
    const active = () =>
      journal<
        { readonly n: number }
      >`SELECT count(*) AS n FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND state = 'active' AND pid <> pg_backend_pid()`
    yield* active().pipe(Effect.repeat({ while: (rows) => rows[0]?.n !== 1, schedule: Schedule.spaced("20 millis") }))

    process.kill(server.pid, "SIGKILL")
    yield* server.exited
    yield* Scope.close(serverScope, Exit.void)
    assert.strictEqual((yield* Fiber.join(inFlight))._tag, "SqlError", "the statement that was running")
    for (const sql of [general, journal]) {
      assert.strictEqual((yield* Effect.flip(sql`SELECT 1 AS n`))._tag, "SqlError")
      assert.strictEqual((yield* Effect.flip(sql.withTransaction(sql`SELECT 1 AS n`)))._tag, "SqlError")
    }

    yield* start(server.port)
    for (const sql of [general, journal]) {
      // More at once than the pool holds: no slot of it may be stuck on a dead connection.
      const rows = yield* Effect.all(Array.from({ length: 8 }, () => sql`SELECT 1 AS n`), { concurrency: "unbounded" })
        .pipe(
          Effect.retry({ schedule: Schedule.spaced("50 millis"), times: 40 })
        )
      assert.strictEqual(rows.length, 8)
      assert.deepStrictEqual(yield* sql.withTransaction(sql`SELECT 1 AS n`), [{ n: 1 }])
    }
  }))

import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schedule } from "effect"
import { spawn, spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Http from "node:http"
import { join } from "node:path"
import { isRunning } from "../../src/platform/DataDirectoryLock.ts"
import { until } from "../kit/Client.ts"
import { serverFolder, startServer } from "../kit/E2eDatabase.ts"
import { parseMetrics } from "../kit/Metrics.ts"
import { makeRefusingProxy } from "../kit/RefusingProxy.ts"
import { freePort } from "../kit/ServiceProcess.ts"
import { asService } from "../kit/TestServer.ts"

// Goal: `npm run cluster` runs one casino on several nodes: all on one shared port and each on its own, a dead one is restarted,
// and its user can stop all of it. Method: the supervisor as a process on a folder of its own, by its printed output; signals
// to it and to a node; the demo against all of them.

const root = join(import.meta.dirname, "..", "..")

const startCluster = Effect.fnUntraced(function*(...flags: ReadonlyArray<string>) {
  const dataDir = yield* serverFolder
  const environment = {
    PATH: process.env["PATH"],
    PORT: String(yield* freePort),
    BACKOFFICE_PORT: String(yield* freePort),
    DATA_DIR: dataDir,
    LOG_LEVEL: "error",
    // a setting of one node, inherited by the supervisor
    CLUSTER_PORT: String(yield* freePort)
  }
  const supervisor = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, ["scripts/cluster.ts", "--nodes", "3", ...flags], {
        cwd: root,
        env: environment,
        stdio: ["ignore", "pipe", "inherit"]
      })
    ),
    (child) => Effect.sync(() => void child.kill("SIGKILL"))
  )
  let output = ""
  supervisor.stdout.on("data", (chunk: Buffer) => (output += chunk.toString("utf8")))
  yield* until(() => output.includes("Pitboss is up on 3 nodes."))
  yield* until(() => output.includes("node 3"))
  /** Latest printed address and process id of each node. */
  const told = () =>
    new Map(
      [...output.matchAll(/node (\d+) +(http:\S+) +back office (http:\S+) +process (\d+)/g)].map(
        ([, number, url = "", backoffice = "", pid]) => [Number(number), { url, backoffice, pid: Number(pid) }]
      )
    )
  const command = (file: string, ...args: ReadonlyArray<string>) =>
    Effect.sync(() => spawnSync(process.execPath, [file, ...args], { cwd: root, env: environment, encoding: "utf8" }))
  const exited = Effect.callback<number | null>((resume) => {
    if (supervisor.exitCode !== null) return resume(Effect.succeed(supervisor.exitCode))
    supervisor.once("exit", (code) => resume(Effect.succeed(code)))
  })
  return { dataDir, environment, supervisor, output: () => output, told, command, exited }
})

const isReady = (url: string) =>
  Effect.tryPromise(() => fetch(`${url}/health/ready`)).pipe(
    Effect.map(({ status }) => status === 200),
    Effect.orElseSucceed(() => false)
  )

const untilReady = (url: string) =>
  Effect.repeat(isReady(url), { until: (answer) => answer, schedule: Schedule.spaced("50 millis") }).pipe(
    Effect.timeout("60 seconds")
  )

describe("npm run cluster", () => {
  it.live(
    "runs one casino on three nodes, restarts a node that was killed, and stops all of them",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const cluster = yield* startCluster()
        const { BACKOFFICE_PORT, PORT } = cluster.environment
        const nodes = cluster.told()
        assert.deepStrictEqual(
          [...nodes.values()].map(({ url }) => url),
          [100, 101, 102].map((distance) => `http://127.0.0.1:${Number(PORT) + distance}`)
        )
        for (const url of [PORT, BACKOFFICE_PORT].map((port) => `http://127.0.0.1:${port}`)) {
          assert.notStrictEqual((yield* Effect.promise(() => fetch(`${url}/openapi.json`))).status, 404)
        }
        for (const { backoffice, url } of nodes.values()) {
          assert.isTrue(yield* isReady(url))
          const metrics = yield* Effect.promise(() => fetch(`${backoffice}/metrics`).then((answer) => answer.text()))
          assert.strictEqual(parseMetrics(metrics).value("pitboss_cluster_nodes"), 3)
        }
        const list = yield* cluster.command("src/cli.ts", "node", "list")
        assert.strictEqual(list.status, 0, list.stderr)
        for (const { pid } of nodes.values()) assert.include(list.stdout, `"pid": ${pid}`)
        const [first] = JSON.parse(list.stdout)
        const drained = yield* cluster.command("src/cli.ts", "node", "drain", first.id)
        assert.strictEqual(drained.status, 0, drained.stderr)
        assert.deepInclude(JSON.parse(drained.stdout), { id: first.id, shards: 0, draining: true })
        const unknown = yield* cluster.command("src/cli.ts", "node", "drain", "nobody")
        assert.deepStrictEqual([unknown.status, JSON.parse(unknown.stderr).error.code], [1, "NOT_FOUND"])

        const urls = [...nodes.values()].map(({ url }) => url).join(",")
        const demo = yield* cluster.command("scripts/demo.ts", "--seconds", "3", "--players", "12", "--url", urls)
        assert.strictEqual(demo.status, 0, demo.stdout + demo.stderr)
        assert.include(demo.stdout, "Served by the node that owns the player")

        const killed = nodes.get(2)
        assert(killed !== undefined)
        process.kill(killed.pid, "SIGKILL")
        yield* until(() => cluster.told().get(2)?.pid !== killed.pid)
        assert.include(cluster.output(), "node 2 exited (SIGKILL)")
        yield* untilReady(killed.url)
        assert.strictEqual(cluster.told().get(2)?.url, killed.url)

        const pids = [...cluster.told().values()].map(({ pid }) => pid)
        const postgres = Number(
          Fs.readFileSync(join(cluster.dataDir, "postgres/postmaster.pid"), "utf8").split("\n")[0]
        )
        assert.isTrue([...pids, postgres].every(isRunning))
        cluster.supervisor.kill("SIGTERM")
        assert.strictEqual(yield* cluster.exited, 0)
        assert.deepStrictEqual([...pids, postgres].filter(isRunning), [])
      })),
    240_000
  )

  it.live(
    "answers or closes every connection to the shared port while a node is frozen and after it wakes",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const cluster = yield* startCluster()
        const frozen = cluster.told().get(2)
        assert(frozen !== undefined)
        // one connection each
        const ask = Effect.callback<number | "closed">((resume) => {
          const asking = Http.get({ port: cluster.environment.PORT, path: "/health/live", agent: false }, (answer) => {
            answer.resume().once("end", () => resume(Effect.succeed(answer.statusCode ?? 0)))
          })
          asking.on("error", () => resume(Effect.succeed("closed")))
        })
        const askAll = Effect.all(Array.from({ length: 30 }, () => ask), { concurrency: "unbounded" })
        process.kill(frozen.pid, "SIGSTOP")
        // each ends while it sleeps: one was handed to it
        const during = yield* Effect.ensuring(askAll, Effect.sync(() => process.kill(frozen.pid, "SIGCONT")))
        assert.isAtMost(during.filter((outcome) => outcome === "closed").length, 1)
        assert.isAtLeast(during.filter((outcome) => outcome === 200).length, 29)
        const after = yield* askAll
        assert.isAtLeast(after.filter((outcome) => outcome === 200).length, 29)
        cluster.supervisor.kill("SIGTERM")
        assert.strictEqual(yield* cluster.exited, 0)
      })),
    240_000
  )

  it.live("does not restart a node that died, with --no-restart", () =>
    Effect.scoped(Effect.gen(function*() {
      const cluster = yield* startCluster("--no-restart")
      const killed = cluster.told().get(3)
      assert(killed !== undefined)
      process.kill(killed.pid, "SIGKILL")
      yield* until(() => cluster.output().includes("node 3 exited (SIGKILL); not restarting"))
      assert.isFalse(isRunning(killed.pid))
      assert.isTrue(yield* isReady(`http://127.0.0.1:${cluster.environment.PORT}`))
      cluster.supervisor.kill("SIGTERM")
      assert.strictEqual(yield* cluster.exited, 0)
    })), 240_000)

  it.live(
    "waits for a database that is starting, says so, and then starts",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const server = yield* startServer({ dataDir: yield* serverFolder })
        const proxy = yield* makeRefusingProxy(server.port, "57P03", "the database system is starting up")
        const at = (url: Redacted.Redacted) => {
          const address = new URL(Redacted.value(url))
          address.port = String(proxy.port)
          return address.href
        }
        const supervisor = yield* Effect.acquireRelease(
          Effect.flatMap(Effect.all([freePort, freePort]), ([port, backofficePort]) =>
            Effect.sync(() =>
              spawn(process.execPath, ["scripts/cluster.ts", "--nodes", "1"], {
                cwd: root,
                env: {
                  PATH: process.env["PATH"],
                  PORT: String(port),
                  BACKOFFICE_PORT: String(backofficePort),
                  DATABASE_URL: at(asService(server.url)),
                  DATABASE_OWNER_URL: at(server.url),
                  MASTER_KEY: Buffer.alloc(32, 7).toString("base64")
                },
                stdio: ["ignore", "pipe", "inherit"]
              })
            )),
          (child) =>
            Effect.sync(() =>
              void child.kill("SIGKILL")
            )
        )
        let output = ""
        supervisor.stdout.on("data", (chunk: Buffer) => (output += chunk.toString("utf8")))
        yield* until(() => output.includes("waiting for the database"))
        assert.include(output, "the database system is starting up")
        assert.notInclude(output, "Pitboss is up")
        proxy.open()
        yield* until(() => output.includes("Pitboss is up on one node."))
      })),
    240_000
  )

  it.live("prints its usage for wrong arguments, and says why it does not start", () =>
    Effect.sync(() => {
      const run = (flags: ReadonlyArray<string>, environment: { readonly [name: string]: string }) =>
        spawnSync(process.execPath, ["scripts/cluster.ts", ...flags], {
          cwd: root,
          env: { PATH: process.env["PATH"], ...environment },
          encoding: "utf8"
        })
      for (const flags of [["--nodes", "0"], ["--nodes", "many"], ["--knots"], ["up"]]) {
        const { status, stderr, stdout } = run(flags, {})
        assert.strictEqual(status, 2, flags.join(" "))
        assert.include(stdout + stderr, "USAGE")
      }
      const { status, stderr } = run([], { DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" })
      assert.strictEqual(status, 1)
      assert.include(stderr, "pitboss: MASTER_KEY is required with DATABASE_URL")
    }))
})

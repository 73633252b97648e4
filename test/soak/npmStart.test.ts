import { assert, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { spawn } from "node:child_process"
import * as Fs from "node:fs"
import { join } from "node:path"
import { isRunning } from "../../src/platform/DataDirectoryLock.ts"
import { serverFolder } from "../kit/E2eDatabase.ts"
import { freePort } from "../kit/ServiceProcess.ts"

// Goal: a service started with `npm start` can be stopped without remains: neither the service nor its database.
// Method: npm as a person or a container runs it, on a folder of its own; signals to npm only.

const root = join(import.meta.dirname, "..", "..")

const startNpm = Effect.gen(function*() {
  const dataDir = yield* serverFolder
  const port = yield* freePort
  const backofficePort = yield* freePort
  const npm = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn("npm", ["start"], {
        cwd: root,
        env: {
          PATH: process.env["PATH"],
          HOME: process.env["HOME"],
          PORT: String(port),
          BACKOFFICE_PORT: String(backofficePort),
          DATA_DIR: dataDir,
          DEMO: "off"
        },
        stdio: "ignore"
      })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  yield* Effect.tryPromise(() => fetch(`http://127.0.0.1:${port}/health/ready`)).pipe(
    Effect.map(({ status }) => status === 200),
    Effect.orElseSucceed(() => false),
    Effect.repeat({ until: (isReady) => isReady, schedule: Schedule.spaced("50 millis") })
  )
  const firstLine = (file: string) => Number(Fs.readFileSync(join(dataDir, file), "utf8").split("\n")[0])
  const pids = [firstLine("service.lock"), firstLine("postgres/postmaster.pid")]
  assert.isTrue(pids.every(isRunning))
  return {
    npm,
    ended: Effect.sync(() => pids.some(isRunning)).pipe(
      Effect.repeat({ while: (isLeft) => isLeft, schedule: Schedule.spaced("50 millis") })
    )
  }
})

it.live("SIGTERM to npm start shuts down the service and its database cleanly, and npm waits for both", () =>
  Effect.gen(function*() {
    const { ended, npm } = yield* startNpm
    const code = Effect.callback<number | null>((resume) => {
      npm.once("exit", (exitCode) => resume(Effect.succeed(exitCode)))
    })
    npm.kill("SIGTERM")
    assert.strictEqual(yield* code, 0)
    yield* ended
  }))

it.live("SIGKILL of npm start ends the service and its database", () =>
  Effect.gen(function*() {
    const { ended, npm } = yield* startNpm
    npm.kill("SIGKILL")
    yield* ended
  }))

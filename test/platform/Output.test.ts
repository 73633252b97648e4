import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { pathToFileURL } from "node:url"
import { compileCache } from "../kit/ServiceProcess.ts"

// Goal: what cannot be written ends no process and fills no memory, and a command that lost its document says so. Method: processes whose
// standard output is a full disk, a closed pipe, or a pipe that nobody reads.

const fromRoot = (file: string) => Path.join(import.meta.dirname, "../..", file)
const urlOf = (file: string) => JSON.stringify(pathToFileURL(fromRoot(file)).href)

/** Logs 3,000 lines of a kilobyte as the service does, in turns of a hundred, then tells the dropped ones and the memory on standard error. */
const logs = `
  import { Effect, Layer, Metric } from "effect"
  import { layerLogging } from ${urlOf("src/platform/Logging.ts")}
  import { Settings } from ${urlOf("src/platform/Settings.ts")}
  import { standardOutput } from ${urlOf("src/platform/Output.ts")}
  const turn = Effect.andThen(
    Effect.repeat(Effect.logInfo("x".repeat(1000)), { times: 99 }),
    Effect.sleep("1 millis")
  )
  await Effect.runPromise(Effect.provide(
    Effect.repeat(turn, { times: 29 }),
    layerLogging(() => ({})).pipe(Layer.provide(Settings.layerTest()))
  ))
  console.error(JSON.stringify({ dropped: standardOutput.dropped(), waiting: process.stdout.writableLength }))
  process.exit(0)`

interface Ended {
  readonly code: number | null
  readonly errors: string
}

/** Runs Node.js with this standard output until it ends. */
const run = (args: ReadonlyArray<string>, output: number | "unread" | "closed") =>
  Effect.callback<Ended>((resume) => {
    const child = spawn(process.execPath, args, {
      stdio: ["ignore", typeof output === "number" ? output : "pipe", "pipe"],
      env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: compileCache, BACKOFFICE_PORT: "1" }
    })
    if (output === "closed") child.stdout?.destroy()
    let errors = ""
    child.stderr?.on("data", (chunk) => (errors += chunk))
    child.on("exit", (code) => {
      child.stdout?.destroy()
      resume(Effect.succeed({ code, errors }))
    })
    return Effect.sync(() => void child.kill("SIGKILL"))
  })

const full = Effect.acquireRelease(
  Effect.sync(() => Fs.openSync("/dev/full", "w")),
  (descriptor) => Effect.sync(() => Fs.closeSync(descriptor))
)

const module_ = (code: string) => ["--input-type=module", "--eval", code]

describe.skipIf(process.platform !== "linux")("output of the process", () => {
  it.live("keeps the process running when the log's disk is full, and counts every dropped line", () =>
    Effect.gen(function*() {
      const { code, errors } = yield* run(module_(logs), yield* full)
      assert.strictEqual(code, 0, errors)
      assert.strictEqual(JSON.parse(errors).dropped, 3000)
    }))

  it.live("keeps the process running when the log's pipe is closed", () =>
    Effect.gen(function*() {
      const { code, errors } = yield* run(module_(logs), "closed")
      assert.strictEqual(code, 0, errors)
      assert.isAbove(JSON.parse(errors).dropped, 0)
    }))

  it.live("buffers a megabyte of log lines for a reader that does not read, and drops further ones", () =>
    Effect.gen(function*() {
      const { code, errors } = yield* run(module_(logs), "unread")
      assert.strictEqual(code, 0, errors)
      assert.isAbove(JSON.parse(errors).dropped, 1000)
      assert.isAtMost(JSON.parse(errors).waiting, 1024 * 1024)
    }))

  it.live("survives a library's own log writes to a full disk", () =>
    Effect.gen(function*() {
      const code = `import ${urlOf("src/platform/Output.ts")}
        process.stdout.write("lost\\n")
        console.log("lost as well")
        setTimeout(() => process.exit(7), 50)`
      assert.strictEqual((yield* run(module_(code), yield* full)).code, 7)
    }))

  it.live("fails a command whose document could not be written", () =>
    Effect.gen(function*() {
      const { code, errors } = yield* run([fromRoot("src/cli.ts"), "--help"], yield* full)
      assert.strictEqual(code, 1)
      assert.strictEqual(errors, "backoffice: the output could not be written (ENOSPC)\n")
    }))

  it.live("ends a command without an error when its reader closes the pipe", () =>
    Effect.gen(function*() {
      const { errors } = yield* run([fromRoot("src/cli.ts"), "--help"], "closed")
      assert.strictEqual(errors, "")
    }))
})

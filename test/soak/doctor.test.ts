import { assert, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { spawn } from "node:child_process"
import * as Fs from "node:fs"
import { join } from "node:path"
import type { Finding } from "../../scripts/doctor/Rules.ts"
import { serverFolder } from "../kit/E2eDatabase.ts"
import { freeAddress, staffToken } from "../kit/PlayedService.ts"
import { runProgram, startService } from "../kit/ServiceProcess.ts"
import { soon } from "../kit/WebhookSink.ts"

// Goal: `pitboss doctor` reads a machine before the first start, beside a service, and after it. Method: the command as a process; what depends on
// the machine that tests run on is not looked at, but for the exit code, which is 1 exactly when a line says so.

const pitboss = join(import.meta.dirname, "..", "..", "scripts", "pitboss.mjs")

const run = (args: ReadonlyArray<string>, environment: { readonly [variable: string]: string }) =>
  runProgram([process.execPath, pitboss, ...args], environment)

it.live(
  "pitboss doctor checks a machine before the first start, beside a running service, after a backup and after the stop",
  () =>
    Effect.gen(function*() {
      const folder = yield* serverFolder
      const dataDir = join(folder, "data")
      const { backofficePort, port } = yield* freeAddress
      const environment = {
        DATA_DIR: dataDir,
        PORT: String(port),
        BACKOFFICE_PORT: String(backofficePort),
        DEMO: "off"
      }
      const examine = Effect.fnUntraced(function*(more: { readonly [variable: string]: string } = {}) {
        const { exitCode, stderr, stdout } = yield* run(["doctor"], { ...environment, ...more })
        assert.strictEqual(stderr, "")
        const findings: ReadonlyArray<Finding> = JSON.parse(stdout)
        assert.strictEqual(exitCode, findings.some(({ state }) => state === "fail") ? 1 : 0)
        return (subject: string) => findings.find((finding) => finding.subject === subject)
      })

      const before = yield* examine()
      assert.deepInclude(before("database"), { state: "ok", found: "the embedded one, which the first start creates" })
      assert.isFalse(Fs.existsSync(dataDir))

      const running = yield* Scope.make()
      yield* Effect.addFinalizer(() => Scope.close(running, Exit.void))
      const service = yield* Scope.provide(
        startService({
          port,
          databaseUrl: "",
          environment: { ...environment, BACKOFFICE_TOKEN: staffToken, MASTER_KEY: "", LOG_LEVEL: "warn" }
        }),
        running
      )
      const beside = yield* examine()
      assert.deepInclude(beside("service"), { state: "ok", found: "runs" })
      for (const subject of ["database", "connections", "rights", "migrations", "secrets"]) {
        assert.strictEqual(beside(subject)?.state, "ok", subject)
      }
      assert.deepInclude(beside("backup"), { state: "warn", found: "there is none" })
      const backup = join(folder, "backup")
      const made = yield* run(["backup", backup], { ...environment, PITBOSS_PASSPHRASE: "a passphrase of the test" })
      assert.strictEqual(made.exitCode, 0, made.stderr)
      const backedUp = (yield* examine())("backup")
      assert.deepEqual([backedUp?.state, backedUp?.found.endsWith(` MB, in ${backup}`)], ["ok", true])

      service.kill("SIGTERM")
      yield* service.exited
      const after = yield* examine()
      assert.deepInclude(after("service"), { state: "ok", found: "does not run" })
      assert.strictEqual(after("migrations")?.state, "ok")

      const casino = join(dataDir, "casino.json")
      Fs.writeFileSync(casino, "{}")
      Fs.chmodSync(casino, 0o644)
      assert.deepInclude((yield* examine())("secrets"), { state: "fail", found: `others may read ${casino}` })

      const insecure = yield* examine({ WEBHOOK_ALLOW_INSECURE: "on" })
      assert.strictEqual(insecure("switches")?.state, "fail")
      const wrong = yield* examine({ CLUSTER: "on" })
      assert.strictEqual(wrong("settings")?.state, "fail")
    }).pipe(Effect.scoped),
  120_000
)

const hasScript = Fs.existsSync("/usr/bin/script")

/** Runs `pitboss` on a terminal; types the next answer at each question. */
const onTerminal = (args: ReadonlyArray<string>, answers: ReadonlyArray<string>, dataDir: string) =>
  Effect.gen(function*() {
    const command = [process.execPath, pitboss, ...args].map((word) => `'${word}'`).join(" ")
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn("/usr/bin/script", ["-qec", command, "/dev/null"], {
          env: { PATH: process.env["PATH"], DATA_DIR: dataDir },
          stdio: "pipe"
        })
      ),
      (process) => Effect.sync(() => process.kill("SIGKILL"))
    )
    const shown = { text: "" }
    child.stdout.on("data", (chunk: Buffer) => (shown.text += chunk.toString("utf8")))
    const ending: { code?: number | null } = {}
    child.once("close", (code) => (ending.code = code))
    for (const [index, answer] of answers.entries()) {
      yield* soon(() => shown.text.split(": ").length > index + 1)
      child.stdin.write(`${answer}\r`)
    }
    yield* soon(() => "code" in ending)
    return { exitCode: ending.code, shown: shown.text }
  })

it.live.skipIf(!hasScript)(
  "pitboss backup and restore ask for the passphrase on a terminal without echoing it",
  () =>
    Effect.gen(function*() {
      const folder = yield* serverFolder
      const [dataDir, backup] = [join(folder, "data"), join(folder, "backup")]
      const [right, other] = ["a passphrase of the test", "another one of the test"]
      const differing = yield* onTerminal(["backup", backup], [right, other], dataDir)
      assert.strictEqual(differing.shown, "Passphrase: \r\nOnce more: \r\npitboss: the passphrases differ\r\n")
      const short = yield* onTerminal(["restore", backup], ["short"], dataDir)
      assert.strictEqual(short.shown, "Passphrase: \r\npitboss: a passphrase has at least 12 characters\r\n")
      const given = yield* onTerminal(["restore", backup], [right], dataDir)
      assert.match(given.shown, /^Passphrase: \r\npitboss: .* is no whole backup: /)
      assert.deepStrictEqual([differing, short, given].map(({ exitCode }) => exitCode), [1, 1, 1])
    }).pipe(Effect.scoped),
  60_000
)

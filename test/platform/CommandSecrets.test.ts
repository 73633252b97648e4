import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { runProgram } from "../kit/ServiceProcess.ts"

// Goal: secrets of commands are not left where others on the machine read them without a word. Method: the commands as processes, up to where they would reach a
// service or a database, of which there is none.

const scripts = join(import.meta.dirname, "..", "..", "scripts")

/** What a script says on standard error. */
const run = (
  script: string,
  args: ReadonlyArray<string>,
  environment: { readonly [variable: string]: string } = {}
) => Effect.map(runProgram([process.execPath, join(scripts, script), ...args], environment), ({ stderr }) => stderr)

const folder = Effect.acquireRelease(
  Effect.sync(() => Fs.mkdtempSync(join(tmpdir(), "pitboss-secrets-"))),
  (made) => Effect.sync(() => Fs.rmSync(made, { recursive: true }))
)

it.live(
  "pitboss backup refuses a passphrase file that others can read and says what to do; pitboss restore warns",
  () =>
    Effect.scoped(Effect.gen(function*() {
      const made = yield* folder
      const file = join(made, "passphrase")
      const environment = { DATA_DIR: join(made, "none") }
      const args = [join(made, "backup"), "--passphrase-file", file]
      const refusal = `pitboss: --passphrase-file: others than its owner have rights on ${file}: chmod 600 ${file}\n`
      Fs.writeFileSync(file, "a passphrase of the test")
      Fs.chmodSync(file, 0o644)
      assert.strictEqual(yield* run("backup.ts", args, environment), refusal)
      const restored = yield* run("restore.ts", args, environment)
      assert.isTrue(restored.startsWith(refusal), restored)
      assert.include(restored.slice(refusal.length), "pitboss: ")
      Fs.chmodSync(file, 0o600)
      assert.notInclude(yield* run("backup.ts", args, environment), "passphrase")
    })),
  60_000
)

it.live(
  "pitboss listen and pitboss trigger warn about a secret in their arguments, but not in the environment",
  () =>
    Effect.gen(function*() {
      const nowhere = { PITBOSS_URL: "http://127.0.0.1:1", PITBOSS_KEY: "pk_test_none" }
      const warning =
        "pitboss: others on this machine see --secret in the list of processes: set PITBOSS_SECRET in its place\n"
      const [flag, variable] = [
        yield* run("trigger.ts", ["player.registered", "--secret", "sk_test_none"], nowhere),
        yield* run("trigger.ts", ["player.registered"], { ...nowhere, PITBOSS_SECRET: "sk_test_none" })
      ]
      assert.isTrue(flag.startsWith(warning), flag)
      assert.strictEqual(flag.slice(warning.length), variable)
      assert.notInclude(variable, "say who acts")
    }),
  60_000
)

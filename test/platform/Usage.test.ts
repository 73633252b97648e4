import { assert, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { join } from "node:path"

// Goal: whoever mistypes a command, or asks how it is used, is told so under the name that was typed, in the same way by every program, and nothing is
// started. Method: the command as a process, without a service.

const root = join(import.meta.dirname, "..", "..")

const typed = (...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = spawnSync(process.execPath, [join(root, "scripts", "pitboss.mjs"), ...args], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"] },
    timeout: 60_000
  })
  return { status, stderr, stdout }
}

it("wrong arguments end a program with exit code 2 and its usage on standard error", { timeout: 120_000 }, () => {
  const wrong: ReadonlyArray<readonly [usage: string, ...args: ReadonlyArray<string>]> = [
    ["pitboss start", "start", "--port", "9000"],
    ["pitboss listen [flags]", "listen"],
    ["pitboss trigger [flags] <event>", "trigger", "player.renamed"],
    ["pitboss <subcommand> [flags]", "plyer", "list"],
    ["pitboss operator <subcommand> [flags]", "operator", "show"]
  ]
  for (const [usage, ...args] of wrong) {
    const { status, stderr, stdout } = typed(...args)
    assert.deepStrictEqual([status, stdout], [2, ""], usage)
    assert.include(stderr, `USAGE\n  ${usage}\n`)
    assert.notInclude(stderr, "backoffice")
  }
})

it(
  "help and version are printed on standard output, and the service is not started for them",
  { timeout: 120_000 },
  () => {
    const asked: ReadonlyArray<readonly [told: string, ...args: ReadonlyArray<string>]> = [
      ["USAGE\n  pitboss start\n", "start", "--help"],
      ["PROGRAMS\n  start ", "help"],
      ["pitboss v", "--version"],
      ["pitboss doctor v", "doctor", "--version"]
    ]
    for (const [told, ...args] of asked) {
      const { status, stderr, stdout } = typed(...args)
      assert.deepStrictEqual([status, stderr], [0, ""], told)
      assert.include(stdout, told)
    }
  }
)

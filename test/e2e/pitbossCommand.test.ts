import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import { delimiter, join } from "node:path"
import { recipes } from "../../scripts/trigger/Recipes.ts"
import { eventTypes } from "../../src/domain/state/Events.ts"
import { command, layerBothServers, runCommand } from "../kit/Backoffice.ts"

// Goal: `pitboss` is the back office's command line and the service's programs, whichever Node.js from 20 on it begins on. Method: the file that npm
// links, run by this Node.js and by an older one of the machine, beside the command line of the sources.

const root = join(import.meta.dirname, "..", "..")
const pitboss = join(root, "scripts", "pitboss.mjs")

const majorOf = (node: string): number =>
  Number(spawnSync(node, ["-p", "parseInt(process.versions.node)"], { encoding: "utf8" }).stdout)

/** This Node.js, and the first in `PATH` on which the service itself does not run. */
const older = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "node"))
  .find((node) => Fs.existsSync(node) && majorOf(node) >= 20 && majorOf(node) < 24)
const runtimes = [process.execPath, ...older === undefined ? [] : [older]]

layer(layerBothServers, { excludeTestServices: true })("pitboss", (it) => {
  for (const node of runtimes) {
    const program = [node, pitboss] as const

    it.effect(
      `exits and prints like the back-office command line, on Node.js ${majorOf(node)}`,
      () =>
        Effect.gen(function*() {
          yield* command("operator", "create", "--slug", `bin-${majorOf(node)}`, "--name", "Bin", "--currency", "EUR")
          for (const args of [["operator", "list"], ["player", "show", "999"], ["operator", "show"]]) {
            const [expected, outcome] = yield* Effect.all([runCommand(args), runCommand(args, { program })])
            const named = {
              ...expected,
              stderr: expected.stderr.replaceAll("backoffice ", "pitboss ")
            }
            assert.deepStrictEqual(outcome, named, args.join(" "))
          }
        }),
      60_000
    )

    it.effect(
      `passes a program's arguments and exit code through, on Node.js ${majorOf(node)}`,
      () =>
        Effect.gen(function*() {
          const help = yield* runCommand(["demo", "--help"], { program })
          assert.strictEqual(help.exitCode, 0, help.stderr)
          assert.include(help.stdout, "--rate")
          assert.strictEqual((yield* runCommand(["demo", "--rate", "none"], { program })).exitCode, 2)
        }),
      60_000
    )
  }

  it.effect(
    "lists its programs, each of which exists, and the command groups of the back office",
    () =>
      Effect.gen(function*() {
        const { exitCode, stdout } = yield* runCommand([], { program: [process.execPath, pitboss] })
        assert.strictEqual(exitCode, 0)
        for (const name of ["start", "cluster", "demo", "simulate-provider", "player", "ledger"]) {
          assert.match(stdout, new RegExp(`^  ${name} `, "m"))
        }
        const files = [...Fs.readFileSync(pitboss, "utf8").matchAll(/file: "([^"]+)"/g)].map(([, file = ""]) => file)
        assert.deepStrictEqual(files.filter((file) => !Fs.existsSync(join(root, `${file}.ts`))), [])
      }),
    60_000
  )

  it.effect("lists every event type with its recipe in the help of trigger", () =>
    Effect.gen(function*() {
      const { exitCode, stdout } = yield* runCommand(["trigger", "--help"], { program: [process.execPath, pitboss] })
      assert.strictEqual(exitCode, 0)
      assert.sameMembers(Object.keys(recipes), [...eventTypes])
      for (const type of eventTypes) assert.include(stdout, recipes[type].does)
    }), 60_000)

  it.effect("rebuilds its bundle when a source file has changed", () =>
    Effect.gen(function*() {
      const folder = join(root, "dist", "command")
      const sources = join(folder, "sources.json")
      const before: { readonly [file: string]: number } = JSON.parse(Fs.readFileSync(sources, "utf8"))
      assert.isAbove(before["src/runCli.ts"] ?? 0, 0)
      Fs.writeFileSync(sources, JSON.stringify({ ...before, "src/runCli.ts": 1 }))
      const { exitCode } = yield* runCommand(["operator", "list"], { program: [process.execPath, pitboss] })
      assert.deepStrictEqual([exitCode, JSON.parse(Fs.readFileSync(sources, "utf8"))], [0, before])
    }), 60_000)
})

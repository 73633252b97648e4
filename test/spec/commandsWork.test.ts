import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Command } from "effect/cli"
import { HttpApi } from "effect/http-api"
import { BackofficeApi } from "../../src/contract/StaffApi.ts"
import { program } from "../../src/commandLine.ts"
import { runHere } from "../kit/Backoffice.ts"
import { fresh } from "../kit/Casino.ts"
import { nodesOfRun } from "../kit/NodesInProcess.ts"
import { cases } from "../kit/commands/Cases.ts"
import { commandOf, done, filled, layerScene, Scene } from "../kit/commands/Scene.ts"

// Goal: every command of the command line (CONTRACT 3) works, prints its documented output, and takes effect at once. Method: the command
// line's own function in this process against a running service; each effect is checked through the APIs of operators, providers and
// players. e2e/backofficeCli.test.ts runs a sample as processes.

/**
 * Commands that print lines instead of a document, or call no service: e2e/backofficeCli and chainExport.test.ts; one that needs a cluster:
 * npmCluster.test.ts; and bulk actions, whose items leave the lines of their single actions: e2e/staffBulk.test.ts;
 * and imports and exports, whose calls are those of two commands: e2e/moving.test.ts.
 */
const apart = [
  "ledger export",
  "ledger check-export",
  "node drain",
  "figures live",
  "staff permissions",
  "payment approve-many",
  "payment pay-many",
  "payment reject-many",
  "alert assign-many",
  "alert update-many",
  "delivery retry-many",
  "promo update-many",
  "import",
  "export",
  "import-run open",
  "import-run chunks",
  "import-run put",
  "import-run propose",
  "import-run check",
  "import-run export"
]

/** Actions of a browser: sign-in, and one's own sessions. Tested by staffSessions.test.ts. */
const inBrowser = ["sign_in", "session"]

const verbsBelow = (command: Command.Command.Any, path: ReadonlyArray<string>): ReadonlyArray<string> =>
  command.subcommands.length === 0
    ? [path.join(" ")]
    : command.subcommands.flatMap(({ commands }) =>
      commands.flatMap((below) => verbsBelow(below, [...path, below.name]))
    )

/** `noun verb` of every command of the command line, from its own definitions. */
const offered = verbsBelow(program, []).filter((name) => !apart.includes(name))

/** The endpoints as commands, and whether they only read. */
const endpoints = (() => {
  const found = new Map<string, boolean>()
  HttpApi.reflect(BackofficeApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      const noun = group.identifier.replaceAll("_", "-")
      const name = `${noun} ${endpoint.identifier.replaceAll("_", "-")}`
      if (!apart.includes(name) && !inBrowser.includes(group.identifier)) found.set(name, endpoint.method === "GET")
    }
  })
  return found
})()

describe("test cases of the command line", () => {
  it("CONTRACT 3 every command has a successful case and refused cases, and every endpoint has a command", () => {
    const tried = cases.map(({ line }) => commandOf(line))
    assert.isAbove(offered.length, 50)
    assert.sameMembers(tried, [...offered])
    assert.sameMembers([...endpoints.keys()], [...offered])
    const unrefused = cases.filter(({ misused, refused }) => misused.length + refused.length === 0)
    assert.deepStrictEqual(unrefused.map(({ line }) => line), [])
    // changes are checked in the audit log
    const silent = cases.filter(({ changes, line }) => (changes === undefined) !== endpoints.get(commandOf(line)))
    assert.deepStrictEqual(silent.map(({ line }) => line), [])
  })
})

layer(layerScene, { excludeTestServices: true })("commands that work", (it) => {
  for (const { line, works } of cases) {
    it.effect(`CONTRACT 3 ${commandOf(line)} does what it says`, () =>
      Effect.scoped(Effect.gen(function*() {
        yield* works(yield* Scene)
      })))
  }

  it.effect("CONTRACT 3 a terminal gets a table, or JSON on request", () =>
    Effect.gen(function*() {
      const scene = yield* Scene
      for (const { changes, line } of cases) {
        // a read that tells of players adds a line to the log, once at each node: these show how long the log is
        if (changes !== undefined || (nodesOfRun > 1 && ["audit list", "ledger verify"].includes(line))) continue
        const words = filled(scene, line)
        const onTerminal = yield* runHere(words, { isTerminal: true })
        assert.deepStrictEqual([onTerminal.exitCode, onTerminal.stderr], [0, ""], line)
        assert.notMatch(onTerminal.stdout, /^[[{]/, line)
        const json = yield* runHere([...words, "--json"], { isTerminal: true })
        const piped = yield* runHere(words)
        assert.deepStrictEqual(JSON.parse(json.stdout), JSON.parse(piped.stdout), line)
      }
      const name = fresh("table-")
      const { stdout } = yield* runHere(["provider", "create", "--slug", name, "--name", "Acme"], { isTerminal: true })
      assert.match(stdout, new RegExp(`^slug +${name}$`, "m"))
      assert.match(stdout, /^secret +ps_live_\w{43}$/m)
      const listed = yield* runHere(["operator", "list"], { isTerminal: true })
      assert.match(listed.stdout, /^id +slug +name +currency/)
      assert.strictEqual(listed.stdout.trim().split("\n").length, 1 + (yield* done("operator list")).length)
    }))
})

import * as NodeServices from "@effect/platform-node/NodeServices"
import { describe, expect, it } from "@effect/vitest"
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import { readFileSync } from "node:fs"
import { startArguments } from "../../bench/targets/NodeFlags.ts"
import { nodeArguments } from "../../scripts/cluster/Nodes.ts"
import * as Commands from "../../bench/Commands.ts"

const bench = Command.make("bench").pipe(Command.withSubcommands(Commands.all))

/** Output of a command. */
const printed = (args: ReadonlyArray<string>) => {
  const lines: Array<string> = []
  const log = (...parts: ReadonlyArray<unknown>) => lines.push(parts.map(String).join(" "))
  const console = Object.assign(Object.create(globalThis.console), { log, error: log })
  return Command.runWith(bench, { version: "0" })(args).pipe(
    Effect.exit,
    Effect.provideService(Console.Console, console),
    Effect.provide(NodeServices.layer),
    Effect.map((exit) => ({ exit, text: lines.join("\n") }))
  )
}

describe("the service under measurement", () => {
  // Goal: the benchmark runs the service with the flags of production. Method: the script of `npm start`, with and without flags of Node.js, and the text of
  // every other start.
  it("runs with the Node.js flags of npm start, as do pitboss start, containers, cluster nodes and supervised services", () => {
    const packageOf = (start: string) => JSON.stringify({ scripts: { start } })
    expect(startArguments(packageOf("exec node src/main.ts"))).toEqual([])
    expect(startArguments(packageOf("exec node --max-semi-space-size=64 --enable-x src/main.ts"))).toEqual([
      "--max-semi-space-size=64",
      "--enable-x"
    ])
    expect(() => startArguments(packageOf("exec node dist/other.js"))).toThrow("runs something else")
    const flags = startArguments(readFileSync("package.json", "utf8"))
    expect(flags).toEqual(nodeArguments)
    const wordsIn = (file: string, pattern: RegExp) =>
      JSON.parse(pattern.exec(readFileSync(file, "utf8"))?.[1] ?? "null")
    expect(wordsIn("scripts/pitboss.mjs", /^ {2}start: \{.*?flags: (\[.*?\])/ms)).toEqual(flags)
    expect(wordsIn("Containerfile", /^CMD (\[.*\])$/m)).toEqual(["node", ...flags, "src/main.ts"])
    expect(readFileSync("docs/operations.md", "utf8")).toContain(`\`node ${flags.join(" ")} src/main.ts\``)
  })
})

describe("the bench commands", () => {
  // Goal: every command can be parsed. Method: the help of each, which reads all of its flags.
  it.effect.each(Commands.all.map(({ name }) => name))("%s has a help text", (name) =>
    Effect.gen(function*() {
      const { exit, text } = yield* printed([name, "--help"])
      expect([exit._tag, text.includes(`bench ${name}`)]).toEqual(["Success", true])
    }))

  // Goal: docs/benchmarks.md names every command, and flags that there are. Method: its command lines against the helps.
  it.effect("are the ones described in docs/benchmarks.md", () =>
    Effect.gen(function*() {
      const page = readFileSync("docs/benchmarks.md", "utf8")
      const names: ReadonlyArray<string> = Commands.all.map(({ name }) => name)
      expect(names.filter((name) => !new RegExp(`(bench -- (--)?|\`)${name}[\\s\`]`).test(page))).toEqual([])
      for (const [, line = ""] of page.matchAll(/npm run bench -- ([a-z][^`\n#]*)/g)) {
        const [name = "", ...words] = line.trim().split(/\s+/)
        const { text } = yield* printed([name, "--help"])
        const unknown = words.filter((word) => word.startsWith("--") && !new RegExp(`${word}(?![\\w-])`).test(text))
        expect([line, names.includes(name), unknown]).toEqual([line, true, []])
      }
    }))

  // Goal: a wrong value starts nothing. Method: words and numbers out of range.
  it.effect("refuse invalid arguments", () =>
    Effect.gen(function*() {
      for (
        const args of [
          ["bets", "--mix", "none"],
          ["bets", "--rounds", "0"],
          ["bets", "--open-loop", "50,101"],
          ["deposits", "--targets", "baseline"],
          ["neighbours", "--case", "start", "--cpu-prof"]
        ]
      ) {
        const { exit } = yield* printed(args)
        expect([args, exit._tag]).toEqual([args, "Failure"])
      }
    }))
})

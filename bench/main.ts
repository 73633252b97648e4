// The bench suite: npm run bench -- --help
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import * as Commands from "./Commands.ts"
import { runSuite, short } from "./scenarios/Suite.ts"

// what people type when they compare is a flag
const [first, ...rest] = process.argv.slice(2)
const args = first === "--compare"
  ? ["compare", ...rest]
  : first === "--before"
  ? ["bars", first, ...rest]
  : process.argv.slice(2)

const bench = Command.make("bench", {}, () => runSuite(short)).pipe(
  Command.withDescription(
    "Measures the service. Without a command: the short suite, about eight minutes, which ends in a page with all of it. " +
      "`--compare A B` holds two results against one another, `--before DIR` all figures with a bar against another checkout's. Figures are comparable within one run: see docs/benchmarks.md"
  ),
  Command.withSubcommands(Commands.all)
)

Command.runWith(bench, { version: "1.0.0" })(args).pipe(
  Effect.tapErrorTag("BenchError", (error) => Console.error(`bench: ${error.message}`)),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)

/** The commands of the bench suite. */
import { Console, Effect } from "effect"
import { Argument, Command } from "effect/cli"
import * as Flags from "./Flags.ts"
import { renderComparison } from "./report/Compare.ts"
import { readResult, writeReport } from "./report/Result.ts"
import { renderPage } from "./report/TextReport.ts"
import { apiScenario } from "./scenarios/Api.ts"
import { attackScenario } from "./scenarios/Attacks.ts"
import { runBars } from "./scenarios/Bars.ts"
import { baselineScenario } from "./scenarios/BaselineTuning.ts"
import { coldStartScenario } from "./scenarios/ColdStart.ts"
import { engineScenario } from "./scenarios/Engine.ts"
import { growthScenario } from "./scenarios/Growth.ts"
import { memoryScenario } from "./scenarios/Memory.ts"
import { mixedScenario } from "./scenarios/Mixed.ts"
import { neighbourScenario } from "./scenarios/Neighbours.ts"
import { nodesScenario } from "./scenarios/Nodes.ts"
import { overloadScenario } from "./scenarios/Overload.ts"
import { pageScenario } from "./scenarios/Pages.ts"
import { profileScenario } from "./scenarios/Profiles.ts"
import { protocolScenario } from "./scenarios/Protocols.ts"
import { readScenario, reportScenario, staffReadScenario } from "./scenarios/Reads.ts"
import { recoveryScenario } from "./scenarios/Recovery.ts"
import { long, promised, runSuite, scenarioNames, short } from "./scenarios/Suite.ts"
import { trafficScenarios } from "./scenarios/Traffic.ts"
import { verificationScenario } from "./scenarios/Verification.ts"
import { waitScenario } from "./scenarios/Waits.ts"
import { webhookScenario } from "./scenarios/Webhooks.ts"
import { writeBytesScenario } from "./scenarios/WriteBytes.ts"

const suite = Command.make("suite", {
  isLong: Flags.switchOf(
    "long",
    "everything with a million players, about an hour; else the short one, about eight minutes"
  ),
  folder: Flags.dataFolder
}, ({ folder, isLong }) => {
  const size = isLong ? long : short
  return runSuite({ ...size, dataset: { ...size.dataset, folder } })
}).pipe(Command.withDescription("All scenarios one after the other, and one page with all of them"))

const bars = Command.make(
  "bars",
  {
    before: Flags.before,
    only: Flags.choice("only", scenarioNames, "scenarios, not only those of the project's promises", promised.only),
    rounds: Flags.rounds(3),
    folder: Flags.dataFolder,
    maxForeignLoad: Flags.maxForeignLoad
  },
  ({ folder, maxForeignLoad, only, ...options }) =>
    runBars({ ...promised, only, maxForeignLoad, dataset: { ...promised.dataset, folder } }, options)
).pipe(
  Command.withDescription("Every figure that has a bar: today, before, noise (also --before)")
)

const compare = Command.make(
  "compare",
  {
    before: Argument.String("before"),
    after: Argument.String("after")
  },
  Effect.fnUntraced(function*({ after, before }) {
    yield* Console.log(renderComparison(yield* readResult(before), yield* readResult(after)))
  })
).pipe(
  Command.withDescription("Two results of one scenario: ratios, and whether they are beyond the noise (also --compare)")
)

const page = Command.make(
  "page",
  {
    results: Argument.String("results").pipe(Argument.variadic({ min: 1 }))
  },
  Effect.fnUntraced(function*({ results }) {
    const read = yield* Effect.forEach(results, readResult)
    yield* Console.log(yield* writeReport(new Date().toISOString(), "page.md", renderPage(read)))
  })
).pipe(Command.withDescription("One page with several results"))

export const all = [
  suite,
  bars,
  ...Object.values(trafficScenarios).map(({ command }) => command),
  mixedScenario.command,
  apiScenario.command,
  profileScenario.command,
  protocolScenario.command,
  readScenario.command,
  reportScenario.command,
  staffReadScenario.command,
  pageScenario.command,
  engineScenario.command,
  webhookScenario.command,
  overloadScenario.command,
  attackScenario.command,
  neighbourScenario.command,
  nodesScenario.command,
  coldStartScenario.command,
  recoveryScenario.command,
  growthScenario.command,
  memoryScenario.command,
  verificationScenario.command,
  waitScenario.command,
  writeBytesScenario.command,
  baselineScenario.command,
  compare,
  page
] as const

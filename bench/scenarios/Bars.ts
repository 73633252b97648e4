import { Cause, Console, Effect, Exit } from "effect"
import { join } from "node:path"
import { stripVTControlCharacters } from "node:util"
import { secondsToMake } from "../data/Dataset.ts"
import { barsOf, type BarRun, renderBars, type Side } from "../report/Bars.ts"
import { writeReport } from "../report/Result.ts"
import { Checkout, nodeFlags } from "../targets/NodeFlags.ts"
import { temporaryFolder } from "../targets/Postgres.ts"
import { inTurn, roundNumbers } from "./Rounds.ts"
import { lengthOf } from "./Scenario.ts"
import { scenariosOf, type SuiteSize } from "./Suite.ts"

/**
 * Runs every scenario once in each round, of this checkout and of the one before in turn, and writes each figure that has a limit with
 * that limit. A scenario that fails is noted; the others go on.
 */
export const runBars = Effect.fn("runBars")(function*(
  size: SuiteSize,
  { before, rounds }: { readonly before: string | undefined; readonly rounds: number }
) {
  // a wrong folder ends the run here, not after hours
  if (before !== undefined) yield* nodeFlags(before)
  const startedAt = new Date().toISOString()
  const root = size.dataset.folder ?? (yield* temporaryFolder)
  // each has its own data: one may have other migrations than the other
  const sideOf = (side: Side, checkout: string) => {
    const dataset = { ...size.dataset, folder: join(root, side) }
    return { side, checkout, dataset, scenarios: scenariosOf({ ...size, dataset }) }
  }
  const sides = [sideOf("today", yield* Checkout), ...before === undefined ? [] : [sideOf("before", before)]]
  const turns = roundNumbers(rounds).flatMap((round) =>
    [...sides[0]?.scenarios.keys() ?? []].flatMap((index) =>
      inTurn(round, sides).flatMap(({ scenarios, ...side }) => {
        const scenario = scenarios[index]
        return scenario === undefined ? [] : [{ ...side, scenario, round }]
      })
    )
  )
  const runs: Array<BarRun> = []
  let page = ""
  for (const [index, { checkout, round, scenario, side }] of turns.entries()) {
    const ahead = turns.slice(index)
    const making = sides.filter((each) => ahead.some((turn) => turn.side === each.side && turn.scenario.onDataset))
      .map(({ dataset }) => secondsToMake(dataset))
    const seconds = [...ahead.map((turn) => turn.scenario.seconds), ...making].reduce((sum, each) => sum + each, 0)
    yield* Console.log(
      `\n── ${
        index + 1
      } of ${turns.length}: ${scenario.name}, ${side}, round ${round} of ${rounds}; all that is left: about ${
        lengthOf(seconds)
      } ──`
    )
    const exit = yield* Effect.exit(Effect.provideService(scenario.run, Checkout, checkout))
    const outcome = Exit.isSuccess(exit)
      ? exit.value
      : stripVTControlCharacters(Cause.prettyErrors(exit.cause).join("\n"))
    if (typeof outcome === "string") yield* Console.log(`failed: ${outcome}`)
    runs.push({ side, scenario: scenario.name, outcome })
    // after each of them: a run of hours may be broken off
    yield* writeReport(startedAt, "bars.json", `${JSON.stringify({ bars: barsOf(runs), runs }, undefined, 1)}\n`)
    page = yield* writeReport(startedAt, "bars.md", `# Bars\n\n${startedAt}\n\n\`\`\`\n${renderBars(runs)}\n\`\`\`\n`)
  }
  yield* Console.log(`\n${renderBars(runs)}\n\nwritten to ${page} and its JSON`)
  return barsOf(runs)
}, Effect.scoped)

// The simulator: npm run simulate -- --help
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { availableParallelism } from "node:os"
import { planOf, topologies, type Topology } from "../test/simulation/support/Plan.ts"
import { noBug } from "../test/simulation/support/SeededBug.ts"
import { seededBugs } from "../test/simulation/support/SeededBugs.ts"
import { runSeeds } from "../test/simulation/support/Runner.ts"
import { describe, shrink } from "../test/simulation/support/Shrink.ts"
import { simulate } from "../test/simulation/support/Simulation.ts"
import { standardError } from "../src/platform/Output.ts"

/** Plans that are tried to make a failure small. */
const shrinkRuns = 600

const whole = (name: string, description: string, minimum: number, maximum: number) =>
  Flag.Int(name).pipe(
    Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum, maximum }))),
    Flag.withDescription(description)
  )

const flags = {
  seeds: whole("seeds", "how many seeds to run", 1, 10_000_000).pipe(Flag.withDefault(1000)),
  firstSeed: whole("first-seed", "the first of them", 0, 1_000_000_000).pipe(Flag.withDefault(1)),
  seed: Flag.optional(whole("seed", "run this one seed again and say what happened", 0, 1_000_000_000)),
  steps: whole("steps", "about how many requests are made in each run, their repetitions not counted", 1, 10_000).pipe(
    Flag.withDefault(120)
  ),
  workers: whole("workers", "threads", 1, 64).pipe(Flag.withDefault(Math.min(2, availableParallelism()))),
  bug: Flag.optional(
    Flag.Literals("plant", Object.keys(seededBugs)).pipe(
      Flag.withDescription("plant this bug, to see that it is found")
    )
  ),
  topology: Flag.optional(
    Flag.Literals("topology", topologies).pipe(
      Flag.withDescription("worlds of this kind only: one service, a standby, both at once, or the nodes of a cluster")
    )
  ),
  json: Flag.Boolean("json").pipe(
    Flag.withDefault(false),
    Flag.withDescription("print the summary as one JSON document")
  )
}

const barWidth = 30

/** Shows progress in place on an interactive terminal. */
const drawProgress = (all: number) => (done: number, failed: number): void => {
  if (!standardError.isTerminal) return
  const filled = Math.floor(done / all * barWidth)
  const bar = `${"█".repeat(filled)}${"░".repeat(barWidth - filled)}`
  standardError.offer(`\r${bar} ${done} of ${all} seeds${failed > 0 ? `, ${failed} failed` : ""}`)
  if (done >= all) standardError.offer("\n")
}

/** The shortest history found for a failing seed. */
const historyOf = (seed: number, steps: number, bugName: string | null, topology: Topology | undefined) =>
  Effect.sync(() => {
    const bug = bugName === null ? noBug : seededBugs[bugName] ?? noBug
    const plan = planOf(seed, steps, topology)
    const { outcome, plan: small, runs } = shrink(plan, bug, simulate(plan, bug), shrinkRuns)
    const left = small.actions.length + small.faults.length
    return [
      `seed ${seed} fails; of ${
        plan.actions.length + plan.faults.length
      } actions and faults ${left} are left after ${runs} runs`,
      describe(small, outcome)
    ].join("\n")
  })

const runOne = Effect.fn("simulate.one")(
  function*(seed: number, steps: number, bugName: string | null, topology: Topology | undefined, json: boolean) {
    const bug = bugName === null ? noBug : seededBugs[bugName] ?? noBug
    const { answers, commits, violations, hash, steps: tasks } = simulate(planOf(seed, steps, topology), bug)
    if (json) {
      yield* Console.log(
        JSON.stringify({ seed, hash, tasks, commits, requests: answers, complaints: violations }, null, 2)
      )
    } else yield* Console.log(`seed ${seed}: ${tasks} tasks, ${commits} commits, ${answers} requests, trace ${hash}`)
    if (violations.length === 0) return
    yield* Effect.sync(() => (process.exitCode = 1))
    yield* Console.error(yield* historyOf(seed, steps, bugName, topology))
  }
)

const simulateCommand = Command.make(
  "simulate",
  flags,
  Effect.fnUntraced(function*({ firstSeed, json, bug, seed, seeds, steps, topology, workers }) {
    const bugName = Option.getOrNull(bug)
    const wanted = Option.getOrUndefined(topology) ?? (bugName === null ? undefined : seededBugs[bugName]?.topology)
    if (Option.isSome(seed)) return yield* runOne(seed.value, steps, bugName, wanted, json)
    const onProgress = drawProgress(seeds)
    const summary = yield* runSeeds({
      firstSeed,
      seeds,
      steps,
      topology: wanted ?? null,
      workers,
      bug: bugName,
      onProgress
    })
    if (json) {
      yield* Console.log(JSON.stringify(summary, null, 2))
    } else {
      const { commits, failures, hash, requests, seconds } = summary
      yield* Console.log(
        `${summary.seeds} seeds, ${requests} requests, ${commits} commits in ${seconds} s: ` +
          `${failures.length === 0 ? "every law holds" : `${failures.length} seeds fail`}; trace ${hash}`
      )
      for (const failure of failures) yield* Console.log(`  seed ${failure.seed}: ${failure.laws.join(", ")}`)
    }
    const [first] = summary.failures
    if (first === undefined) return
    yield* Effect.sync(() => (process.exitCode = 1))
    yield* Console.error(yield* historyOf(first.seed, steps, bugName, wanted))
  })
).pipe(
  Command.withDescription("Run the service in simulated worlds, one for each seed, and hold every law against them")
)

NodeRuntime.runMain(Effect.provide(Command.run(simulateCommand, { version: "1" }), NodeServices.layer))

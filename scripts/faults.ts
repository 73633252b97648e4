// Lets faults happen to the service at work and compares everything after each: npm run faults -- --help
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, References, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { randomInt } from "node:crypto"
import { endProgress, showProgress } from "../bench/report/Progress.ts"
import type { CycleOutcome } from "../test/faults/support/Cycle.ts"
import { type FaultKind, faultKinds } from "../test/faults/support/Faults.ts"
import {
  type FaultOutcome,
  nodeFaults,
  type NodeOutcome,
  type NodePlan,
  runNodes
} from "../test/faults/support/NodeRun.ts"
import { run, type RunOutcome } from "../test/faults/support/Run.ts"
import { standardError, standardOutput } from "../src/platform/Output.ts"

const isKind = (word: string): word is FaultKind => faultKinds.some((kind) => kind === word)

const whole = (name: string, maximum: number, description: string, minimum = 1) =>
  Flag.Int(name).pipe(
    Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum, maximum }))),
    Flag.withDescription(description)
  )

const flags = {
  cycles: whole("cycles", 100_000, "How many faults (14)").pipe(Flag.withDefault(14)),
  seed: whole("seed", 2 ** 31 - 1, "What is played, and when what happens, follows from it (a new one)").pipe(
    Flag.optional
  ),
  keep: Flag.Boolean("keep").pipe(
    Flag.withDescription("Leave the folder with journal and logs in any case"),
    Flag.withDefault(false)
  ),
  kinds: Flag.String("kinds").pipe(
    Flag.withDescription(`Which faults, in turn: ${faultKinds.join(",")}`),
    Flag.filter(
      (text) => text.split(",").every(isKind),
      (text) => `${text}: expected some of ${faultKinds.join(",")}`
    ),
    Flag.map((text) => text.split(",").filter(isKind)),
    Flag.withDefault([...faultKinds])
  )
}

const count = (kind: string, description: string) => whole(kind, 100_000, description, 0).pipe(Flag.withDefault(1))

const nodeFlags = {
  nodes: whole("nodes", 16, "How many nodes (3)").pipe(Flag.withDefault(3)),
  players: whole("players", 100_000, "How many players (200)").pipe(Flag.withDefault(200)),
  clients: whole("clients", 1000, "How many clients play them (24)").pipe(Flag.withDefault(24)),
  restMs: whole(
    "rest",
    60_000,
    "Milliseconds that a client rests between two turns (0: as many calls as the nodes can do)",
    0
  ).pipe(
    Flag.withDefault(0)
  ),
  leaseSeconds: whole("lease", 60, "Lease of a node, seconds (4)", 2).pipe(Flag.withDefault(4)),
  seed: flags.seed,
  keep: flags.keep,
  kill: count("kill", "How many nodes are killed (1)"),
  leave: count("leave", "How many leave and come back (1)"),
  pause: count("pause", "How many are frozen for twice their lease (1)"),
  unreachable: count("unreachable", "How many lose their way to the database for longer than their lease (1)"),
  parted: count("parted", "How many lose the way to their peers for a while (1)"),
  database: count("database", "How often the database is killed and started again (1)")
}

/** A line for each, as they happen. */
const showFault = (
  { attempts, kind, longest, median, othersLongest }: FaultOutcome,
  number: number,
  all: number
): void => {
  endProgress()
  standardError.offer(
    `${number}/${all}  ${kind}: players served again after ${median} ms, the last after ${longest} ms ` +
      `(${attempts} sendings at most); slowest answer to others ${othersLongest} ms\n`
  )
}

/** Per kind of fault: number, and maximum and median of its effects. */
const byKind = (faults: ReadonlyArray<FaultOutcome>) =>
  Object.fromEntries(
    nodeFaults.flatMap((kind) => {
      const own = faults.filter((fault) => fault.kind === kind)
      const medians = own.map(({ median }) => median).toSorted((one, other) => one - other)
      return own.length === 0 ? [] : [[kind, {
        count: own.length,
        served_again_ms_median: medians[Math.floor(medians.length / 2)],
        served_again_ms_longest: Math.max(...own.map(({ longest }) => longest)),
        slowest_of_others_ms: Math.max(...own.map(({ othersLongest }) => othersLongest)),
        sendings_most: Math.max(...own.map(({ attempts }) => attempts))
      }]]
    })
  )

const nodeSummary = (
  { answers, effects, faults, folder, lost, ordered, seed, sent, triedAgain, violations }: NodeOutcome
) => ({
  seed,
  faults: byKind(faults),
  sent,
  answers,
  lost,
  told_to_try_again: triedAgain,
  rows_compared: effects,
  operations_ordered: ordered,
  folder: folder ?? null,
  complaints: violations
})

const nodes = Command.make("nodes", nodeFlags, (input) =>
  Effect.gen(function*() {
    const plan: NodePlan = {
      ...input,
      seed: input.seed._tag === "Some" ? input.seed.value : randomInt(1, 2 ** 31),
      faults: input,
      keepsFolder: input.keep,
      onProgress: showProgress,
      onFault: showFault
    }
    standardError.offer(`seed ${plan.seed}\n`)
    const outcome = yield* runNodes(plan)
    if (outcome.violations.length > 0) process.exitCode = 1
    standardOutput.offer(`${JSON.stringify(nodeSummary(outcome), null, 2)}\n`)
  })).pipe(
    Command.withDescription(
      "Lets faults happen to several nodes over one database, and says what they cost the players."
    )
  )

/** On a terminal one line that changes; elsewhere a line for each cycle. */
const showCycle = (done: number, cycles: number, outcome: CycleOutcome): void => {
  const { violations, kind, lost, number, sent, settledLate, triedAgain } = outcome
  const text =
    `${done}/${cycles}  cycle ${number} ${
      kind ?? "calm"
    }: ${sent} sent, ${lost} lost, ${triedAgain} told to try again, ` +
    `${settledLate} settled late, ${violations.length === 0 ? "all there once" : `${violations.length} COMPLAINTS`}`
  standardError.offer(standardError.isTerminal ? `\r\x1b[2K${text}` : `${text}\n`)
}

const sum = (
  outcomes: ReadonlyArray<CycleOutcome>,
  field: "sent" | "lost" | "triedAgain" | "settledLate" | "effects" | "ordered"
) => outcomes.reduce((total, outcome) => total + outcome[field], 0)

const failureOf = ({ concerned, cycle, kind, violations }: NonNullable<RunOutcome["failure"]>) => ({
  cycle,
  kind,
  complaints: violations,
  concerned
})

const summary = ({ cycles, failure, folder, leftOut, seed }: RunOutcome) => ({
  seed,
  cycles: cycles.length,
  by_kind: Object.fromEntries(
    [...Map.groupBy(cycles, ({ kind }) => kind ?? "calm")].map(([kind, own]) => [kind, own.length])
  ),
  sent: sum(cycles, "sent"),
  lost: sum(cycles, "lost"),
  told_to_try_again: sum(cycles, "triedAgain"),
  settled_late: sum(cycles, "settledLate"),
  folder: folder ?? null,
  rows_compared: sum(cycles, "effects"),
  operations_ordered: sum(cycles, "ordered"),
  left_out: leftOut,
  failure: failure === undefined ? null : failureOf(failure)
})

const faults = Command.make("faults", flags, (input) =>
  Effect.gen(function*() {
    const seed = input.seed._tag === "Some" ? input.seed.value : randomInt(1, 2 ** 31)
    let done = 0
    const outcome = yield* run({
      seed,
      cycles: input.cycles,
      kinds: input.kinds,
      isShort: false,
      keepsFolder: input.keep,
      onCycle: (cycle) => showCycle(++done, input.cycles, cycle)
    })
    if (standardError.isTerminal) standardError.offer("\n")
    const { failure } = outcome
    if (failure !== undefined) {
      const { violations, concerned, cycle, databaseLines, kind } = failure
      standardError.offer(
        [
          `seed ${seed}, cycle ${cycle}, ${kind ?? "calm"}: what it left is in ${outcome.folder ?? ""}`,
          ...violations,
          ...concerned.slice(0, 200),
          "log of PostgreSQL:",
          ...databaseLines,
          ""
        ].join("\n")
      )
      process.exitCode = 1
    }
    standardOutput.offer(`${JSON.stringify(summary(outcome), null, 2)}\n`)
  })).pipe(
    Command.withDescription(
      "Kills, hangs, cuts off and fills up what the service stands on, and compares everything after it."
    ),
    Command.withSubcommands([nodes])
  )

faults.pipe(
  Command.run({ version: "1" }),
  Effect.provide(NodeServices.layer),
  Effect.provideService(References.MinimumLogLevel, "Error"),
  NodeRuntime.runMain
)

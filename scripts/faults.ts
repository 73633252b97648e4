// Lets faults happen to the service at work and compares everything after each: npm run faults -- --help
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect, References, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { randomInt } from "node:crypto"
import type { CycleOutcome } from "../test/faults/support/Cycle.ts"
import { type FaultKind, faultKinds } from "../test/faults/support/Faults.ts"
import { run, type RunOutcome } from "../test/faults/support/Run.ts"

const isKind = (word: string): word is FaultKind => faultKinds.some((kind) => kind === word)

const whole = (name: string, maximum: number, description: string) =>
  Flag.Int(name).pipe(
    Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum }))),
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

/** On a terminal one line that changes; elsewhere a line for each cycle. */
const showCycle = (done: number, cycles: number, outcome: CycleOutcome): void => {
  const { violations, kind, lost, number, sent, settledLate, triedAgain } = outcome
  const text =
    `${done}/${cycles}  cycle ${number} ${
      kind ?? "calm"
    }: ${sent} sent, ${lost} lost, ${triedAgain} told to try again, ` +
    `${settledLate} settled late, ${violations.length === 0 ? "all there once" : `${violations.length} COMPLAINTS`}`
  process.stderr.write(process.stderr.isTTY ? `\r\x1b[2K${text}` : `${text}\n`)
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
    if (process.stderr.isTTY) process.stderr.write("\n")
    const { failure } = outcome
    if (failure !== undefined) {
      const { violations, concerned, cycle, kind } = failure
      process.stderr.write(
        [
          `seed ${seed}, cycle ${cycle}, ${kind ?? "calm"}: what it left is in ${outcome.folder ?? ""}`,
          ...violations,
          ...concerned.slice(0, 200),
          ""
        ].join("\n")
      )
      process.exitCode = 1
    }
    process.stdout.write(`${JSON.stringify(summary(outcome), null, 2)}\n`)
  })).pipe(
    Command.withDescription(
      "Kills, hangs, cuts off and fills up what the service stands on, and compares everything after it."
    )
  )

faults.pipe(
  Command.run({ version: "1" }),
  Effect.provide(NodeServices.layer),
  Effect.provideService(References.MinimumLogLevel, "Error"),
  NodeRuntime.runMain
)

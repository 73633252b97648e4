import { Console, Effect, type Scope } from "effect"
import { Command } from "effect/cli"
import { basename } from "node:path"
import type { BenchError } from "../BenchError.ts"
import { describeMachine } from "../report/Machine.ts"
import { endProgress } from "../report/Progress.ts"
import { type Findings, makeResult, type Result, revisionOf, toJson, writeReport } from "../report/Result.ts"
import { renderPage, renderText } from "../report/TextReport.ts"
import { Checkout } from "../targets/NodeFlags.ts"
import { type Postgres, readSettings } from "../targets/Postgres.ts"

/** The machine and the settings of the database, as both are before the load. */
export const describeServer = (postgres: Postgres) => {
  const machine = describeMachine(postgres.folder)
  return Effect.map(readSettings(postgres), (settings) => ({ machine, postgres: settings }))
}

type Options<Flags extends Command.Command.Config> = Command.Command.Config.Infer<Flags>

interface Definition<Name extends string, Flags extends Command.Command.Config> {
  /** Of the command and of the result. */
  readonly name: Name
  readonly title: string
  /** Description in the command's help. */
  readonly about: string
  readonly flags: Flags
  /** Description of the steps, and approximate duration in seconds. */
  readonly plan: (options: Options<Flags>) => readonly [what: string, seconds: number]
  readonly measure: (options: Options<Flags>, startedAt: Date) => Effect.Effect<
    Omit<Findings, "scenario" | "title" | "startedAt" | "revision" | "options"> & { readonly title?: string },
    BenchError,
    Scope.Scope
  >
}

export const lengthOf = (seconds: number): string => {
  const minutes = seconds / 60
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${minutes.toFixed(minutes < 10 ? 1 : 0)} min`
}

/** Options as a result has them: paths of this machine say nothing of the measurement. */
const withoutPaths = (given: Findings["options"]): Findings["options"] => {
  const { before } = given
  return {
    ...given,
    ...("folder" in given && { folder: given["folder"] === undefined ? "temporary" : "kept" }),
    ...(typeof before === "string" && { before: revisionOf(before) })
  }
}

/** A scenario as a command, and as an effect for the suite: says how long it takes, measures, prints the result and writes both files. */
export const scenario = <Name extends string, const Flags extends Command.Command.Config>(
  { about, flags, measure, name, plan, title }: Definition<Name, Flags>
) => {
  const run = Effect.fn(name)(
    function*(options: Options<Flags>): Effect.fn.Return<Result, BenchError, Scope.Scope> {
      const startedAt = new Date()
      const given: Findings["options"] = Object(options)
      const [what, seconds] = plan(options)
      yield* Console.log(`${what}: about ${lengthOf(seconds)}`)
      const result = makeResult({
        scenario: name,
        title,
        startedAt,
        revision: revisionOf(yield* Checkout),
        options: withoutPaths(given),
        ...yield* measure(options, startedAt)
      })
      yield* Console.log(`\n${renderText(result)}`)
      const json = yield* writeReport(result.started_at, `${name}.json`, toJson(result))
      const page = yield* writeReport(result.started_at, `${name}.md`, renderPage([result]))
      yield* Console.log(`\nwritten to ${json} and ${basename(page)}`)
      return result
    },
    Effect.scoped,
    Effect.ensuring(Effect.sync(endProgress))
  )
  return { name, plan, run, command: Command.make(name, flags, run).pipe(Command.withDescription(about)) }
}

/** The root command `backoffice`, and the output of its subcommands. */
import { Context, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { about } from "../platform/CliFlags.ts"
import { standardError, standardOutput } from "../platform/Output.ts"
import { table } from "../platform/Table.ts"

export const root = Command.make("backoffice").pipe(
  Command.withDescription("Steers a running service"),
  Command.withSharedFlags({
    json: about(Flag.Boolean("json"), "Print JSON on a terminal, too").pipe(Flag.withDefault(false)),
    token: about(Flag.optional(Flag.Redacted("token")), "Who acts; else BACKOFFICE_TOKEN, else the service's own")
  })
)

/** Output and exit of a command: those of the process unless replaced. */
export interface CommandOutput {
  readonly isTerminal: boolean
  readonly out: (text: string) => void
  readonly problem: (text: string) => void
  /** Shows progress on a terminal, on a line that is overwritten; absent elsewhere. */
  readonly progress?: (text: string) => void
  /** Ends with an exit code once all output is written. */
  readonly end: (exitCode: number) => void
}

export const CommandOutput = Context.Reference<CommandOutput>("pitboss/commands/CommandOutput", {
  defaultValue: () => ({
    isTerminal: standardOutput.isTerminal,
    out: (text) =>
      standardOutput.print(text, (code) => {
        process.exitCode = 1
        // a reader that has seen enough, such as `head`, is no problem to tell
        if (code !== "EPIPE") standardError.offer(`backoffice: the output could not be written (${code})\n`)
      }),
    problem: standardError.offer,
    ...(standardError.isTerminal ? { progress: (text: string) => standardError.offer(`\r\x1b[K${text}`) } : {}),
    end: (exitCode) => {
      process.exitCode = exitCode
    }
  })
})

/** Shows progress and elapsed time every second until the effect ends, then clears the line. */
export const withProgress = <A, E, R>(words: string, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const { progress } = yield* CommandOutput
    if (progress === undefined) return yield* effect
    let seconds = 0
    const tick = Effect.andThen(
      Effect.sync(() => progress(`${words} … ${seconds++} s`)),
      Effect.sleep("1 second")
    )
    return yield* Effect.raceFirst(effect, Effect.forever(tick)).pipe(Effect.ensuring(Effect.sync(() => progress(""))))
  })

/** Prints an answer as JSON, or as a table on a terminal. */
export const printAnswer = Effect.fnUntraced(function*(data: unknown) {
  const { json } = yield* root
  const { isTerminal, out } = yield* CommandOutput
  out(isTerminal && !json ? `${table(data)}\n` : `${JSON.stringify(data, null, 2)}\n`)
})

/** Help and usage of command lines: requested help on standard output; wrong usage on standard error, with exit code 2. */
import { Effect } from "effect"
import { type CliError, CliOutput, Command, type HelpDoc } from "effect/cli"
import { standardError, standardOutput } from "./Output.ts"
import { isObject } from "./Table.ts"
import { version } from "./Version.ts"

export const isUsage = (error: unknown): error is CliError.CliError =>
  isObject(error) && "_tag" in error && error._tag === "ShowHelp"

interface Writer {
  readonly out: (text: string) => void
  readonly problem: (text: string) => void
}

/** Presents a command under the name that was typed. */
export const presenterTo = ({ out, problem }: Writer, own: string, typed: string): CliOutput.Presenter => ({
  present: (event) =>
    Effect.sync(() => {
      const formatter = CliOutput.defaultFormatter({ colors: false })
      const helpOf = (doc: HelpDoc.HelpDoc) => formatter.formatHelpDoc({ ...doc, usage: doc.usage.replace(own, typed) })
      switch (event._tag) {
        case "Version":
          return out(formatter.formatVersion(typed, event.version) + "\n")
        case "Help":
          return (event.reason === "Requested" ? out : problem)(helpOf(event.helpDoc) + "\n")
        case "InvalidInvocation": {
          const errors = formatter.formatErrors(event.errors).replaceAll(
            new RegExp(` for "${own}(?=[ "])`, "g"),
            ` for "${typed}`
          )
          return problem(`${errors}\n\n${helpOf(event.helpDoc)}\n`)
        }
      }
    })
})

const standardStreams: Writer = {
  out: (text) => standardOutput.print(text, () => (process.exitCode = 1)),
  problem: standardError.offer
}

/** Runs a program that is typed as `pitboss NAME`. */
export const runTyped = <Name extends string, Input, ContextInput, E, R>(
  command: Command.Command<Name, Input, ContextInput, E, R>
) =>
  Command.run(command, { version }).pipe(
    Effect.catchIf(isUsage, () => Effect.sync(() => void (process.exitCode = 2))),
    Effect.provideService(CliOutput.Presenter, presenterTo(standardStreams, command.name, `pitboss ${command.name}`))
  )

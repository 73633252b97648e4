/** Command line of the back office: nouns, and the output and exit code of each outcome. */
import { Effect } from "effect"
import { CliConfig, type CliError, CliOutput, Command, GlobalFlag } from "effect/cli"
import { HttpClientError } from "effect/http"
import { type Refusal, refuse } from "./domain/Refusal.ts"
import { isObject } from "./platform/Table.ts"
import { explainCall } from "./commands/Calls.ts"
import { nouns } from "./commands/Derived.ts"
import { CommandOutput, root } from "./commands/Root.ts"

export const program = root.pipe(Command.withSubcommands(nouns))

const isRefusal = (error: { readonly _tag: string }): error is Refusal => error._tag === "Refusal"

const isUsage = (error: unknown): error is CliError.CliError =>
  isObject(error) && "_tag" in error && error._tag === "ShowHelp"

/** Requested help goes to standard output, a usage error to standard error. */
const presenterTo = ({ out, problem }: CommandOutput): CliOutput.Presenter => ({
  present: (event) =>
    Effect.sync(() => {
      const formatter = CliOutput.defaultFormatter({ colors: false })
      switch (event._tag) {
        case "Version":
          return out(formatter.formatVersion(event.name, event.version) + "\n")
        case "Help":
          return (event.reason === "Requested" ? out : problem)(formatter.formatHelpDoc(event.helpDoc) + "\n")
        case "InvalidInvocation":
          return problem(`${formatter.formatErrors(event.errors)}\n\n${formatter.formatHelpDoc(event.helpDoc)}\n`)
      }
    })
})

/** Runs one command to completion: writes its document, the envelope of a refusal or the usage to {@link CommandOutput}, with the exit code. */
export const runCommandLine = Effect.fnUntraced(function*(args: ReadonlyArray<string>) {
  const output = yield* CommandOutput
  const explain = ({ code, details, message }: Refusal) =>
    Effect.sync(() => {
      output.problem(JSON.stringify({ error: { code, message, details } }, null, 2) + "\n")
      output.end(1)
    })

  yield* Command.runWith(program, { version: "1" })(args).pipe(
    Effect.catch((error) => {
      if (isUsage(error)) return Effect.sync(() => output.end(2))
      if (HttpClientError.isHttpClientError(error)) return explain(explainCall(error))
      if (isRefusal(error)) return explain(error)
      return explain(refuse("INVALID_REQUEST", error.message))
    }),
    Effect.provideService(CliOutput.Presenter, presenterTo(output)),
    Effect.provideService(CliConfig.CliConfig, {
      builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions]
    })
  )
})

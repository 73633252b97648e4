/** Back-office command line: its commands, and the output and exit code of each outcome. */
import { Effect } from "effect"
import { CliConfig, CliOutput, Command, GlobalFlag } from "effect/cli"
import { HttpClientError } from "effect/http"
import { type Refusal, refuse } from "./domain/Refusal.ts"
import { isUsage, presenterTo } from "./platform/Usage.ts"
import { version } from "./platform/Version.ts"
import { explainCall } from "./commands/Calls.ts"
import { nouns } from "./commands/Derived.ts"
import { exportPlayers, importPlayers } from "./commands/Moving.ts"
import { CommandOutput, root } from "./commands/Root.ts"

export const program = root.pipe(Command.withSubcommands([...nouns, importPlayers, exportPlayers]))

const isRefusal = (error: { readonly _tag: string }): error is Refusal => error._tag === "Refusal"

/**
 * Runs one command to completion: writes its document, the envelope of a refusal or the usage, which says the name it was called by, to
 * {@link CommandOutput}, with the exit code.
 */
export const runCommandLine = Effect.fnUntraced(function*(args: ReadonlyArray<string>, name: string = root.name) {
  const output = yield* CommandOutput
  const explain = ({ code, details, message }: Refusal) =>
    Effect.sync(() => {
      output.problem(JSON.stringify({ error: { code, message, details } }, null, 2) + "\n")
      output.end(1)
    })

  yield* Command.runWith(program, { version })(args).pipe(
    Effect.catch((error) => {
      if (isUsage(error)) return Effect.sync(() => output.end(2))
      if (HttpClientError.isHttpClientError(error)) return explain(explainCall(error))
      if (isRefusal(error)) return explain(error)
      return explain(refuse("INVALID_REQUEST", error.message))
    }),
    Effect.provideService(CliOutput.Presenter, presenterTo(output, root.name, name)),
    Effect.provideService(CliConfig.CliConfig, {
      builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions]
    })
  )
})

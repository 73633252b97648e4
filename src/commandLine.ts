/** Command line of the back office: nouns, and the output and exit code of each outcome. */
import { Effect, Schema } from "effect"
import { CliConfig, type CliError, CliOutput, Command, GlobalFlag } from "effect/cli"
import { HttpClientError } from "effect/http"
import { fieldIssues } from "./contract/common/FormErrors.ts"
import { type Refusal, refuse, refuseFields } from "./domain/Refusal.ts"
import { isObject } from "./platform/Table.ts"
import { alert } from "./commands/compliance/Commands.ts"
import { bonus, promo } from "./commands/bonuses/Commands.ts"
import { audit, job, ledger } from "./commands/ledger/Commands.ts"
import { correction } from "./commands/corrections/Commands.ts"
import { figures } from "./commands/figures/Commands.ts"
import { freeRounds } from "./commands/freeRounds/Commands.ts"
import { game, provider } from "./commands/games/Commands.ts"
import { node } from "./commands/nodes/Commands.ts"
import { paymentMethod } from "./commands/payments/MethodCommands.ts"
import { payment } from "./commands/payments/Commands.ts"
import { player } from "./commands/players/Commands.ts"
import { round } from "./commands/rounds/Commands.ts"
import { search } from "./commands/search/Commands.ts"
import { rate, report } from "./commands/reports/Commands.ts"
import { secret } from "./commands/secrets/Commands.ts"
import { key, operator, staff } from "./commands/staff/Commands.ts"
import { delivery, webhook } from "./commands/webhooks/Commands.ts"
import { CommandOutput, root } from "./commands/Verb.ts"

/** All nouns with their verbs. */
export const program = root.pipe(
  Command.withSubcommands([
    staff,
    operator,
    key,
    provider,
    game,
    paymentMethod,
    bonus,
    promo,
    freeRounds,
    player,
    correction,
    payment,
    webhook,
    delivery,
    alert,
    rate,
    report,
    figures,
    ledger,
    secret,
    round,
    search,
    job,
    node,
    audit
  ])
)

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
      if (Schema.isSchemaError(error)) return explain(refuseFields(fieldIssues(error.issue)))
      if (HttpClientError.isHttpClientError(error)) {
        const { origin } = new URL(error.request.url)
        return explain(refuse(
          "SERVER_ERROR",
          `Nothing answers at ${origin}. Start the service with npm start, or say with BACKOFFICE_HOST and BACKOFFICE_PORT ` +
            "where it runs.",
          { url: error.request.url }
        ))
      }
      if (isRefusal(error)) return explain(error)
      return explain(refuse("INVALID_REQUEST", error.message))
    }),
    Effect.provideService(CliOutput.Presenter, presenterTo(output)),
    Effect.provideService(CliConfig.CliConfig, {
      builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions]
    })
  )
})

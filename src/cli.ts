/**
 * The back-office command line: staff's nouns and verbs on a terminal and in scripts, over the staff API of the running service.
 *
 * One JSON document on standard output, or a table on a terminal. Exit 0; 1 for a refusal, whose envelope goes to standard error;
 * 2 for wrong usage, with the usage on standard error.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Schema } from "effect"
import { CliConfig, type CliError, CliOutput, Command, GlobalFlag } from "effect/cli"
import { HttpClientError } from "effect/http"
import { bonus, promo } from "./commands/Bonuses.ts"
import { audit, job, ledger, round } from "./commands/Books.ts"
import { game, provider } from "./commands/Games.ts"
import { paymentMethod } from "./commands/PaymentMethods.ts"
import { payment } from "./commands/Payments.ts"
import { player } from "./commands/Players.ts"
import { rate, report } from "./commands/Reports.ts"
import { key, operator, staff } from "./commands/StaffAndOperators.ts"
import { delivery, webhook } from "./commands/Webhooks.ts"
import { finish, root } from "./commands/Verb.ts"
import { type Refusal, refuse, refuseFields } from "./domain/Refusal.ts"
import { fieldIssues } from "./http/FormErrors.ts"
import { isObject } from "./platform/Table.ts"

const program = root.pipe(
  Command.withSubcommands([
    staff,
    operator,
    key,
    provider,
    game,
    paymentMethod,
    bonus,
    promo,
    player,
    payment,
    webhook,
    delivery,
    rate,
    report,
    ledger,
    round,
    job,
    audit
  ])
)

const explain = ({ code, details, message }: Refusal) =>
  Effect.sync(() => {
    process.stderr.write(JSON.stringify({ error: { code, message, details } }, null, 2) + "\n")
  }).pipe(Effect.andThen(finish(1)))

const isRefusal = (error: { readonly _tag: string }): error is Refusal => error._tag === "Refusal"

const isUsage = (error: unknown): error is CliError.CliError =>
  isObject(error) && "_tag" in error && error._tag === "ShowHelp"

/** Help that was asked for is an answer; a usage that nobody asked for is a complaint. */
const presenter: CliOutput.Presenter = {
  present: (event) =>
    Effect.sync(() => {
      const formatter = CliOutput.defaultFormatter({ colors: false })
      switch (event._tag) {
        case "Version":
          return process.stdout.write(formatter.formatVersion(event.name, event.version) + "\n")
        case "Help":
          return (event.reason === "Requested" ? process.stdout : process.stderr)
            .write(formatter.formatHelpDoc(event.helpDoc) + "\n")
        case "InvalidInvocation":
          return process.stderr.write(
            `${formatter.formatErrors(event.errors)}\n\n${formatter.formatHelpDoc(event.helpDoc)}\n`
          )
      }
    })
}

const main = Command.runWith(program, { version: "1" })(process.argv.slice(2)).pipe(
  Effect.catch((error) => {
    if (isUsage(error)) return finish(2)
    if (Schema.isSchemaError(error)) return explain(refuseFields(fieldIssues(error.issue)))
    if (HttpClientError.isHttpClientError(error)) {
      return explain(refuse("SERVER_ERROR", "The service does not answer. Is it running, and where this says?", {
        url: error.request.url
      }))
    }
    if (isRefusal(error)) return explain(error)
    return explain(refuse("INVALID_REQUEST", error.message))
  }),
  Effect.provideService(CliOutput.Presenter, presenter),
  Effect.provideService(CliConfig.CliConfig, {
    builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions]
  }),
  // not fetch, which gives up on an answer after five minutes: a proof of a large ledger takes what it takes
  Effect.provide([NodeHttpClient.layerUndici, NodeServices.layer])
)

await Effect.runPromise(main)

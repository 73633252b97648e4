/** Building blocks of a command: the call to the running service, its flags and its output. */
import { Console, Context, Effect, Option, Redacted, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { HttpClient, type HttpClientError, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { BackofficeApi } from "../contract/StaffApi.ts"
import { type Refusal, refuse } from "../domain/Refusal.ts"
import { about, integer, text } from "../platform/CliFlags.ts"
import { standardError, standardOutput } from "../platform/Output.ts"
import { commandLineSettings } from "../platform/Settings.ts"
import { table } from "../platform/Table.ts"

const { optional } = Flag

export const root = Command.make("backoffice").pipe(
  Command.withDescription("Steers a running service"),
  Command.withSharedFlags({
    json: about(Flag.Boolean("json"), "Print JSON on a terminal, too").pipe(Flag.withDefault(false)),
    token: about(optional(Flag.Redacted("token")), "Who acts; else BACKOFFICE_TOKEN, else the service's own")
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

const unreadable = refuse("SERVER_ERROR", "The answer is not one of this service's. Does another version run there?")

/** Client of the service at an address, authenticated by the token; without a token: by nothing. */
export const makeClient = (url: string, token: string) =>
  HttpApiClient.make(BackofficeApi, {
    baseUrl: url,
    transformClient: (client) =>
      token === "" ? client : HttpClient.mapRequest(client, HttpClientRequest.bearerToken(token)),
    transformResponse: Effect.mapError((error) => Schema.isSchemaError(error) ? unreadable : error)
  })

export type Client = Effect.Success<ReturnType<typeof makeClient>>

/** What makes clients. A reference, so that a process with many commands makes none twice: one takes longer than a call. */
export const ClientMaker = Context.Reference<typeof makeClient>("pitboss/commands/ClientMaker", {
  defaultValue: () => makeClient
})

/** A client of the running service, as who holds the token. */
export const connect = Effect.fnUntraced(function*(flag: Option.Option<Redacted.Redacted>) {
  const { token: known, url } = yield* commandLineSettings
  const token = Redacted.value(Option.getOrElse(flag, () => known ?? Redacted.make("")))
  return yield* (yield* ClientMaker)(url, token)
})

type CallFailure = Refusal | Schema.SchemaError | HttpClientError.HttpClientError

/** Shows progress and elapsed time every second until the effect ends, then clears the line. */
const withProgress = <A, E, R>(words: string, effect: Effect.Effect<A, E, R>) =>
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

/** Hint at the next part of a list with a cursor. */
const nextPageHint = (meta: object = {}): string | undefined =>
  "next_cursor" in meta && typeof meta.next_cursor === "string" ? `more: --cursor ${meta.next_cursor}` : undefined

/** A verb: its flags, and the call they make. The answer is printed; `waiting` is the progress text of a long call. */
export const verb = <const Name extends string, const Config extends Command.Command.Config, A>(
  name: Name,
  description: string,
  config: Config,
  call: (
    client: Client,
    input: Command.Command.Config.Infer<Config>
  ) => Effect.Effect<{ readonly data: A; readonly meta?: object }, CallFailure>,
  isSuccess: (data: A) => boolean = () => true,
  waiting?: string
) =>
  Command.make(name, config, (input) =>
    Effect.gen(function*() {
      const { json, token } = yield* root
      const { end, isTerminal, out } = yield* CommandOutput
      const asked = call(yield* connect(token), input)
      const { data, meta } = yield* (waiting === undefined ? asked : withProgress(waiting, asked))
      out(isTerminal && !json ? `${table(data)}\n` : `${JSON.stringify(data, null, 2)}\n`)
      const more = nextPageHint(meta)
      if (more !== undefined) yield* Console.error(more)
      if (!isSuccess(data)) end(1)
    })).pipe(Command.withDescription(description))

export const noun = <const Name extends string>(name: Name, description: string) =>
  Command.make(name).pipe(Command.withDescription(description))

export const idOf = (what: string) =>
  Argument.Int("id").pipe(
    Argument.withDescription(`The id of the ${what}`),
    Argument.filter((id) => id > 0, () => "Expected an id")
  )

export const referenceTo = (what: string, other: string) =>
  Argument.String("id").pipe(Argument.withDescription(`The id or ${other} of the ${what}`))

export const pageFlags = {
  page: integer("page", "Which page (1)").pipe(Flag.withDefault(1)),
  per_page: integer("per-page", "Lines per page, 1 to 100 (25)").pipe(Flag.withDefault(25))
}

/** Flags of a list with cursors only. */
export const partFlags = {
  per_page: pageFlags.per_page,
  cursor: optional(text("cursor", "Go on where a part before ended: its next_cursor"))
}

export const cursorFlags = {
  limit: integer("limit", "How many, 1 to 100 (25)").pipe(Flag.withDefault(25)),
  cursor: optional(text("cursor", "Go on where a page before ended: its next_cursor"))
}

export const operatorFlag = text("operator", "Id or slug of the operator")

/** For commands on one resource: refuses one of another operator. */
export const ofOperator = { operator: optional(text("operator", "Only if it belongs to this operator, id or slug")) }

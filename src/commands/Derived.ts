/** Derives commands from the staff contract: a noun for each group of endpoints, a verb for each endpoint. */
import { Console, Context, Effect, Option, Schema, SchemaAST, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { HttpApi, type HttpApiEndpoint, type HttpApiGroup, OpenApi } from "effect/http-api"
import { type Field, fieldsOf } from "../contract/common/RequestFields.ts"
import { StaffAction } from "../contract/common/StaffAction.ts"
import { streamTypesOf } from "../contract/common/StreamedAnswers.ts"
import { BackofficeApi } from "../contract/StaffApi.ts"
import { integer, jsonFileArgument } from "../platform/CliFlags.ts"
import { checkExport } from "./CheckExport.ts"
import { callFor, type StaffRequest, streamFor } from "./Calls.ts"
import { argumentOf, flagOf, kebab } from "./Flags.ts"
import { CommandOutput, printAnswer, root, withProgress } from "./Root.ts"
import { staffPermissions } from "./StaffPermissions.ts"

/** Names in a path, in their order: `/rounds/:provider/:game`. */
const namesIn = (path: string): ReadonlyArray<string> => [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name)

const isRecord = Schema.is(Schema.Record(Schema.String, Schema.Unknown))

/** Values of fields by their names; those that were not given are absent, so that the service keeps them unchanged. */
const valuesOf = (fields: ReadonlyArray<Field>, input: unknown): { readonly [name: string]: unknown } =>
  Object.fromEntries(fields.flatMap(({ name }) => {
    const value = isRecord(input) ? input[name] : undefined
    const given = Option.isOption(value) ? Option.getOrUndefined(value) : value
    return given === undefined ? [] : [[name, given] as const]
  }))

const textsOf = (values: { readonly [name: string]: unknown }): { readonly [name: string]: string } =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]))

interface Parts {
  readonly endpoint: HttpApiEndpoint.Top
  readonly params: ReadonlyArray<Field>
  readonly query: ReadonlyArray<Field>
  readonly payload: ReadonlyArray<Field> | undefined
  /** The body is a document of its own, which a file holds. */
  readonly isDocument: boolean
}

const partsOf = (endpoint: HttpApiEndpoint.Top): Parts => {
  const params = fieldsOf(endpoint.params)
  const bodies = [...endpoint.payload.values()].flatMap(({ schemas }): ReadonlyArray<Schema.Top> => schemas)
  return {
    endpoint,
    params: namesIn(endpoint.path).flatMap((name) => params.filter((field) => field.name === name)),
    query: fieldsOf(endpoint.query),
    payload: bodies.length === 0 ? undefined : bodies.flatMap(fieldsOf),
    isDocument: bodies.some(({ ast }) => SchemaAST.isObjects(ast) && ast.indexSignatures.length > 0)
  }
}

/** A text that is a part of the path: an empty one or dots would make it the path of another endpoint. */
const inPath = (argument: Argument.Argument<unknown>): Argument.Argument<unknown> =>
  Argument.filter(argument, (value) => !["", ".", ".."].includes(String(value)), () => "Expected an id or a name")

/** Arguments and flags of a command by field. A resource alone in the path is `id`. */
const inputOf = ({ isDocument, params, payload = [], query }: Parts) => {
  const [only, ...others] = params
  const nameInPath = (field: Field): string => others.length === 0 && field === only ? "id" : field.name
  const fields = [...params, ...query, ...payload]
  return Object.fromEntries([
    ...(isDocument ? [["document", jsonFileArgument("file")] as const] : []),
    ...fields.map((field): readonly [string, Argument.Argument<unknown> | Flag.Flag<unknown>] => {
      const { form: { kind = params.includes(field) ? "argument" : "flag", name } } = field
      if (kind === "flag") return [field.name, flagOf(field)]
      const argument = argumentOf(field, name ?? nameInPath(field), field.name.replaceAll("_", " "))
      return [field.name, params.includes(field) ? inPath(argument) : argument]
    })
  ])
}

const documentIn = (input: unknown) => {
  const document = isRecord(input) ? input["document"] : undefined
  return isRecord(document) ? document : undefined
}

const requestOf = ({ endpoint, isDocument, params, payload, query }: Parts, input: unknown): StaffRequest => ({
  method: endpoint.method,
  path: Object.entries(textsOf(valuesOf(params, input))).reduce(
    (path, [name, value]) => path.replace(`:${name}`, encodeURIComponent(value)),
    endpoint.path
  ),
  query: textsOf(valuesOf(query, input)),
  payload: isDocument ? documentIn(input) : payload === undefined ? undefined : valuesOf(payload, input)
})

/** Prints a stream as it comes, one of events, which has no end, for some seconds; and the data of a document that may be answered instead. */
const streamVerb = (name: string, parts: Parts, contentTypes: ReadonlyArray<string>) =>
  Command.make(
    name,
    {
      ...inputOf(parts),
      ...(contentTypes.includes("text/event-stream")
        ? { seconds: integer("seconds", "How long (10)").pipe(Flag.withDefault(10)) }
        : {})
    },
    (input) =>
      Effect.gen(function*() {
        const { token } = yield* root
        const { out } = yield* CommandOutput
        const { bytes, data } = yield* streamFor(requestOf(parts, input), contentTypes, token)
        if (bytes === undefined) return yield* printAnswer(data)
        const texts = Stream.decodeText(bytes)
        const { seconds } = input
        yield* Stream.runForEach(
          typeof seconds === "number" ? Stream.interruptWhen(texts, Effect.sleep(seconds * 1000)) : texts,
          (text) => Effect.sync(() => out(text))
        )
      })
  )

/** Prints the data of the answer, and how to go on where a list has more. */
const documentVerb = (name: string, parts: Parts, { passes, waiting }: StaffAction["Service"]) => {
  const isSuccess = passes === undefined ? () => true : Schema.is(passes)
  return Command.make(name, inputOf(parts), (input) =>
    Effect.gen(function*() {
      const { token } = yield* root
      const { end } = yield* CommandOutput
      const asked = callFor(requestOf(parts, input), token)
      const { data, meta } = yield* (waiting === undefined ? asked : withProgress(waiting, asked))
      yield* printAnswer(data)
      const next = meta?.next_cursor ?? null
      if (next !== null) yield* Console.error(`more: --cursor ${next}`)
      if (!isSuccess(data)) end(1)
    }))
}

const verbOf = (endpoint: HttpApiEndpoint.Top, action: StaffAction["Service"]) => {
  const parts = partsOf(endpoint)
  const name = kebab(endpoint.identifier)
  const streamed = streamTypesOf(endpoint)
  const verb = streamed.length === 0 ? documentVerb(name, parts, action) : streamVerb(name, parts, streamed)
  return Command.withDescription(verb, Context.getOrElse(endpoint.annotations, OpenApi.Summary, () => ""))
}

type Verb = ReturnType<typeof verbOf> | typeof checkExport | typeof staffPermissions

/** Verbs by group that no endpoint stands behind. */
const written: { readonly [group: string]: ReadonlyArray<Verb> } = {
  ledger: [checkExport],
  staff: [staffPermissions]
}

const nounOf = (group: HttpApiGroup.Top, verbs: ReadonlyArray<Verb>) =>
  Command.make(kebab(group.identifier)).pipe(
    Command.withDescription(Context.getOrElse(group.annotations, OpenApi.Description, () => "")),
    Command.withSubcommands(verbs)
  )

/** All nouns with their verbs. */
export const nouns = (() => {
  const verbs = new Map<HttpApiGroup.Top, Array<Verb>>()
  HttpApi.reflect(BackofficeApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      const action = Context.getOrUndefined(endpoint.annotations, StaffAction)
      if (action === undefined || action.isWithoutCommand === true) return
      const own = verbs.get(group) ?? [...written[group.identifier] ?? []]
      verbs.set(group, own)
      own.push(verbOf(endpoint, action))
    }
  })
  return [...verbs].map(([group, own]) => nounOf(group, own))
})()

/**
 * Writes the generated part of the client package from the contract: types of requests and answers, the calls with their words, and the tables of
 * endpoints that the client's runtime serves. A new endpoint is in the client as soon as it is in the contract.
 */
import { OpenApi } from "effect/http-api"
import { Api } from "../../src/contract/Api.ts"
import { eventTypes } from "../../src/domain/state/Events.ts"
import { codesOf, commentOf, type JsonObject, member, membersOf, typeOf } from "./ClientTypes.ts"

/** Names of calls that differ from `group.endpoint`: what operators' developers look for first. */
const names: { readonly [operation: string]: string } = {
  "players.register": "players.create",
  "players.issueToken": "players.createSessionToken",
  "payments.methods": "paymentMethods.list",
  "payments.deposit": "deposits.create",
  "payments.withdraw": "withdrawals.create",
  "privacy.request": "dataRequests.create",
  "privacy.find": "dataRequests.get",
  "privacy.document": "dataRequests.document",
  "free_rounds.list": "freeRounds.list",
  "free_rounds.issue": "freeRounds.create",
  "free_rounds.cancel": "freeRounds.cancel",
  "responsible_gaming.limits": "limits.get",
  "responsible_gaming.setLimits": "limits.set",
  "responsible_gaming.selfExclude": "limits.selfExclude",
  "player_session.me": "me",
  "player_session.endSessions": "endSessions",
  "player_session.wallet": "wallet.get",
  "player_session.transactions": "transactions",
  "player_session.statement": "statements.get",
  "player_session.consents": "consents.list",
  "player_session.changeConsents": "consents.change",
  "player_session.launch": "launch",
  "player_session.play": "play",
  "player_session.fairness": "fairness.get",
  "player_session.rotate": "fairness.rotate",
  "player_session.round": "rounds.get",
  "player_session.limits": "limits.get",
  "player_session.setLimits": "limits.set",
  "player_session.selfExclude": "limits.selfExclude",
  "player_session.position": "position.get",
  "player_session.realityCheck": "position.realityCheck",
  "player_session.setRealityCheck": "position.setRealityCheck",
  "player_session.obligations": "obligations.list",
  "player_session.acknowledge": "obligations.acknowledge"
}

type Audience = "operator" | "player"

interface Operation {
  readonly audience: Audience
  readonly name: string
  readonly method: string
  /** Below `/api/v1`. */
  readonly path: string
  readonly drawn: JsonObject
}

const base = "/api/v1"

const operationsOf = (document: JsonObject): ReadonlyArray<Operation> =>
  Object.entries(membersOf(document["paths"])).flatMap(([path, methods]) =>
    Object.entries(membersOf(methods)).flatMap(([method, drawn]) => {
      const audience = path.startsWith(`${base}/operator/`)
        ? "operator"
        : path.startsWith(`${base}/player/`)
        ? "player"
        : undefined
      if (audience === undefined) return []
      const id = String(member(drawn, "operationId"))
      return [{
        audience,
        name: names[id] ?? id,
        method: method.toUpperCase(),
        path: path.slice(base.length),
        drawn: membersOf(drawn)
      }]
    })
  )

const arrayOf = (value: unknown): ReadonlyArray<unknown> => Array.isArray(value) ? value : []

const parametersOf = ({ drawn }: Operation, place: "path" | "query") =>
  arrayOf(drawn["parameters"]).map(membersOf).filter((each) => each["in"] === place)

const contentOf = (holder: unknown): JsonObject => membersOf(member(holder, "content"))

/** Schema of the first successful answer, and whether another form can be asked for. */
const answerOf = ({ drawn }: Operation) => {
  const answers = Object.entries(membersOf(drawn["responses"])).filter(([status]) => status.startsWith("2"))
  const content = contentOf(answers[0]?.[1])
  return {
    schema: membersOf(member(content["application/json"], "schema")),
    hasOtherForms: Object.keys(content).some((type) => type !== "application/json")
  }
}

type Paging = "" | "list" | "page" | "cursor" | "feed"

const pagingOf = (operation: Operation): Paging => {
  const { properties } = answerOf(operation).schema
  if (operation.method !== "GET" || member(member(properties, "data"), "type") !== "array") return ""
  if (member(properties, "meta") === undefined) return "list"
  const isFeed = member(properties, "links") === undefined
  const query = parametersOf(operation, "query").map(({ name }) => name)
  return isFeed ? "feed" : query.includes("cursor") ? "cursor" : "page"
}

const argumentOf = (operation: Operation): "" | "body" | "query" =>
  operation.drawn["requestBody"] !== undefined
    ? "body"
    : parametersOf(operation, "query").length > 0
    ? "query"
    : ""

const queryTypeOf = (operation: Operation, indent: string): string => {
  const fields = parametersOf(operation, "query")
  return typeOf({
    type: "object",
    properties: Object.fromEntries(
      fields.map(({ description, name, schema }) => [name, { ...membersOf(schema), description }])
    ),
    required: fields.filter(({ required }) => required === true).map(({ name }) => name)
  }, indent)
}

/** What a call gives: the envelope is opened, and what stands beside `data` becomes a field. */
const resultOf = (operation: Operation, indent: string): string => {
  const { schema } = answerOf(operation)
  const properties = membersOf(schema["properties"])
  const { data, ...beside } = properties
  const paging = pagingOf(operation)
  if (paging !== "") return `List<${typeOf(member(data, "items"), indent)}, ${typeOf(schema, indent)}>`
  // a file, such as a person's document
  if (data === undefined) {
    return schema["format"] === "binary"
      ? "Promise<unknown>"
      : `Promise<${typeOf(schema, indent)}>`
  }
  const opened = typeOf(data, indent)
  return Object.keys(beside).length === 0
    ? `Promise<${opened}>`
    : `Promise<${opened} & ${typeOf({ type: "object", properties: beside, required: Object.keys(beside) }, indent)}>`
}

/** Answer and second answer of a call that gives the second one where its only field of the query is sent. */
const eitherAnswer = (operation: Operation): readonly [first: string, second: string, field: string] | undefined => {
  const forms = arrayOf(member(member(answerOf(operation).schema["properties"], "data"), "anyOf"))
  const [field, other] = parametersOf(operation, "query")
  return forms.length === 2 && field !== undefined && other === undefined && field["required"] !== true
    ? [typeOf(forms[0]), typeOf(forms[1]), String(field["name"])]
    : undefined
}

interface Signature {
  readonly given: string
  readonly result: string
}

/** Signatures of a call: one, or one for each form of its answer. */
const signaturesOf = (operation: Operation, indent: string): ReadonlyArray<Signature> => {
  const { drawn } = operation
  const path = parametersOf(operation, "path").map(({ name, schema }) => `${String(name)}: ${typeOf(schema)}`)
  const result = resultOf(operation, indent)
  const signature = (middle: ReadonlyArray<string>, given = result): Signature => ({
    given: `(${[...path, ...middle, "options?: CallOptions"].join(", ")})`,
    result: given
  })
  if (argumentOf(operation) === "") return [signature([])]
  if (argumentOf(operation) === "body") {
    const body = membersOf(drawn["requestBody"])
    const type = typeOf(member(contentOf(body)["application/json"], "schema"), indent)
    return [signature([`body${body["required"] === true ? "" : "?"}: ${type}`])]
  }
  const isOptional = parametersOf(operation, "query").every(({ required }) => required !== true)
  const type = queryTypeOf(operation, indent)
  const either = eitherAnswer(operation)
  if (either !== undefined) {
    const [first, second, field] = either
    return [
      signature([`query?: { readonly ${field}?: undefined }`], `Promise<${first}>`),
      signature([`query: ${type} & { readonly ${field}: string }`], `Promise<${second}>`)
    ]
  }
  if (!answerOf(operation).hasOtherForms) return [signature([`query${isOptional ? "?" : ""}: ${type}`])]
  return [
    signature([`query${isOptional ? "?" : ""}: ${type} & { readonly format?: "json" | undefined }`]),
    signature([`query: ${type} & { readonly format: string }`], "Promise<string>")
  ]
}

const callsOf = (operations: ReadonlyArray<Operation>): string => {
  const groups = Map.groupBy(operations, ({ name }) => name.includes(".") ? name.split(".")[0] ?? "" : "")
  const written = (operation: Operation, indent: string) => {
    const { drawn, name } = operation
    const words = [drawn["summary"], drawn["description"]].filter((text) => typeof text === "string").join("\n\n")
    const own = `${indent}readonly ${name.split(".").at(-1) ?? name}: `
    const [one, ...others] = signaturesOf(operation, indent)
    const type = one === undefined || others.length > 0
      ? `{\n${[one, ...others].map((each) => `${indent}  ${each?.given}: ${each?.result}\n`).join("")}${indent}}`
      : `${one.given} => ${one.result}`
    return `${commentOf(words, indent)}${own}${type}\n`
  }
  return [...groups].map(([group, own]) =>
    group === ""
      ? own.map((each) => written(each, "  ")).join("")
      : `  readonly ${group}: {\n${own.map((each) => written(each, "    ")).join("")}  }\n`
  ).join("")
}

const header =
  "// Generated from src/contract by scripts/package/ClientContract.ts; `npx vitest run test/api -u` writes it anew.\n"

const tableOf = (audience: Audience, operations: ReadonlyArray<Operation>): string => {
  const rows = operations.filter((each) => each.audience === audience).map((each) =>
    `  ${JSON.stringify([each.name, each.method, each.path, argumentOf(each), pagingOf(each)]).replaceAll(",", ", ")}`
  )
  return `${header}import type { Endpoint } from "../Calls.ts"

export const ${audience}Endpoints: ReadonlyArray<Endpoint> = [
${rows.join(",\n")}
]
`
}

/** The generated files by name, of the folder `scripts/package/client/src/generated`. */
export const clientFiles = (): { readonly [file: string]: string } => {
  const document = membersOf(OpenApi.fromApi(Api))
  const operations = operationsOf(document)
  const twice = operations.filter((one) =>
    operations.some((other) => one !== other && one.audience === other.audience && one.name === other.name)
  )
  if (twice.length > 0) throw new Error(`two calls of one name: ${twice.map(({ name }) => name).join(", ")}`)
  const schemas = membersOf(membersOf(document["components"])["schemas"])
  const types = Object.entries(schemas).filter(([name]) => !name.startsWith("Error_")).map(([name, schema]) => {
    const { description, ...rest } = membersOf(schema)
    return `${commentOf(description, "")}export type ${name} = ${typeOf(rest)}\n`
  })
  const literals = (values: ReadonlyArray<string>) => values.map((value) => JSON.stringify(value)).join(" | ")
  const contract = `${header}import type { List } from "../Lists.ts"
import type { CallOptions } from "../Transport.ts"

/** Codes of errors. */
export type ErrorCode = ${literals(codesOf(schemas))}

/** Types of events. */
export type EventType = ${literals(eventTypes)}

${types.join("\n")}
/** Calls of an operator's server. */
export interface OperatorCalls {
${callsOf(operations.filter(({ audience }) => audience === "operator"))}}

/** Calls of a player's session. */
export interface PlayerCalls {
${callsOf(operations.filter(({ audience }) => audience === "player"))}}
`
  return {
    "Contract.ts": contract,
    "OperatorEndpoints.ts": tableOf("operator", operations),
    "PlayerEndpoints.ts": tableOf("player", operations)
  }
}

/** Validates answers against the OpenAPI document: status, code, headers and schema. */
import { Schema } from "effect"
import { HttpApi, OpenApi } from "effect/http-api"
import { Api } from "../../src/contract/Api.ts"

interface Answer {
  readonly status: number
  readonly headers: { readonly [name: string]: string | undefined }
  readonly json: unknown
  readonly code: string | undefined
}

interface Documented {
  readonly headers: ReadonlySet<string>
  readonly needed: ReadonlyArray<string>
  /** Without parameters. */
  readonly contentTypes: ReadonlyArray<string>
  /** Of a refusal. */
  readonly codes: ReadonlySet<string>
}

interface Operation {
  readonly name: string
  readonly pattern: RegExp
  readonly method: string
  readonly byStatus: ReadonlyMap<number, Documented>
  /** Schema errors of a successful answer. */
  readonly problemsOf: (status: number, json: unknown) => string | undefined
}

const document = OpenApi.fromApi(Api)
const documentHeaders: { readonly [name: string]: { readonly required?: boolean } } = Object(
  Object(document.components)["headers"]
)

const documentedAnswer = (response: unknown): Documented => {
  const names = Object.keys(Object(Object(response).headers))
  const text = JSON.stringify(response)
  return {
    headers: new Set(names.map((name) => name.toLowerCase())),
    contentTypes: Object.keys(Object(Object(response).content)),
    needed: names.filter((name) => documentHeaders[name]?.required === true).map((name) => name.toLowerCase()),
    codes: new Set([...text.matchAll(/schemas\/Error_([A-Z_]+)/g)].map(([, code = ""]) => code))
  }
}

const operations: Array<Operation> = []
HttpApi.reflect(Api, {
  onGroup: () => {},
  onEndpoint: ({ endpoint, successes }) => {
    const template = endpoint.path.replaceAll(/:(\w+)/g, "{$1}")
    const responses: { readonly [status: string]: unknown } =
      Object(Object(document.paths)[template])[endpoint.method.toLowerCase()]?.responses ?? {}
    const decoders = new Map(
      [...successes].map(([status, schemas]) =>
        // as an object of any type: no schema of the contract needs services to decode
        [status, Schema.decodeUnknownResult(Object(Schema.Union(schemas)), { onExcessProperty: "error" })] as const
      )
    )
    operations.push({
      name: `${endpoint.method} ${template}`,
      pattern: new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
      method: endpoint.method,
      byStatus: new Map(
        Object.entries(responses).map(([status, response]) => [Number(status), documentedAnswer(response)])
      ),
      problemsOf: (status, json) => {
        const decoded = decoders.get(status)?.(json)
        return decoded?._tag === "Failure" ? decoded.failure.message : undefined
      }
    })
  }
})

/** Operations without path parameters, the most frequent ones. */
const plain = new Map(operations.filter(({ name }) => !name.includes("{")).map((each) => [each.name, each]))

const operationOf = (method: string, path: string): Operation | undefined =>
  plain.get(`${method} ${path}`) ?? operations.find((each) => each.method === method && each.pattern.test(path))

/** Whether the contract has a path, with any method. */
export const isOfContract = (uri: string): boolean => {
  const [path = ""] = uri.split("?", 1)
  return operations.some(({ pattern }) => pattern.test(path))
}

const tracked = ["x-request-id", "x-ratelimit-limit", "x-ratelimit-remaining", "retry-after", "idempotent-replayed"]

/** Statuses of malformed requests, answered before any operation. */
const beforeAnyOperation = [400, 408, 431]

/**
 * Undocumented part of an answer; undefined when fully documented, and for paths outside the
 * contract. `isEarlier`: of an earlier version, whose answers may lack fields.
 */
export const undocumented = (
  method: string,
  uri: string,
  answer: Answer,
  isEarlier = false
): string | undefined => {
  const [path = ""] = uri.split("?", 1)
  const operation = operationOf(method, path)
  if (operation === undefined || beforeAnyOperation.includes(answer.status)) return undefined
  const { code, headers, json, status } = answer
  const documented = operation.byStatus.get(status)
  if (documented === undefined) return `${operation.name} does not document ${status}: ${code ?? ""}`
  if (status >= 400 && !documented.codes.has(code ?? "")) {
    return `${operation.name} does not document ${status} ${code ?? "without a code"}`
  }
  const surplus = tracked.filter((name) => headers[name] !== undefined && !documented.headers.has(name))
  if (surplus.length > 0) return `${operation.name} does not document ${surplus.join(", ")} on ${status}`
  const isForLater = documented.headers.has("retry-after") && Object(json).error?.details?.retry !== "never"
  const needed = isForLater ? [...documented.needed, "retry-after"] : documented.needed
  const lacking = needed.filter((name) => headers[name] === undefined)
  if (lacking.length > 0) return `${operation.name} documents ${lacking.join(", ")} on ${status}, which is not there`
  const [contentType = ""] = headers["content-type"]?.split(";", 1) ?? []
  if (status < 300 && json === undefined && documented.contentTypes.includes(contentType)) return undefined
  const problems = status < 400 ? operation.problemsOf(status, json) : undefined
  return problems === undefined || isEarlier && problems.startsWith("Missing key")
    ? undefined
    : `${operation.name} answers ${status} in another form: ${problems}`
}

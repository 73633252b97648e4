/**
 * The OpenAPI document of the contract: what the schemas say, plus what they cannot: how requests are signed, the headers
 * around them, and query and path fields under the type that they mean rather than the text that they travel as.
 */
import { Context, Schema } from "effect"
import { HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"
import { RequiredFeature, RequiredScope } from "./Annotations.ts"

const description = `Wallet and player platform for casino operators.

**Signing.** Every request carries the public key id (\`X-Api-Key\`, for game providers \`X-Provider-Key\`), the Unix time in
seconds (\`X-Timestamp\`, at most 300 seconds off) and \`X-Signature\`: the lower-case hex HMAC-SHA256, keyed with the secret, of
the method, the request URI as sent, the timestamp and the raw body (empty for GET), joined by line feeds, and of the nonce
after another line feed when \`X-Nonce\` is sent. An operator's signature is accepted once. Under \`/api/v1/player\` nothing is signed:
a session token that the operator's server has issued stands for the player (\`Authorization: Bearer …\`).

**Errors** are \`{"error": {"code", "message", "details"}}\`. **Money** is an integer in minor units. **Times** are ISO 8601 in UTC.
Clients ignore fields they do not know.`

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly schema: unknown
  readonly description?: string
}

interface Operation {
  readonly parameters: ReadonlyArray<Parameter>
  readonly requestBody?: unknown
  readonly responses: { readonly [status: string]: unknown }
}

type Operations = { readonly [method: string]: Operation }

const header = (name: string, required: boolean, maxLength: number, about: string): Parameter => ({
  name,
  in: "header",
  required,
  schema: { type: "string", maxLength },
  description: about
})

const nonce = header(
  "X-Nonce",
  false,
  128,
  "Makes otherwise identical requests of one second distinct; part of the signature."
)
const idempotencyKey = header(
  "Idempotency-Key",
  false,
  255,
  "Runs the request once: every retry with this key gets the first answer, marked Idempotent-Replayed: true, for 24 hours."
)

const apiKeyScheme = (name: string, about: string) => ({ type: "apiKey", in: "header", name, description: about })

const securitySchemes = {
  api_key: apiKeyScheme("X-Api-Key", "Public key id of an operator's key."),
  provider_key: apiKeyScheme("X-Provider-Key", "Public key id of a game provider."),
  timestamp: apiKeyScheme("X-Timestamp", "Unix time in seconds."),
  signature: apiKeyScheme("X-Signature", "Lower-case hex HMAC-SHA256 of the string to sign."),
  player_token: { type: "http", scheme: "bearer", description: "A player session token." }
}

/** The type side of path and query fields by name, as JSON schemas. */
const typedProperties = (schema: Schema.Top | undefined): { readonly [name: string]: unknown } => {
  if (schema === undefined) return {}
  const properties = Schema.toJsonSchemaDocument(Schema.toType(schema)).schema["properties"]
  return typeof properties === "object" && properties !== null ? { ...properties } : {}
}

/** Members that are open to fields we may add later; requests are read past fields we do not know. */
const openObjects = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(openObjects)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => !(name === "additionalProperties" && member === false))
      .map(([name, member]) => [name, openObjects(member)])
  )
}

/** Takes the refusals of idempotency keys out of an operation that takes none, and statuses that had no other. */
const withoutKeyRefusals = (responses: Operation["responses"]) =>
  Object.fromEntries(
    Object.entries(responses).flatMap(([status, response]) => {
      const rest = withoutMembers(response)
      return rest === undefined ? [] : [[status, rest]]
    })
  )

const isKeyRefusal = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "$ref" in value &&
  /Error_(INVALID_)?IDEMPOTENCY/.test(String(value.$ref))

const withoutMembers = (value: unknown): unknown => {
  if (isKeyRefusal(value)) return undefined
  if (Array.isArray(value)) {
    const kept = value.map(withoutMembers).filter((member) => member !== undefined)
    return kept.length === 0 && value.length > 0 ? undefined : kept
  }
  if (typeof value !== "object" || value === null) return value
  const members = Object.entries(value).map(([name, member]) =>
    [
      name,
      name === "description"
        ? String(member).replaceAll(/( \| )?(INVALID_)?IDEMPOTENCY_[A-Z_]+/g, "")
        : withoutMembers(member)
    ] as const
  )
  return members.some(([, member]) => member === undefined)
    ? undefined
    : Object.fromEntries(members)
}

/** A body that may be null may be left out. */
const optionalBody = (operation: Operation): { readonly requestBody?: unknown } => {
  const text = JSON.stringify(operation.requestBody ?? null)
  const withoutNull = text.replace(/\{"anyOf":\[(.+),\{"type":"null"\}\]\}/, "$1")
  return withoutNull === text ? {} : { requestBody: { ...JSON.parse(withoutNull), required: false } }
}

const complete = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  document: Record<string, unknown>
): Record<string, unknown> => {
  const paths: Record<string, Record<string, unknown>> = {}
  const drawn: Record<string, Operations> = { ...Object(document["paths"]) }
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, mergedAnnotations }) => {
      const path = endpoint.path.replaceAll(/:(\w+)/g, "{$1}")
      const method = endpoint.method.toLowerCase()
      const operation = drawn[path]?.[method]
      if (operation === undefined) return
      const isProvider = path.startsWith("/api/v1/provider/")
      const isPlayer = path.startsWith("/api/v1/player/")
      const isPost = method === "post"
      const typed = { ...typedProperties(endpoint.params), ...typedProperties(endpoint.query) }
      const scope = Context.getOrUndefined(mergedAnnotations, RequiredScope)
      const feature = Context.getOrUndefined(mergedAnnotations, RequiredFeature)
      const item = paths[path] ?? {}
      paths[path] = item
      item[method] = {
        ...operation,
        ...optionalBody(operation),
        ...(scope === undefined ? {} : { "x-required-scope": scope }),
        ...(feature === undefined ? {} : { "x-required-feature": feature }),
        security: [
          isPlayer
            ? { player_token: [] }
            : { [isProvider ? "provider_key" : "api_key"]: [], timestamp: [], signature: [] }
        ],
        parameters: [
          ...operation.parameters.map((parameter) => ({
            ...parameter,
            schema: typed[parameter.name] ?? parameter.schema
          })),
          ...(isPlayer ? [] : [nonce]),
          ...(isPost && !isProvider ? [idempotencyKey] : [])
        ],
        responses: isPost && !isProvider ? operation.responses : withoutKeyRefusals(operation.responses)
      }
    }
  })
  const components = { ...Object(document["components"]), securitySchemes }
  return Object(openObjects({ ...document, paths, components }))
}

/** Gives an API its document: title, words, and what {@link complete} adds. */
export const documented = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
) =>
  api.annotateMerge(OpenApi.annotations({
    title: "Pitboss",
    version: "1.0.0",
    description,
    transform: (document) => complete(api, document)
  }))

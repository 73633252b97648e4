/**
 * Builds the OpenAPI document of the public API from the contract: the schemas, completed by signatures, headers, the possible refusals of each
 * endpoint, examples, and query and path fields under their decoded types.
 */
import { Context, Schema } from "effect"
import { HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"
import { EitherOf, RequiredFeature, RequiredScope, RetryAfterFailure } from "../common/Annotations.ts"
import { answersOf, errorExamples, type Facts } from "./Answers.ts"
import { exampleOf, inheritedMember, membersOf, type Schemas } from "./Examples.ts"
import { description, headers, info, parameterDescriptions, parameters, securitySchemes, servers } from "./Words.ts"
import { allRefusals } from "../common/Errors.ts"

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly schema: unknown
}

interface Operation {
  readonly parameters: ReadonlyArray<Parameter>
  readonly requestBody?: unknown
  readonly responses: { readonly [status: string]: unknown }
}

type Operations = { readonly [method: string]: Operation }

/** Decoded types of path and query fields by name, as JSON schemas. */
const typedProperties = (schema: Schema.Top | undefined): { readonly [name: string]: unknown } =>
  schema === undefined ? {} : membersOf(Schema.toJsonSchemaDocument(Schema.toType(schema)).schema["properties"])

/** Allows additional fields in objects; unknown fields of requests are ignored. */
const openObjects = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(openObjects)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => !(name === "additionalProperties" && member === false))
      .map(([name, member]) => [name, openObjects(member)])
  )
}

/** An object that has a field. */
const having = (field: string) => ({ type: "object", properties: { [field]: {} }, required: [field] })

/** That one field of two is there. */
const eitherOf = ([one, other]: readonly [string, string]) => ({
  oneOf: [{ ...having(one), not: having(other) }, { ...having(other), not: having(one) }]
})

/** Request body with an example. A nullable body is optional. */
const bodyOf = (
  operation: Operation,
  schemas: Schemas,
  exclusive: readonly [string, string] | undefined
): { readonly requestBody?: unknown } => {
  if (operation.requestBody === undefined) return {}
  const media = membersOf(membersOf(membersOf(operation.requestBody)["content"])["application/json"])
  const { anyOf } = membersOf(media["schema"])
  const forms: ReadonlyArray<unknown> = Array.isArray(anyOf) ? anyOf : [media["schema"]]
  const given = forms.filter((form) => membersOf(form)["type"] !== "null")
  const schema = given.length === 1 ? given[0] : { anyOf: given }
  const sent = exclusive === undefined ? schema : { allOf: [schema, eitherOf(exclusive)] }
  const content = { "application/json": { schema: sent, examples: { example: { value: exampleOf(schema, schemas) } } } }
  return { requestBody: { required: given.length === forms.length, content } }
}

/** Parameter with its decoded type and a description. */
const parameterOf = ({ name, schema: sent, ...rest }: Parameter, typed: { readonly [name: string]: unknown }) => {
  const members = membersOf(typed[name] ?? sent)
  const { description = inheritedMember(members, "description") ?? parameterDescriptions[name], ...schema } = members
  return { name, ...rest, ...(description === undefined ? {} : { description }), schema }
}

const parameter = (name: keyof typeof parameters) => ({ $ref: `#/components/parameters/${name}` })

const audienceOf = (path: string): Facts["audience"] =>
  path.startsWith("/api/v1/provider/") ? "provider" : path.startsWith("/api/v1/player/") ? "player" : "operator"

const security: { readonly [audience in Facts["audience"]]: unknown } = {
  operator: [{ api_key: [], timestamp: [], signature: [] }],
  provider: [{ provider_key: [], timestamp: [], signature: [] }],
  player: [{ player_token: [] }]
}

/** Codes of a schema of one or several refusals. */
const codesOf = (schema: Schema.Top): ReadonlyArray<string> =>
  [...JSON.stringify(Schema.toJsonSchemaDocument(schema)).matchAll(/"Error_([A-Z_]+)"/g)].map(([, code = ""]) => code)

/** Components of a kind that something refers to, these themselves included. */
const usedComponents = (kind: string, components: { readonly [name: string]: unknown }, paths: unknown) => {
  const text = JSON.stringify([paths, components])
  return Object.fromEntries(
    Object.entries(components).filter(([name]) => text.includes(`"#/components/${kind}/${name}"`))
  )
}

const complete = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  document: Record<string, unknown>
): Record<string, unknown> => {
  const paths: Record<string, Record<string, unknown>> = {}
  const drawn: Record<string, Operations> = { ...Object(document["paths"]) }
  const components = membersOf(document["components"])
  const schemas = membersOf(components["schemas"])
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, mergedAnnotations }) => {
      const path = endpoint.path.replaceAll(/:(\w+)/g, "{$1}")
      const method = endpoint.method.toLowerCase()
      const operation = drawn[path]?.[method]
      if (operation === undefined) return
      const audience = audienceOf(path)
      const typed = { ...typedProperties(endpoint.params), ...typedProperties(endpoint.query) }
      const scope = Context.getOrUndefined(mergedAnnotations, RequiredScope)
      const feature = Context.getOrUndefined(mergedAnnotations, RequiredFeature)
      const facts: Facts = {
        audience,
        method,
        hasPathId: path.includes("{"),
        scope,
        feature,
        ownCodes: new Set([...endpoint.error].flatMap(codesOf)),
        retryAfterFailure: Context.getOrUndefined(mergedAnnotations, RetryAfterFailure) ?? "same_request"
      }
      const item = paths[path] ?? {}
      paths[path] = item
      item[method] = {
        ...operation,
        ...bodyOf(operation, schemas, Context.getOrUndefined(mergedAnnotations, EitherOf)),
        ...(scope === undefined ? {} : { "x-required-scope": scope }),
        ...(feature === undefined ? {} : { "x-required-feature": feature }),
        security: security[audience],
        parameters: [
          ...operation.parameters.map((each) => parameterOf(each, typed)),
          ...(audience === "player" ? [] : [parameter("nonce")]),
          ...(method === "post" && audience !== "provider" ? [parameter("idempotency_key")] : []),
          parameter("request_id")
        ],
        responses: answersOf(operation.responses, facts, schemas)
      }
    }
  })
  return Object(openObjects({
    ...document,
    info: { ...membersOf(document["info"]), ...info },
    servers,
    paths,
    components: {
      ...components,
      schemas: usedComponents("schemas", schemas, paths),
      examples: usedComponents("examples", errorExamples, paths),
      headers,
      parameters,
      securitySchemes
    }
  }))
}

/** Adds an API's document: title, description, all codes, and the additions of {@link complete}. */
export const documented = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
) =>
  api.annotate(HttpApi.AdditionalSchemas, allRefusals).annotateMerge(OpenApi.annotations({
    title: "Pitboss",
    version: "1.0.0",
    description,
    transform: (document) => complete(api, document)
  }))

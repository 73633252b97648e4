/** Endpoints of an OpenAPI document for the fuzzer, with their inputs. */

export type Node = { readonly [key: string]: unknown }

export const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Caller of an endpoint, which determines the credentials of a request. */
export type Audience = "operator" | "provider" | "player" | "staff"

export interface Parameter {
  readonly name: string
  readonly in: "path" | "query" | "header"
  readonly schema: Node
}

export interface Endpoint {
  readonly name: string
  readonly audience: Audience
  readonly method: string
  /** With its parameters in braces. */
  readonly path: string
  readonly parameters: ReadonlyArray<Parameter>
  /** Null without a body. */
  readonly body: Node | null
}

const nodeOf = (value: unknown): Node => isNode(value) ? value : {}

const listOf = (value: unknown): ReadonlyArray<unknown> => Array.isArray(value) ? value : []

const audienceOf = (path: string): Audience =>
  path.startsWith("/backoffice/")
    ? "staff"
    : path.startsWith("/api/v1/provider/")
    ? "provider"
    : path.startsWith("/api/v1/player/")
    ? "player"
    : "operator"

/** A document with every reference resolved; a recursive schema stays empty inside itself. */
const inlined = (document: Node) => {
  const at = (reference: string): unknown =>
    reference.split("/").slice(1).reduce<unknown>((inside, key) => nodeOf(inside)[key], document)
  const inline = (value: unknown, within: ReadonlyArray<string>): unknown => {
    if (Array.isArray(value)) return value.map((each) => inline(each, within))
    if (!isNode(value)) return value
    const { $ref: reference } = value
    if (typeof reference === "string") {
      return within.includes(reference) ? {} : inline(at(reference), [...within, reference])
    }
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, inline(inner, within)]))
  }
  return (value: unknown): Node => nodeOf(inline(value, []))
}

const placeOf = (place: unknown): Parameter["in"] | undefined =>
  place === "path" || place === "query" || place === "header" ? place : undefined

/** All endpoints of a document. */
export const endpointsOf = (document: Node): ReadonlyArray<Endpoint> => {
  const inline = inlined(document)
  return Object.entries(nodeOf(document["paths"])).flatMap(([path, operations]) =>
    Object.entries(nodeOf(operations)).map(([method, operation]): Endpoint => {
      const { parameters, requestBody } = nodeOf(operation)
      const content = nodeOf(inline(requestBody)["content"])
      const body = nodeOf(content["application/json"])["schema"]
      return {
        name: `${method.toUpperCase()} ${path}`,
        audience: audienceOf(path),
        method: method.toUpperCase(),
        path,
        parameters: listOf(parameters).flatMap((each): ReadonlyArray<Parameter> => {
          const { in: place, name, schema } = inline(each)
          const known = placeOf(place)
          return known === undefined ? [] : [{ name: String(name), in: known, schema: nodeOf(schema) }]
        }),
        body: isNode(body) ? body : null
      }
    })
  )
}

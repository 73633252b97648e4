/** Example bodies of the OpenAPI document, composed from the examples of their schemas. */

/** Schemas of the document by name. */
export type Schemas = { readonly [name: string]: unknown }

/** Members of a part of the document. */
export const membersOf = (value: unknown): { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null ? { ...value } : {}

const isNull = (schema: unknown): boolean => membersOf(schema)["type"] === "null"

const plain: { readonly [type: string]: unknown } = { string: "text", integer: 1, number: 1, boolean: true, null: null }

/** Resolves a reference. */
const resolve = (schema: unknown, schemas: Schemas): { readonly [name: string]: unknown } => {
  const members = membersOf(schema)
  const { $ref } = members
  return typeof $ref === "string" ? resolve(schemas[$ref.split("/").at(-1) ?? ""], schemas) : members
}

/** Annotation of a schema. One after a check is in the schema's `allOf`. */
export const inheritedMember = (
  members: { readonly [name: string]: unknown },
  name: "description" | "examples"
): unknown => {
  const { allOf, [name]: said } = members
  if (said !== undefined) return said
  return Array.isArray(allOf)
    ? allOf.map((each) => inheritedMember(membersOf(each), name)).find((each) => each !== undefined)
    : undefined
}

/** Example of a schema: its own, or composed from its parts. */
export const exampleOf = (schema: unknown, schemas: Schemas): unknown => {
  const members = resolve(schema, schemas)
  const { anyOf, const: constant, enum: words, items, properties, type } = members
  const examples = inheritedMember(members, "examples")
  if (Array.isArray(examples) && examples.length > 0) return examples[0]
  if (constant !== undefined) return constant
  if (Array.isArray(words)) return words[0]
  if (Array.isArray(anyOf)) return exampleOf(anyOf.find((each) => !isNull(each)) ?? anyOf[0], schemas)
  if (properties !== undefined) {
    return Object.fromEntries(
      Object.entries(membersOf(properties)).map(([name, field]) => [name, exampleOf(field, schemas)])
    )
  }
  if (type === "array") return [exampleOf(items, schemas)]
  return plain[String(type)] ?? {}
}

/** Examples of a body: one per form of a list with pages and cursors, otherwise a single one. */
export const examplesOf = (schema: unknown, schemas: Schemas): {
  readonly [name: string]: { readonly value: unknown }
} => {
  const { meta, ...rest } = membersOf(resolve(schema, schemas)["properties"])
  const forms = resolve(meta, schemas)["anyOf"]
  if (!Array.isArray(forms)) return { example: { value: exampleOf(schema, schemas) } }
  const links = resolve(rest["links"], schemas)["anyOf"]
  return Object.fromEntries(["by_page", "by_cursor"].map((name, index) => [name, {
    value: {
      data: exampleOf(rest["data"], schemas),
      meta: exampleOf(forms[index], schemas),
      links: exampleOf(Array.isArray(links) ? links[index] : rest["links"], schemas)
    }
  }]))
}

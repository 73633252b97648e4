/** Examples of whole bodies, put together from those that the schemas give. */

/** The schemas of the document by name. */
export type Schemas = { readonly [name: string]: unknown }

/** A part of the document, read as the JSON it is. */
export const membersOf = (value: unknown): { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null ? { ...value } : {}

const isNull = (schema: unknown): boolean => membersOf(schema)["type"] === "null"

const plain: { readonly [type: string]: unknown } = { string: "text", integer: 1, number: 1, boolean: true, null: null }

/** The schema that a reference means. */
const resolve = (schema: unknown, schemas: Schemas): { readonly [name: string]: unknown } => {
  const members = membersOf(schema)
  const { $ref } = members
  return typeof $ref === "string" ? resolve(schemas[$ref.split("/").at(-1) ?? ""], schemas) : members
}

/** What a schema says of itself under a name. What is said after a check stands among the schema's further conditions. */
export const saidBy = (members: { readonly [name: string]: unknown }, name: "description" | "examples"): unknown => {
  const { allOf, [name]: said } = members
  if (said !== undefined) return said
  return Array.isArray(allOf)
    ? allOf.map((each) => saidBy(membersOf(each), name)).find((each) => each !== undefined)
    : undefined
}

/** An example of a schema: the one it gives, or else one put together from its parts. */
export const exampleOf = (schema: unknown, schemas: Schemas): unknown => {
  const members = resolve(schema, schemas)
  const { anyOf, const: constant, enum: words, items, properties, type } = members
  const examples = saidBy(members, "examples")
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

/** The forms a body can have: a list that can be paged or walked has one for each, everything else has one. */
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

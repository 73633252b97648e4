/** TypeScript types of JSON schemas, as the OpenAPI document has them. */

export type JsonObject = { readonly [name: string]: unknown }

/** Members of an object; none of anything else. */
export const membersOf = (value: unknown): JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? Object(value) : {}

export const member = (value: unknown, name: string): unknown => membersOf(value)[name]

/** A comment of documentation, empty without words. */
export const commentOf = (words: unknown, indent: string): string => {
  if (typeof words !== "string" || words.trim() === "") return ""
  const lines = words.replaceAll("*/", "* /").trim().split("\n")
  return lines.length === 1
    ? `${indent}/** ${lines[0]} */\n`
    : `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd() + "\n").join("")}${indent} */\n`
}

const keyOf = (name: string): string => /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)

const union = (types: ReadonlyArray<string>): string => [...new Set(types)].join(" | ")

const grouped = (type: string): string => / [|&] /.test(type) && !/^\{[^{}]*\}$/.test(type) ? `(${type})` : type

const objectOf = ({ additionalProperties, properties, required }: JsonObject, indent: string): string => {
  const fields = Object.entries(membersOf(properties))
  if (fields.length === 0) {
    const values = typeof additionalProperties === "object" ? typeOf(additionalProperties, indent) : "unknown"
    return `{ readonly [name: string]: ${values} }`
  }
  const needed = new Set<unknown>(Array.isArray(required) ? required : [])
  const inner = `${indent}  `
  const written = fields.map(([name, schema]) => {
    const isNeeded = needed.has(name)
    return commentOf(member(schema, "description"), inner) +
      `${inner}readonly ${keyOf(name)}${isNeeded ? "" : "?"}: ${typeOf(schema, inner)}${
        isNeeded ? "" : " | undefined"
      }\n`
  })
  return `{\n${written.join("")}${indent}}`
}

/** The type of a schema. What a schema does not say is `unknown`. */
export const typeOf = (schema: unknown, indent = ""): string => {
  const members = membersOf(schema)
  const { $ref, allOf, anyOf, const: constant, enum: values, items, oneOf, type } = members
  if (typeof $ref === "string") return $ref.split("/").at(-1) ?? "unknown"
  if (constant !== undefined) return JSON.stringify(constant)
  if (Array.isArray(values)) return union(values.map((value) => JSON.stringify(value)))
  const forms = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined
  // a type beside it, with bounds of its own for each form
  if (forms !== undefined) return union(forms.map((form) => typeOf(form, indent)))
  if (Array.isArray(type)) return union(type.map((each) => typeOf({ ...members, type: each }, indent)))
  if (Array.isArray(allOf) && type === undefined) return allOf.map((each) => grouped(typeOf(each, indent))).join(" & ")
  switch (type) {
    case "string":
    case "boolean":
    case "null":
      return type
    case "integer":
    case "number":
      return "number"
    case "array":
      return `ReadonlyArray<${typeOf(items, indent)}>`
    case "object":
      return objectOf(members, indent)
    default:
      return "unknown"
  }
}

/** Codes of the errors among schemas. */
export const codesOf = (schemas: JsonObject): ReadonlyArray<string> =>
  Object.keys(schemas).flatMap((name) => name.startsWith("Error_") ? [name.slice("Error_".length)] : []).sort()

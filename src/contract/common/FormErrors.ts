/** Turns the schema errors of a malformed request into validation messages by field. */
import { Predicate, type SchemaAST, SchemaIssue } from "effect"

type FieldIssues = { readonly [field: string]: ReadonlyArray<string> }

/** Expectation of a schema, as the end of "must be …". */
const expected = (ast: SchemaAST.AST): string => {
  switch (ast._tag) {
    case "String":
      return "a string"
    case "Number":
      return "a number"
    case "Boolean":
      return "true or false"
    case "Null":
      return "null"
    case "Literal":
      return String(ast.literal)
    case "Objects":
      return "an object"
    case "Arrays":
      return "a list"
    case "Union":
      return ast.types.map(expected).join(" or ")
    default:
      return "valid"
  }
}

/** The framework's message, as one that continues the name of its field. */
const asRule = (text: string): string =>
  text.replace(/^Expected a string representing a finite number.*/, "must be a number").replace(
    /^Expected /,
    "must be "
  )

const leafHook: SchemaIssue.LeafHook = (issue) => {
  switch (issue._tag) {
    case "MissingKey":
      return "is required"
    // without the value, which may be a secret under a wrong name
    case "UnexpectedKey":
      return "is not known"
    case "InvalidType": {
      const { message } = issue.ast.annotations ?? {}
      return typeof message === "string" ? message : `must be ${expected(issue.ast)}`
    }
    default:
      return SchemaIssue.defaultLeafHook(issue)
  }
}

const format = SchemaIssue.makeFormatterStandardSchemaV1({ leafHook })

const keyOf = (segment: PropertyKey | { readonly key: PropertyKey }): string =>
  String(typeof segment === "object" ? segment.key : segment)

/** Messages by dotted field name; those of the whole body under `_`. */
export const fieldIssues = (issue: SchemaIssue.Issue): FieldIssues => {
  const fields: Record<string, Array<string>> = Object.create(null)
  for (const { message, path } of format(issue).issues) {
    const name = (path ?? []).map(keyOf).join(".") || "_"
    const messages = fields[name] ??= []
    const rule = asRule(message)
    if (!messages.includes(rule)) messages.push(rule)
  }
  return { ...fields }
}

/** Parses a body as an object; undefined when it is not JSON or not an object. */
export const parseObject = (text: string): { readonly [field: string]: unknown } | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return Predicate.isReadonlyObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

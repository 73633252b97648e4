/**
 * Derives form fields and table columns from the schemas of the contract. A description may end with the service's default in brackets, as in
 * "Requests per minute (600).": a form starts with that value, or shows it beside an empty input.
 */
import { type Schema, SchemaAST } from "effect"
import { type FieldKind, fieldKindOf } from "./FieldKind.ts"
import { annotationsOf, type Field, fieldsOf, isInteger, literalsOf, withoutNull } from "./RequestFields.ts"

/** Smallest and largest value of a number, or length of a text. */
interface Bounds {
  readonly minimum?: number
  readonly maximum?: number
}

/** A field of a form. A text of `lines` has several; an `other` field takes no single value, and its page asks for it in a way of its own. */
export interface FormField extends Bounds {
  readonly name: string
  readonly kind:
    | FieldKind["kind"]
    | "integer"
    | "switch"
    | "choices"
    | "list"
    | "lines"
    | "secret"
    | "other"
  readonly options: ReadonlyArray<string>
  readonly isRequired: boolean
  readonly mayBeNull: boolean
  readonly description: string
  /** What the service takes where nothing is sent; empty where the contract names nothing. */
  readonly default: string
}

const numberIn = (payload: unknown, names: ReadonlyArray<string>): number | undefined =>
  Object.entries(Object(payload)).flatMap(([name, value]) =>
    names.includes(name) && typeof value === "number" ? [value] : []
  )[0]

const boundsOf = (type: SchemaAST.AST): Bounds => {
  const payloads = (type.checks ?? []).map(({ annotations }) => annotations?.representation?.payload)
  const found = (names: ReadonlyArray<string>) =>
    payloads.map((payload) => numberIn(payload, names)).find((bound) => bound !== undefined)
  const minimum = found(["minimum", "minLength"])
  const maximum = found(["maximum", "maxLength"])
  return { ...(minimum === undefined ? {} : { minimum }), ...(maximum === undefined ? {} : { maximum }) }
}

const formKindOf = (type: SchemaAST.AST, { form }: Field): Pick<FormField, "kind" | "options"> => {
  const none = { options: [] }
  if (form.isSecret === true) return { kind: "secret", ...none }
  if (SchemaAST.isBoolean(type)) return { kind: "switch", ...none }
  if (SchemaAST.isArrays(type)) {
    const [element] = type.rest
    const words = element && literalsOf(element)
    return words === undefined
      ? { kind: element !== undefined && SchemaAST.isString(element) ? "list" : "other", ...none }
      : { kind: "choices", options: words }
  }
  if (SchemaAST.isObjects(type)) return { kind: "other", ...none }
  const { kind, options } = fieldKindOf(type)
  return {
    kind: kind === "number" && isInteger(type)
      ? "integer"
      : kind === "text" && annotationsOf(type).some(({ lines }) => lines === true)
      ? "lines"
      : kind,
    options
  }
}

/** What only a text interface has to be told: that an amount is in minor units, how an instant is written. */
const forText = /^Minor units\b[^.]*$|, (?:minor units\b|like \d{4}-)[^.]*/gu

/** A description without what a form shows otherwise. */
const wordsOf = (description: string): { readonly words: string; readonly default: string } => {
  const [, text = description, bracket = ""] = /^(.*?)(?: \(([^()]*)\))?$/su.exec(description) ?? []
  const parts = bracket === "" ? [] : bracket.split("; ")
  // `0: no cap` is the default, and says what it means
  const [otherwise = ""] = parts[0]?.split(": ") ?? []
  const meanings = parts.filter((part) => part.includes(": "))
  return {
    words: [text.replace(forText, ""), ...meanings].filter((part) => part !== "").join(". "),
    default: otherwise
  }
}

/** Fields of a form that asks for a request's body. */
export const formFieldsOf = (schema: Schema.Constraint): ReadonlyArray<FormField> =>
  fieldsOf(schema).map((field) => {
    const type = withoutNull(field.type) ?? field.type
    const { default: otherwise, words } = wordsOf(field.description)
    return {
      name: field.name,
      ...formKindOf(type, field),
      ...boundsOf(type),
      isRequired: field.isRequired,
      mayBeNull: type !== field.type,
      description: words,
      default: otherwise
    }
  })

/** A field of an answer: what a table or a list of facts shows. One of an object in it is named with the object: `registration.ip`. */
export interface ShownField {
  readonly name: string
  readonly kind: FieldKind["kind"] | "switch" | "list"
}

/** Fields of the `data` of an answer, or of its items where it is a list, by the path of the list: `""` for `data` itself, `"wallets"` for one in it. */
export const shownFieldsOf = ({ ast }: Schema.Constraint): Readonly<Record<string, ReadonlyArray<ShownField>>> => {
  const found: Record<string, ReadonlyArray<ShownField>> = {}
  const fieldsIn = (type: SchemaAST.Objects, prefix: string): ReadonlyArray<ShownField> =>
    type.propertySignatures.flatMap(({ name, type: declared }): ReadonlyArray<ShownField> => {
      const own = withoutNull(declared) ?? declared
      const path = `${prefix}${String(name)}`
      if (SchemaAST.isObjects(own)) return fieldsIn(own, `${path}.`)
      if (SchemaAST.isArrays(own)) {
        listIn(own, path)
        return [{ name: path, kind: "list" }]
      }
      return [{ name: path, kind: SchemaAST.isBoolean(own) ? "switch" : fieldKindOf(own).kind }]
    })
  const listIn = ({ rest: [item] }: SchemaAST.Arrays, path: string): void => {
    if (item !== undefined && SchemaAST.isObjects(item)) found[path] = fieldsIn(item, "")
  }
  const type = SchemaAST.toType(ast)
  const data = SchemaAST.isObjects(type)
    ? type.propertySignatures.find(({ name }) => name === "data")?.type
    : undefined
  if (data !== undefined && SchemaAST.isArrays(data)) listIn(data, "")
  if (data !== undefined && SchemaAST.isObjects(data)) found[""] = fieldsIn(data, "")
  return found
}

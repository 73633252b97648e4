/** Flags and arguments of commands, derived from the fields of the staff contract. */
import { type Schema, SchemaAST } from "effect"
import { Argument, Flag } from "effect/cli"
import { parameterDescriptions } from "../contract/document/Words.ts"
import type { FlagForm } from "../contract/common/StaffAction.ts"
import {
  about,
  boolean,
  integer,
  integerOrNone,
  jsonFile,
  listFrom,
  listOf,
  numberOrNone,
  numbersByName,
  orNone,
  secretText,
  text
} from "../platform/CliFlags.ts"

/** A field of a request: what the command line asks for, and whether the service needs it. */
export interface Field {
  readonly name: string
  readonly isRequired: boolean
  readonly description: string
  readonly form: FlagForm
  /** Decoded form. */
  readonly type: SchemaAST.AST
}

/** Annotations of a field, of its key and of its checks, the last one first. */
const annotationsOf = (
  { annotations, checks, context }: SchemaAST.AST
): ReadonlyArray<Schema.Annotations.Annotations> =>
  [context?.annotations, ...(checks ?? []).map(({ annotations }) => annotations).toReversed(), annotations].filter((
    each
  ) => each !== undefined)

/** A description as a line of help: without its full stop. */
const wordsOf = (sentence: string): string => sentence.replace(/\.$/, "")

/** Fields of a struct; none without one. */
export const fieldsOf = (schema: Schema.Constraint | undefined): ReadonlyArray<Field> => {
  if (schema === undefined) return []
  const [decoded, encoded] = [SchemaAST.toType(schema.ast), SchemaAST.toEncoded(schema.ast)]
  if (!SchemaAST.isObjects(decoded) || !SchemaAST.isObjects(encoded)) return []
  const needed = new Set(
    encoded.propertySignatures.filter(({ type }) => !SchemaAST.isOptional(type)).map(({ name }) => name)
  )
  return decoded.propertySignatures.map(({ name, type }) => {
    const annotations = annotationsOf(type)
    const described = annotations.map(({ description }) => description).find((text) => typeof text === "string")
    return {
      name: String(name),
      isRequired: needed.has(name),
      description: wordsOf(described ?? ""),
      form: annotations.map(({ flag }) => flag).find((flag) => flag !== undefined) ?? {},
      type
    }
  })
}

/** A name of the contract as the command line spells it. */
export const kebab = (name: string): string => name.replaceAll("_", "-")

const isInteger = ({ checks }: SchemaAST.AST): boolean =>
  (checks ?? []).some(({ annotations }) => annotations?.representation?.id === "effect/schema/isInt")

/** The words of a union of literals; undefined for any other type. */
const literalsOf = (type: SchemaAST.AST): ReadonlyArray<string> | undefined => {
  const members = SchemaAST.isUnion(type) ? type.types : [type]
  const words = members.flatMap((member) =>
    SchemaAST.isLiteral(member) && typeof member.literal === "string" ? [member.literal] : []
  )
  return words.length === members.length ? words : undefined
}

const withoutNull = (type: SchemaAST.AST): SchemaAST.AST | undefined => {
  if (!SchemaAST.isUnion(type) || !type.types.some(SchemaAST.isNull)) return undefined
  const [only, ...others] = type.types.filter((member) => !SchemaAST.isNull(member))
  return others.length === 0 ? only : undefined
}

/** A type of field that the command line cannot ask for is a mistake in the contract. */
const unknownType = (name: string): never => {
  throw new Error(`the command line has no flag for the type of the field ${name}`)
}

const listFlag = (name: string, description: string, { rest: [element] }: SchemaAST.Arrays): Flag.Flag<unknown> => {
  const words = element === undefined ? undefined : literalsOf(element)
  return words === undefined ? listOf(name, description) : listFrom(name, words, description)
}

const recordFlag = (
  name: string,
  description: string,
  { indexSignatures: [entry] }: SchemaAST.Objects
): Flag.Flag<unknown> => {
  const value = entry === undefined ? undefined : withoutNull(entry.type) ?? entry.type
  return value !== undefined && SchemaAST.isNumber(value)
    ? numbersByName(name, description)
    : jsonFile(name, description)
}

/** Flag of a field of any type, with its value decoded. */
const valueFlag = (name: string, { description, form, type }: Omit<Field, "name">): Flag.Flag<unknown> => {
  const given = withoutNull(type)
  if (given !== undefined) {
    if (SchemaAST.isNumber(given)) return (isInteger(given) ? integerOrNone : numberOrNone)(name, description)
    const { nullWord = "none" } = form
    return SchemaAST.isArrays(given)
      ? Flag.map(
        listFlag(name, `${description}, or ${nullWord}`, given),
        (list) => Array.isArray(list) && list.length === 1 && list[0] === nullWord ? null : list
      )
      : orNone(valueFlag(name, { description, form, type: given, isRequired: true }))
  }
  const words = form.words ?? literalsOf(type)
  if (words !== undefined) return about(Flag.Literals(name, words), description)
  if (SchemaAST.isBoolean(type)) return boolean(name, description)
  if (SchemaAST.isNumber(type)) {
    return isInteger(type) ? integer(name, description) : about(Flag.Finite(name), description)
  }
  if (SchemaAST.isString(type)) return form.isSecret === true ? secretText(name, description) : text(name, description)
  if (SchemaAST.isArrays(type)) return listFlag(name, description, type)
  return SchemaAST.isObjects(type) ? recordFlag(name, description, type) : unknownType(name)
}

/** Words of a flag: the field's own, else those of its name. */
export const helpOf = ({ description, name }: Field): string =>
  description || wordsOf(parameterDescriptions[name] ?? "")

/** Flag of a field; absent where the service does not need it. */
export const flagOf = (field: Field): Flag.Flag<unknown> => {
  const { form, isRequired, type } = field
  const description = helpOf(field)
  const name = form.name ?? kebab(field.name)
  if (form.isSwitch === true || (SchemaAST.isLiteral(type) && type.literal === true)) {
    return about(Flag.Boolean(name), description).pipe(
      Flag.withDefault(false),
      Flag.map((isGiven) => isGiven ? true : undefined)
    )
  }
  const flag = valueFlag(name, { ...field, description })
  return isRequired ? flag : Flag.optional(flag)
}

/** Positional argument of a field; `resource` names what it identifies where the field does not say it. */
export const argumentOf = ({ description, type }: Field, name: string, resource: string): Argument.Argument<unknown> =>
  SchemaAST.isNumber(type)
    ? Argument.Int(name).pipe(
      Argument.withDescription(description || `Id of the ${resource}`),
      Argument.filter((id) => id > 0, () => "Expected an id")
    )
    : Argument.String(name).pipe(Argument.withDescription(description || `Id or slug of the ${resource}`))

/** Derives flags and arguments of commands from the request fields of the staff contract. */
import { SchemaAST } from "effect"
import { Argument, Flag } from "effect/cli"
import { parameterDescriptions } from "../contract/document/Words.ts"
import { type Field, isInteger, literalsOf, sentence, withoutNull } from "../contract/common/RequestFields.ts"
import type { FlagForm } from "../contract/common/StaffAction.ts"
import {
  about,
  boolean,
  idsOf,
  integer,
  integerOrNone,
  jsonFile,
  listFrom,
  listOf,
  listWithNone,
  numberOrNone,
  numbersByName,
  orNone,
  recordsFrom,
  secretText,
  text
} from "../platform/CliFlags.ts"

/** A name of the contract as the command line spells it. */
export const kebab = (name: string): string => name.replaceAll("_", "-")

/** A type of field that the command line cannot ask for is a mistake in the contract. */
const unknownType = (name: string): never => {
  throw new Error(`the command line has no flag for the type of the field ${name}`)
}

const listFlag = (
  name: string,
  description: string,
  { rest: [element] }: SchemaAST.Arrays,
  { hasNone }: FlagForm = {}
): Flag.Flag<unknown> => {
  if (hasNone === true) return listWithNone(name, description)
  if (element !== undefined && SchemaAST.isNumber(element)) return idsOf(name, description)
  if (element !== undefined && SchemaAST.isObjects(element)) {
    return recordsFrom(name, element.propertySignatures.map((field) => String(field.name)), description)
  }
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
  if (SchemaAST.isArrays(type)) return listFlag(name, description, type, form)
  return SchemaAST.isObjects(type) ? recordFlag(name, description, type) : unknownType(name)
}

/** Words of a flag: the field's own, else those of its name. */
export const helpOf = ({ description, name }: Field): string =>
  description || sentence(parameterDescriptions[name] ?? "")

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

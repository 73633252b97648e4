/** Lists the fields of a request schema, from which command flags and page forms are derived. */
import { type Schema, SchemaAST } from "effect"
import type { FlagForm } from "./StaffAction.ts"

/** A field of a request: what a caller is asked for, and whether the service needs it. */
export interface Field {
  readonly name: string
  readonly isRequired: boolean
  readonly description: string
  readonly form: FlagForm
  /** Decoded form. */
  readonly type: SchemaAST.AST
}

/** Annotations of a field, of its key and of its checks, the last one first. */
export const annotationsOf = (
  { annotations, checks, context }: SchemaAST.AST
): ReadonlyArray<Schema.Annotations.Annotations> =>
  [context?.annotations, ...(checks ?? []).map(({ annotations }) => annotations).toReversed(), annotations].filter((
    each
  ) => each !== undefined)

/** A description without its full stop. */
export const sentence = (text: string): string => text.replace(/\.$/, "")

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
      description: sentence(described ?? ""),
      form: annotations.map(({ flag }) => flag).find((flag) => flag !== undefined) ?? {},
      type
    }
  })
}

export const isInteger = ({ checks }: SchemaAST.AST): boolean =>
  (checks ?? []).some(({ annotations }) => annotations?.representation?.id === "effect/schema/isInt")

/** The words of a union of literals; undefined for any other type. */
export const literalsOf = (type: SchemaAST.AST): ReadonlyArray<string> | undefined => {
  const members = SchemaAST.isUnion(type) ? type.types : [type]
  const words = members.flatMap((member) =>
    SchemaAST.isLiteral(member) && typeof member.literal === "string" ? [member.literal] : []
  )
  return words.length === members.length ? words : undefined
}

/** The only other form of a type that may be null; undefined where there is no such. */
export const withoutNull = (type: SchemaAST.AST): SchemaAST.AST | undefined => {
  if (!SchemaAST.isUnion(type) || !type.types.some(SchemaAST.isNull)) return undefined
  const [only, ...others] = type.types.filter((member) => !SchemaAST.isNull(member))
  return others.length === 0 ? only : undefined
}

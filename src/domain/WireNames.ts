/** Snake-case names for the wire and the database: `coolingOffHours` in code is `cooling_off_hours` there. */
import { Schema } from "effect"

/** Name of a field outside. */
type WireName<Field extends string> = Field extends `${infer First}${infer Rest}`
  ? `${Uncapitalize<First>}${Rest extends Uncapitalize<Rest> ? "" : "_"}${WireName<Rest>}`
  : Field

type WireNames<Fields> = { readonly [Field in keyof Fields]: Field extends string ? WireName<Field> : Field }

export const wireName = (field: string): string => field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

function wireNames<Fields extends object>(fields: Fields): WireNames<Fields>
function wireNames(fields: object): object {
  return Object.fromEntries(Object.keys(fields).map((field) => [field, wireName(field)]))
}

/** The struct whose encoded form has the names of the wire. */
export const wire = <const Fields extends Schema.Struct.Fields>(struct: Schema.Struct<Fields>) =>
  struct.pipe(Schema.encodeKeys(wireNames(struct.fields)))

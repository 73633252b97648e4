import { Schema, SchemaGetter } from "effect"

/** A point in time: epoch milliseconds in the rules, a `Date` where a row is read. */
export const Instant = Schema.Date.pipe(
  Schema.decodeTo(Schema.Number, {
    decode: SchemaGetter.transform((date: Date) => date.getTime()),
    encode: SchemaGetter.transform((ms: number) => new Date(ms))
  })
)

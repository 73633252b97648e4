/** Point in time: epoch milliseconds in rules, `Date` in rows. */
import { Schema, SchemaGetter } from "effect"

export const Instant = Schema.Date.pipe(
  Schema.decodeTo(Schema.Number, {
    decode: SchemaGetter.transform((date: Date) => date.getTime()),
    encode: SchemaGetter.transform((ms: number) => new Date(ms))
  })
)

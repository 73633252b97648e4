/** Positions in lists that are only walked, as the texts that callers hand back. */
import { Effect, Schema } from "effect"
import { type Refusal, refuseFields } from "../domain/Refusal.ts"

const invalid = refuseFields({ cursor: ["must be a next_cursor of this list"] })

/** The moment of a position, epoch milliseconds up to the year 9999: a cursor that somebody made up is refused, and asks the database nothing. */
export const moment = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 253_402_300_799_999 }))

/** How a list writes down a position of the shape, and reads it again: base64url of its JSON. */
export const cursorOf = <
  S extends Schema.Constraint & { readonly DecodingServices: never; readonly EncodingServices: never }
>(
  Position: S
) => {
  const Text = Schema.fromJsonString(Position)
  const encode = Schema.encodeSync(Text)
  const decode = Schema.decodeUnknownEffect(Text)
  return {
    write: (position: S["Type"]): string => Buffer.from(encode(position)).toString("base64url"),
    /** Undefined stays so: the beginning. */
    read: (cursor: string | undefined): Effect.Effect<S["Type"] | undefined, Refusal<"VALIDATION_FAILED">> =>
      cursor === undefined
        ? Effect.undefined
        : Effect.mapError(decode(Buffer.from(cursor, "base64url").toString()), () => invalid)
  }
}

/** One page of a list that is only walked. */
export interface CursorPage<out A> {
  readonly items: ReadonlyArray<A>
  /** Null at the end. */
  readonly next: string | null
}

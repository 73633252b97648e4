/** Cursor pagination: no counting, and stable under concurrent inserts. Each list has positions of one form, encoded as opaque text for callers. */
import { Effect, Option, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { type Refusal, refuseFields } from "../domain/Refusal.ts"
import { toDate } from "../platform/Time.ts"

/** Requested part of a list. */
export interface PartQuery {
  /** 1 to 100. */
  readonly limit: number
  /** Absent or empty for the beginning. */
  readonly cursor?: string | undefined
}

/** Part of a list and the cursor of the next one; null at the end. A part may be short, even empty, before the end. */
export interface Part<out A> {
  readonly items: ReadonlyArray<A>
  readonly next: string | null
}

/** Instant of a position, epoch milliseconds up to the year 9999: a forged cursor is refused without a query. */
export const moment = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 253_402_300_799_999 }))

/** Position in a list ordered by time (epoch milliseconds), then id. */
export interface TimedPosition {
  readonly at: number
  readonly id: number
}

const invalid = refuseFields({ cursor: ["must be a next_cursor of this list"] })

/** Cursor codec of a list: encodes a position and decodes it; undefined for invalid text. */
const cursorsOf = <Position>(
  write: (position: Position) => string,
  parse: (text: string) => Position | undefined
) => ({
  write,
  read: (cursor: string | undefined): Effect.Effect<Position | undefined, Refusal<"VALIDATION_FAILED">> => {
    if (cursor === undefined || cursor === "") return Effect.undefined
    const position = parse(cursor)
    return position === undefined ? Effect.fail(invalid) : Effect.succeed(position)
  },
  /** Part made of up to `limit` + 1 rows. `rest`: where to continue when there are fewer rows but possibly more to come. */
  part: <Row>(
    rows: ReadonlyArray<Row>,
    limit: number,
    positionOf: (row: Row) => Position,
    rest?: Position
  ): Part<Row> => {
    const last = rows.length > limit ? rows[limit - 1] : undefined
    const position = last === undefined ? rest : positionOf(last)
    return { items: rows.slice(0, limit), next: position === undefined ? null : write(position) }
  }
})

const numbersIn = (base: number, form: RegExp) =>
  cursorsOf<number>(
    (position) => position.toString(base),
    (text) => form.test(text) ? Number.parseInt(text, base) : undefined
  )

/** Cursors of a single number: an id, or the sequence number of an entry. */
export const numberCursors = numbersIn(36, /^[0-9a-z]{1,10}$/)

/** Cursors that are ids as staff read and type them. */
export const idCursors = numbersIn(10, /^[1-9]\d{0,14}$/)

/** Cursors of time and id. */
export const timedCursors = cursorsOf<TimedPosition>(
  ({ at, id }) => `${at.toString(36)}-${id.toString(36)}`,
  (text) => {
    const [, at = "", id = ""] = /^([0-9a-z]{1,9})-([0-9a-z]{1,10})$/.exec(text) ?? []
    return at === "" ? undefined : { at: Number.parseInt(at, 36), id: Number.parseInt(id, 36) }
  }
)

/** Cursors of any other shape: base64url of their JSON. */
export const cursorsOfShape = <
  S extends Schema.Constraint & { readonly DecodingServices: never; readonly EncodingServices: never }
>(Position: S) => {
  const Text = Schema.fromJsonString(Position)
  const encode = Schema.encodeSync(Text)
  const decode = Schema.decodeUnknownOption(Text)
  return cursorsOf<S["Type"]>(
    (position) => Buffer.from(encode(position)).toString("base64url"),
    (text) => Option.getOrUndefined(decode(Buffer.from(text, "base64url").toString()))
  )
}

/** Maps the items of a part. */
export const mapPart = <A, B>({ items, next }: Part<A>, toItem: (item: A) => B): Part<B> => ({
  items: items.map(toItem),
  next
})

/** Condition for rows after a position in a list ordered newest first; none at its beginning. */
export const behind = (
  sql: SqlClient.SqlClient,
  position: TimedPosition | undefined,
  at = "created_at",
  id = "id"
): ReadonlyArray<Statement.Fragment> =>
  position === undefined
    ? []
    : [sql`(${sql(at)}, ${sql(id)}) < (${toDate(position.at)}::timestamptz, ${position.id}::float8::bigint)`]

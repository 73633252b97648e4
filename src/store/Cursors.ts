/**
 * Lists that are read by cursor, part after part: nothing is counted, and what is added meanwhile moves nothing. A list has positions of one
 * form; callers get them as texts and hand them back.
 */
import { Effect, Option, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { type Refusal, refuseFields } from "../domain/Refusal.ts"
import { toDate } from "../platform/Time.ts"

/** Which part of a list. */
export interface PartQuery {
  /** 1 to 100. */
  readonly limit: number
  /** Absent or empty: the beginning. */
  readonly cursor?: string | undefined
}

/** A part of a list, and the cursor to go on with: null at the end. It may be short, even empty, where there is more. */
export interface Part<out A> {
  readonly items: ReadonlyArray<A>
  readonly next: string | null
}

/** The moment of a position, epoch milliseconds up to the year 9999: a cursor that somebody made up is refused, and asks the database nothing. */
export const moment = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 253_402_300_799_999 }))

/** A position in a list that goes by time (epoch milliseconds) and then by id. */
export interface TimedPosition {
  readonly at: number
  readonly id: number
}

const invalid = refuseFields({ cursor: ["must be a next_cursor of this list"] })

/** Cursors of a list, of how it writes down a position and reads it again: undefined where the text is none. */
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
  /** The part of rows of which one more than `limit` was read. `rest`: where to go on when there are fewer and yet there may be more. */
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

/** Positions that are one number: an id, the number of an entry. */
export const numberCursors = numbersIn(36, /^[0-9a-z]{1,10}$/)

/** Positions that are ids as staff read and type them. */
export const idCursors = numbersIn(10, /^[1-9]\d{0,14}$/)

/** Positions by time and id. */
export const timedCursors = cursorsOf<TimedPosition>(
  ({ at, id }) => `${at.toString(36)}-${id.toString(36)}`,
  (text) => {
    const [, at = "", id = ""] = /^([0-9a-z]{1,9})-([0-9a-z]{1,10})$/.exec(text) ?? []
    return at === "" ? undefined : { at: Number.parseInt(at, 36), id: Number.parseInt(id, 36) }
  }
)

/** Positions of any other shape: base64url of their JSON. */
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

/** The items of a part as something else. */
export const mapPart = <A, B>({ items, next }: Part<A>, toItem: (item: A) => B): Part<B> => ({
  items: items.map(toItem),
  next
})

/** The condition that rows of a list, newest first, come behind a position; none at its beginning. */
export const behind = (
  sql: SqlClient.SqlClient,
  position: TimedPosition | undefined,
  at = "created_at",
  id = "id"
): ReadonlyArray<Statement.Fragment> =>
  position === undefined
    ? []
    : [sql`(${sql(at)}, ${sql(id)}) < (${toDate(position.at)}::timestamptz, ${position.id}::float8::bigint)`]

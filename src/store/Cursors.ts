/** Cursor pagination: no counting, and stable under concurrent inserts. The positions of a list have one form, which callers get as opaque text. */
import { Effect, Option, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { type Refusal, refuseFields } from "../domain/Refusal.ts"
import { toDate } from "../platform/Time.ts"
import { isStorable } from "./Rows.ts"

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

/** The last moment of the year 9999. */
const lastMoment = 253_402_300_799_999

/** Instant of a position, epoch milliseconds up to the year 9999: a forged cursor is refused without a query. */
export const moment = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: lastMoment }))

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
  parse,
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

/** Cursors of a single number: an id, or the sequence number of an entry. */
export const numberCursors = cursorsOf<number>(
  (position) => position.toString(36),
  (text) => /^[0-9a-z]{1,10}$/.test(text) ? Number.parseInt(text, 36) : undefined
)

/** Cursors of time and id. */
export const timedCursors = cursorsOf<TimedPosition>(
  ({ at, id }) => `${at.toString(36)}-${id.toString(36)}`,
  (text) => {
    const [, at = "", id = ""] = /^([0-9a-z]{1,9})-([0-9a-z]{1,10})$/.exec(text) ?? []
    return at === "" ? undefined : { at: Number.parseInt(at, 36), id: Number.parseInt(id, 36) }
  }
)

/** Kind of a column that a list is ordered by; an instant is epoch milliseconds. */
export type KeyKind = "integer" | "instant" | "text"
export type KeyValue = number | string

/** What the columns of an order hold may be in a cursor, and no more: a forged one is refused without a query. */
const isKey = (kind: KeyKind, value: KeyValue | undefined): boolean =>
  kind === "text"
    ? typeof value === "string" && isStorable(value)
    : typeof value === "number" && Number.isSafeInteger(value) && value >= 0 &&
      (kind === "integer" || value <= lastMoment)

/**
 * Cursors of the columns of an order: numbers as they are typed, or to the base 36; with a text among them base64url of their JSON.
 */
export const cursorsOfKeys = (kinds: ReadonlyArray<KeyKind>, isTyped = false) => {
  const areKeys = (values: ReadonlyArray<KeyValue>): boolean =>
    values.length === kinds.length && kinds.every((kind, index) => isKey(kind, values[index]))
  const checked = (values: ReadonlyArray<KeyValue>) => areKeys(values) ? values : undefined
  if (kinds.includes("text")) {
    const keys = cursorsOfShape(Schema.Array(Schema.Union([Schema.Number, Schema.String])))
    return cursorsOf<ReadonlyArray<KeyValue>>(keys.write, (text) => checked(keys.parse(text) ?? []))
  }
  const base = isTyped ? 10 : 36
  const form = isTyped ? /^[1-9]\d{0,14}$/ : /^[0-9a-z]{1,11}$/
  return cursorsOf<ReadonlyArray<KeyValue>>(
    (values) => values.map((value) => value.toString(base)).join("-"),
    (text) => {
      const parts = text.split("-", kinds.length + 1)
      return parts.every((part) => form.test(part))
        ? checked(parts.map((part) => Number.parseInt(part, base)))
        : undefined
    }
  )
}

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

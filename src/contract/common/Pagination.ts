/** Query fields and response envelopes of lists, by page or by cursor (SPEC section 2.11). */
import { Effect, Option, Result, Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { integer } from "./Fields.ts"

/** Field with a default, both on the wire and in code. */
const withDefault = (value: number) => (field: ReturnType<typeof integer>) =>
  field.pipe(
    Schema.withDecodingDefaultTypeKey(Effect.succeed(value)),
    Schema.withConstructorDefault(Effect.succeed(value))
  )

/** Maximum `page`. */
export const maxPage = 1_000_000

/** Query fields of every paginated list. Default 1 and 25. */
export const pageQuery = {
  page: integer(1, maxPage).pipe(withDefault(1)),
  per_page: integer(1, 100).pipe(withDefault(25))
}

const decodePage = Schema.decodeUnknownResult(Schema.toCodecStringTree(Schema.Struct(pageQuery)))

/** Page asked for by a query of nothing else; undefined for other or wrong queries. */
export const pageAlone = (query: { readonly [name: string]: unknown }) => {
  const isAlone = Object.keys(query).every((name) => Object.hasOwn(pageQuery, name))
  return isAlone ? Option.getOrUndefined(Result.getSuccess(decodePage(query))) : undefined
}

const PageMeta = Schema.Struct({
  current_page: Schema.Int,
  per_page: Schema.Int,
  total: Schema.Int,
  last_page: Schema.Int,
  from: Schema.Int.annotate({ description: "Position of the first item of the page, 0 when it is empty." }),
  to: Schema.Int.annotate({ description: "Position of the last item of the page, 0 when it is empty." })
}).annotate({
  identifier: "PageMeta",
  examples: [{ current_page: 1, per_page: 25, total: 1, last_page: 1, from: 1, to: 1 }]
})

const PageLinks = Schema.Struct({
  first: Schema.String,
  last: Schema.String,
  prev: Schema.NullOr(Schema.String),
  next: Schema.NullOr(Schema.String)
}).annotate({
  identifier: "PageLinks",
  description: "Relative to the base URL.",
  examples: [{ first: "/api/v1/…?page=1", last: "/api/v1/…?page=1", prev: null, next: null }]
})

const cursorOf = (form: RegExp, description: string) =>
  Schema.optionalKey(
    Schema.String.annotate({ description }).check(
      Schema.isPattern(form, { message: "must be empty or a next_cursor of this list" })
    )
  )

const cursorDescription =
  "Walks the list instead of paging it: empty for its beginning, then each next_cursor. Nothing is counted, " +
  "and what is added meanwhile moves nothing. `page` is ignored."

/** Query fields of a list with both pages and cursors. */
export const walkQuery = { ...pageQuery, cursor: cursorOf(/^[0-9a-z]{0,10}$/u, cursorDescription) }

/** Like {@link walkQuery}, for a list ordered by time, then id. */
export const timedWalkQuery = {
  ...pageQuery,
  cursor: cursorOf(/^([0-9a-z]{1,9}-[0-9a-z]{1,10})?$/u, cursorDescription)
}

/** Query fields of a list with cursors only. */
export const partQuery = {
  per_page: pageQuery.per_page,
  cursor: cursorOf(
    /^[\w-]{0,600}$/u,
    "Absent or empty for the beginning, then each next_cursor. Nothing is counted, and what is added meanwhile moves nothing."
  )
}

const nextCursor = Schema.NullOr(Schema.String).annotate({ description: "Null on the last page." })

/** `{"data": item}` */
export const single = <S extends Schema.Top>(item: S) => Schema.Struct({ data: item })

/** {@link single} with status 201. */
export const created = <S extends Schema.Top>(item: S) => single(item).pipe(HttpApiSchema.status(201))

/** `{"data": [item, …]}` */
export const list = <S extends Schema.Top>(item: S) => Schema.Struct({ data: Schema.Array(item) })

/** `{"data": [item, …], "meta": …, "links": …}` */
export const page = <S extends Schema.Top>(item: S) =>
  Schema.Struct({ data: Schema.Array(item), meta: PageMeta, links: PageLinks })

const PageMetaWithCursor = Schema.Struct({
  ...PageMeta.fields,
  total_is_lower_bound: Schema.optionalKey(Schema.Boolean.annotate({
    description: "True when there are more than total: among very many players a search counts only so far."
  })),
  next_cursor: nextCursor
})
  .annotate({
    identifier: "PageMetaWithCursor",
    examples: [{ current_page: 1, per_page: 25, total: 1, last_page: 1, from: 1, to: 1, next_cursor: null }]
  })
const WalkMeta = Schema.Struct({ per_page: Schema.Int, next_cursor: nextCursor }).annotate({
  identifier: "WalkMeta",
  examples: [{ per_page: 25, next_cursor: "11g5" }]
})
const WalkLinks = Schema.Struct({ next: Schema.NullOr(Schema.String) }).annotate({
  identifier: "WalkLinks",
  examples: [{ next: "/api/v1/…?cursor=11g5" }]
})

/** Like {@link page}; with a cursor, without totals. */
export const pageOrWalk = <S extends Schema.Top>(item: S) =>
  Schema.Struct({
    data: Schema.Array(item),
    meta: Schema.Union([PageMetaWithCursor, WalkMeta]),
    links: Schema.Union([PageLinks, WalkLinks])
  })

/** `{"data": [item, …], "meta": …, "links": …}` of {@link partQuery}. */
export const part = <S extends Schema.Top>(item: S) =>
  Schema.Struct({ data: Schema.Array(item), meta: WalkMeta, links: WalkLinks })

/** Query fields of a list with cursors only, newest first. Concurrent inserts do not shift items. */
export const cursorQuery = {
  limit: integer(1, 100).annotate({ description: "Items per page (25)." }).pipe(withDefault(25)),
  cursor: Schema.optionalKey(
    Schema.String.annotate({ description: "The next_cursor of the page before." }).check(
      Schema.isPattern(/^[\w-]{1,600}$/u, { message: "must be a next_cursor of this list" })
    )
  )
}

/** `{"data": [item, …], "meta": {"limit", "next_cursor"}}` of {@link cursorQuery}. */
export const cursorPage = <S extends Schema.Top>(item: S) =>
  Schema.Struct({
    data: Schema.Array(item),
    meta: Schema.Struct({
      limit: Schema.Int,
      next_cursor: Schema.NullOr(Schema.String).annotate({
        description:
          "Null at the end. A page may hold fewer than its limit, even none, where a filter finds little among much: go on."
      })
    })
  })

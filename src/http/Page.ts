/** The envelope of a paginated list (SPEC section 2.11). */
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import type { CursorPage } from "../store/Cursors.ts"
import type { TimedPosition } from "../store/Rows.ts"

interface Position {
  readonly page: number
  readonly per_page: number
}

/** `path?query` of the same list with another value of one of its parameters. */
const linkWith = (url: string, name: string, value: string): string => {
  const [path = "", query = ""] = url.split("?", 2)
  const parameters = new URLSearchParams(query)
  parameters.set(name, value)
  return `${path}?${parameters.toString()}`
}

const linkTo = (url: string, page: number): string => linkWith(url, "page", String(page))

/** Wraps one page of items; links keep the other query parameters. `more`: `total` is a lower bound, and pages go on behind the last one. */
export const paginated = Effect.fnUntraced(function*<Item>(
  position: Position,
  total: number,
  items: ReadonlyArray<Item>,
  more = false
) {
  const { url } = yield* HttpServerRequest.HttpServerRequest
  const { page, per_page: perPage } = position
  const lastPage = Math.max(1, Math.ceil(total / perPage))
  const offset = (page - 1) * perPage
  return {
    data: items,
    meta: {
      current_page: page,
      per_page: perPage,
      total,
      ...(more ? { total_is_lower_bound: true } : {}),
      last_page: lastPage,
      from: items.length === 0 ? 0 : offset + 1,
      to: items.length === 0 ? 0 : offset + items.length
    },
    links: {
      first: linkTo(url, 1),
      last: linkTo(url, lastPage),
      prev: page > 1 ? linkTo(url, Math.min(page - 1, lastPage)) : null,
      next: page < lastPage || more ? linkTo(url, page + 1) : null
    }
  }
})

/** The position of a cursor; undefined for the beginning. */
export const positionOf = (cursor: string): number | undefined =>
  cursor === "" ? undefined : Number.parseInt(cursor, 36)

/** As {@link positionOf}, in a list that goes by time and then by id. */
export const timedPositionOf = (cursor: string): TimedPosition | undefined => {
  const [at, id] = cursor.split("-")
  return at === undefined || id === undefined ? undefined : { at: Number.parseInt(at, 36), id: Number.parseInt(id, 36) }
}

/** A position in a list; a string is a cursor of the list's own form. */
type Cursor = number | string | TimedPosition

const cursorAt = (position: Cursor | undefined): string | null =>
  position === undefined
    ? null
    : typeof position === "string"
    ? position
    : typeof position === "number"
    ? position.toString(36)
    : `${position.at.toString(36)}-${position.id.toString(36)}`

/** As {@link paginated}, with the cursor behind the page. `last` is the position of its last item. */
export const paginatedWithCursor = Effect.fnUntraced(function*<Item>(
  position: Position,
  total: number,
  items: ReadonlyArray<Item>,
  last: Cursor | undefined,
  more = false
) {
  const { data, links, meta } = yield* paginated(position, total, items, more)
  const isLast = meta.current_page >= meta.last_page && !more
  return { data, meta: { ...meta, next_cursor: isLast ? null : cursorAt(last) }, links }
})

/** Wraps a part of a list read by cursor. `next` is the position of the following part. */
export const walked = Effect.fnUntraced(function*<Item>(
  perPage: number,
  items: ReadonlyArray<Item>,
  next: Cursor | undefined
) {
  const { url } = yield* HttpServerRequest.HttpServerRequest
  const cursor = cursorAt(next)
  return {
    data: items,
    meta: { per_page: perPage, next_cursor: cursor },
    links: { next: cursor === null ? null : linkWith(url, "cursor", cursor) }
  }
})

/** The envelope of a list that is only walked. */
export const cursorPaged = <Item>(limit: number, { items, next }: CursorPage<Item>) => ({
  data: items,
  meta: { limit, next_cursor: next }
})

/** Envelope of a paginated list (SPEC section 2.11). */
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { maxPage } from "../contract/common/Pagination.ts"
import { refuseFields } from "../domain/Refusal.ts"
import { mapPart, type Part, type PartQuery } from "../store/Cursors.ts"
import type { Page, PageQuery } from "../store/Rows.ts"
import { splitTarget } from "./RequestTarget.ts"

interface Position {
  readonly page: number
  readonly per_page: number
}

/** `path?query` of the same list with one parameter replaced. */
const linkWith = (url: string, name: string, value: string): string => {
  const { path, query } = splitTarget(url)
  const parameters = new URLSearchParams(query)
  parameters.set(name, value)
  return `${path}?${parameters.toString()}`
}

const linkTo = (url: string, page: number): string => linkWith(url, "page", String(page))

/**
 * Wraps one page of items of the list at `url`; links keep the other query parameters. `more`: `total` is a lower bound, and pages exist after the
 * last one. `furthest`: maximum page in links.
 */
const pageOf = <Item>(
  url: string,
  position: Position,
  { items, more = false, total }: Page<Item>,
  furthest: number
) => {
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
      last: linkTo(url, Math.min(lastPage, furthest)),
      prev: page > 1 ? linkTo(url, Math.min(page - 1, lastPage)) : null,
      next: page < furthest && (page < lastPage || more) ? linkTo(url, page + 1) : null
    }
  }
}

/** Wraps one page of the items of the requested list. */
export const paginated = <Item>(position: Position, total: number, items: ReadonlyArray<Item>) =>
  Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) => pageOf(url, position, { items, total }, maxPage))

/** As `pageOf`, with the cursor after the page. */
export const pageWithCursor = <Row, Item>(
  url: string,
  position: Position,
  found: Page<Row>,
  { cursorAt, toItem }: { readonly cursorAt: (row: Row) => string; readonly toItem: (row: Row) => Item },
  furthest = maxPage
) => {
  const { data, links, meta } = pageOf(url, position, { ...found, items: found.items.map(toItem) }, furthest)
  const last = found.items.at(-1)
  const isLast = last === undefined || (meta.current_page >= meta.last_page && found.more !== true)
  const next = isLast ? null : cursorAt(last)
  return {
    data,
    meta: { ...meta, next_cursor: next },
    links: position.page < furthest || next === null ? links : { ...links, next: linkWith(url, "cursor", next) }
  }
}

/** Wraps a page of a list read by cursor. */
export const walked = Effect.fnUntraced(function*<Item>(perPage: number, { items, next }: Part<Item>) {
  const { url } = yield* HttpServerRequest.HttpServerRequest
  return {
    data: items,
    meta: { per_page: perPage, next_cursor: next },
    links: { next: next === null ? null : linkWith(url, "cursor", next) }
  }
})

/**
 * A list read by page number or by cursor; each page has the cursor after it. `furthest`: maximum page number; lists continue by cursor
 * after it.
 */
export const pagedOrWalked = Effect.fnUntraced(function*<Row, Item, E, R>(
  query: Position & { readonly cursor?: string | undefined },
  list: {
    readonly page: (query: PageQuery) => Effect.Effect<Page<Row>, E, R>
    readonly part: (query: PartQuery) => Effect.Effect<Part<Row>, E, R>
    readonly cursorAt: (row: Row) => string
    readonly toItem: (row: Row) => Item
  },
  furthest = maxPage
) {
  const { url } = yield* HttpServerRequest.HttpServerRequest
  const { cursor, page, per_page: perPage } = query
  if (cursor !== undefined) {
    return yield* walked(perPage, mapPart(yield* list.part({ cursor, limit: perPage }), list.toItem))
  }
  if (page > furthest) return yield* Effect.fail(refuseFields({ page: [`must be between 1 and ${furthest}`] }))
  return pageWithCursor(url, query, yield* list.page({ page, perPage }), list, furthest)
})

/** Envelope of a list read by cursor only, without links. */
export const cursorPaged = <Item>(limit: number, { items, next }: Part<Item>) => ({
  data: items,
  meta: { limit, next_cursor: next }
})

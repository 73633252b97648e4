/** The envelope of a paginated list (SPEC section 2.11). */
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"

interface Position {
  readonly page: number
  readonly per_page: number
}

/** `path?query` of the same list at another page. */
const linkTo = (url: string, page: number): string => {
  const [path = "", query = ""] = url.split("?", 2)
  const parameters = new URLSearchParams(query)
  parameters.set("page", String(page))
  return `${path}?${parameters.toString()}`
}

/** Wraps one page of items; the links keep every other query parameter of the request. */
export const paginated = Effect.fnUntraced(function*<Item>(
  position: Position,
  total: number,
  items: ReadonlyArray<Item>
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
      last_page: lastPage,
      from: items.length === 0 ? 0 : offset + 1,
      to: items.length === 0 ? 0 : offset + items.length
    },
    links: {
      first: linkTo(url, 1),
      last: linkTo(url, lastPage),
      prev: page > 1 ? linkTo(url, Math.min(page - 1, lastPage)) : null,
      next: page < lastPage ? linkTo(url, page + 1) : null
    }
  }
})

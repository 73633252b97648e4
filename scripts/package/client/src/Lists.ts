/** Lists: a page when awaited, every item when iterated. */
import type { CallOptions, Request, Send } from "./Transport.ts"
import { isObject } from "./Transport.ts"

/**
 * A list. As a promise it is the page that the query asks for; `for await` gives every item from there on, and requests a page when the one before is
 * consumed. Nothing is sent before either, and the page once.
 *
 *     const { data, meta } = await client.payments.list({ status: "new" })
 *     for await (const player of client.players.list()) console.log(player.username)
 */
export interface List<Item, Page> extends Pick<Promise<Page>, "then" | "catch" | "finally">, AsyncIterable<Item> {}

/** How a list goes on: not at all, by page number, by cursor, or for ever. */
export type Paging = "list" | "page" | "cursor" | "feed"

type Query = NonNullable<Request["query"]>

interface Page {
  readonly data: ReadonlyArray<unknown>
  readonly meta: { readonly [name: string]: unknown }
}

const pageOf = (answer: unknown): Page => {
  const { data, meta } = isObject(answer) ? answer : {}
  return { data: Array.isArray(data) ? data : [], meta: isObject(meta) ? meta : {} }
}

/** Query of the page after one; undefined after the last. */
const nextQuery = (query: Query, { data, meta }: Page): Query | undefined => {
  const { current_page, last_page, next_cursor } = meta
  if (typeof next_cursor === "string") {
    // a feed always has a cursor: the same one again, and nothing, is its end for now
    return data.length === 0 && next_cursor === query["cursor"]
      ? undefined
      : { ...query, page: undefined, cursor: next_cursor }
  }
  if (next_cursor === undefined && typeof current_page === "number" && current_page < Number(last_page)) {
    return { ...query, page: current_page + 1 }
  }
  return undefined
}

export const makeList = (
  send: Send,
  request: Request & { readonly paging: Paging },
  options: CallOptions = {}
): List<unknown, unknown> => {
  const { paging, ...rest } = request
  const { query = {} } = request
  const ask = (asked: Query) => send({ ...rest, ...options, query: asked })
  let first: Promise<unknown> | undefined
  const page = () => (first ??= ask(query))
  return {
    // oxlint-disable-next-line unicorn/no-thenable -- a list is awaited for its page
    then: (fulfilled, rejected) => page().then(fulfilled, rejected),
    catch: (rejected) => page().catch(rejected),
    finally: (settled) => page().finally(settled),
    async *[Symbol.asyncIterator]() {
      // by cursor nothing is counted, and what is added meanwhile moves nothing
      const isWalk = paging === "cursor" && query["page"] === undefined && query["cursor"] === undefined
      let next: Query | undefined = isWalk ? { per_page: 100, ...query, cursor: "" } : query
      while (next !== undefined) {
        const page = pageOf(await ask(next))
        yield* page.data
        next = nextQuery(next, page)
      }
    }
  }
}

/** Whole lists, page by page, as streams: a page is asked for when the one before it is used up. */
import { Effect, Option, Stream } from "effect"

/**
 * Walks a list by cursor: nothing is counted, and what is added meanwhile neither repeats nor hides an item. The way to read a
 * ledger or all players.
 *
 *     walk((cursor) => operator.wallet.transactions({ params: { player }, query: { cursor, per_page: 100 } })).pipe(
 *       Stream.runForEach(book)
 *     )
 */
export const walk = <Item, E, R>(
  page: (cursor: string) => Effect.Effect<
    { readonly data: ReadonlyArray<Item>; readonly meta: { readonly next_cursor: string | null } },
    E,
    R
  >
): Stream.Stream<Item, E, R> =>
  Stream.paginate(
    "",
    (cursor) => Effect.map(page(cursor), ({ data, meta }) => [data, Option.fromNullishOr(meta.next_cursor)] as const)
  )

/**
 * Reads a list page by page, for lists without a cursor. An item that is added at the front while it is read moves one from the
 * end of a page to the beginning of the next, where it is met again.
 *
 *     pages((page) => operator.games.list({ query: { page, per_page: 100 } }))
 */
export const pages = <Item, E, R>(
  page: (number: number) => Effect.Effect<
    {
      readonly data: ReadonlyArray<Item>
      readonly meta: {
        readonly per_page: number
        readonly current_page?: number
        readonly last_page?: number
        readonly total_is_lower_bound?: boolean
      }
    },
    E,
    R
  >
): Stream.Stream<Item, E, R> =>
  Stream.paginate(
    1,
    (number) =>
      Effect.map(page(number), ({ data, meta }) => {
        // where not all were counted, pages go on behind the last one that is known
        const hasMore = meta.total_is_lower_bound === true || number < (meta.last_page ?? 0)
        return [data, hasMore ? Option.some(number + 1) : Option.none()] as const
      })
  )

/** Reads paginated lists as streams, which request a page when the previous one is consumed. */
import { Effect, Option, Stream } from "effect"

/**
 * Reads a list by cursor: without counting, and without repeated or missing items when the list grows meanwhile. For ledgers and all
 * players.
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
 * Reads a list page by page, for lists without a cursor. An item inserted at the front meanwhile repeats the last item of a page on the next. Lists
 * with a cursor are for {@link walk}: some of them refuse pages beyond the hundredth.
 *
 *     pages((page) => operator.games.list({ query: { page, per_page: 100 } }))
 */
export const pages = <Item, E, R>(
  page: (number: number) => Effect.Effect<
    {
      readonly data: ReadonlyArray<Item>
      readonly meta: { readonly last_page: number; readonly next_cursor?: never }
    },
    E,
    R
  >
): Stream.Stream<Item, E, R> =>
  Stream.paginate(
    1,
    (number) =>
      Effect.map(
        page(number),
        ({ data, meta }) => [data, number < meta.last_page ? Option.some(number + 1) : Option.none()] as const
      )
  )

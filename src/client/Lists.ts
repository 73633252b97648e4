/** Lists as streams that request a page when the previous one is consumed. */
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
 * Reads a list page by page, for lists without a cursor. An item inserted at the front meanwhile repeats the last item of a page on the next. Staff
 * lists of players and payments refuse pages beyond the hundredth, which fails the stream: read them with {@link walk}.
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
        // with a lower bound as total, more pages may follow the last known one
        const hasMore = meta.total_is_lower_bound === true || number < (meta.last_page ?? 0)
        return [data, hasMore ? Option.some(number + 1) : Option.none()] as const
      })
  )

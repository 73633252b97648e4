/**
 * Lists by time over a table that lies about in the order of its time, of which only a block range index (BRIN) knows: rows are read in
 * slices of time from the newest on. Such an index costs a bet nothing, and gives no order: so each slice is read as a whole, and is only
 * so wide that it holds a bounded number of rows.
 */
import { Effect } from "effect"

/** How much is read. */
export interface SliceBounds {
  /** Rows of one slice at most; a wider one is read again in parts. */
  readonly rowsPerSlice: number
  /** Rows looked at for one page, to the slice: a page that ends here is short, and says where to go on. */
  readonly rowsPerPage: number
}

const sliceBounds: SliceBounds = { rowsPerSlice: 5000, rowsPerPage: 20_000 }

/** What one slice gave. */
export interface Slice<out Row> {
  /** Rows in the slice, whether or not they were wanted; one more than asked for means that there are more. */
  readonly seen: number
  /** Those that were wanted, newest first. */
  readonly rows: ReadonlyArray<Row>
}

/** The page, and from when on (epoch milliseconds, exclusive) there is more to look at; undefined: all of it was looked at. */
export interface Sliced<out Row> {
  readonly rows: ReadonlyArray<Row>
  readonly rest: number | undefined
}

/**
 * Before which moment (epoch milliseconds) a page looks that begins at a position: with the position's own moment, unless all of that was looked at,
 * as where a page ended for having looked at enough. `last`: the newest moment that is asked for.
 */
export const untilOf = (
  last: number,
  position: { readonly at: number; readonly isLookedAt: boolean } | undefined
): number => Math.min(last + 1, position === undefined ? Infinity : position.isLookedAt ? position.at : position.at + 1)

const firstWidthMs = 60_000

/** Slices of one page, with empty ones and those that were too wide: enough to go back to 1970 and to find one millisecond. */
export const maxSlices = 64

/**
 * Reads slices `[from, until)` of epoch milliseconds, from `until` back to `floor`, until `wanted` rows are there. `read` gives the rows of a
 * slice, and may stop after `most` of them, wanted or not; without `most` it must not.
 */
export const readSlices = <Row, E, R>(
  { floor, until, wanted }: { readonly until: number; readonly floor: number; readonly wanted: number },
  read: (slice: { readonly from: number; readonly until: number; readonly most: number | undefined }) => Effect.Effect<
    Slice<Row>,
    E,
    R
  >,
  { rowsPerPage, rowsPerSlice }: SliceBounds = sliceBounds
): Effect.Effect<Sliced<Row>, E, R> =>
  Effect.gen(function*() {
    const rows: Array<Row> = []
    let end = until
    let width = firstWidthMs
    let left = rowsPerPage
    // between it and `end` there are more rows than a slice may hold: what is grown again after sparse slices only halves the way
    let dense = -Infinity
    for (let slices = 0; end > floor; slices++) {
      if (rows.length >= wanted || left <= 0 || slices >= maxSlices) return { rows, rest: end }
      const from = Math.max(floor, Math.floor(end - width))
      // what happened within a millisecond is read as a whole: there are no narrower slices
      const most = end - from > 1 ? rowsPerSlice : undefined
      const slice = yield* read({ from, until: end, most })
      if (most !== undefined && slice.seen > most) {
        dense = from
        width = Math.max(1, Math.floor((end - from) / 16))
        continue
      }
      left -= slice.seen
      rows.push(...slice.rows)
      end = from
      // as wide as holds three quarters of what a slice may hold, if rows lie as they did in this one
      width *= Math.min(16, Math.max(1, (0.75 * rowsPerSlice) / Math.max(1, slice.seen)))
      const isSparse = slice.seen < rowsPerSlice / 16
      if (isSparse && dense < end) width = Math.min(width, Math.max(1, Math.ceil((end - dense) / 2)))
    }
    return { rows, rest: undefined }
  })

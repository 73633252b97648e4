/**
 * Lists by time over a table that is roughly in time order and has only a block range index (BRIN), which costs bets nothing but gives no order. Rows
 * are read period by period, newest first: each period (slice) is read whole and sorted, and is only long enough to hold a bounded number of rows.
 */
import { Effect } from "effect"

/** Bounds of the rows read. */
export interface SliceBounds {
  /** Maximum rows of one slice; a wider one is read again in parts. */
  readonly rowsPerSlice: number
  /** Maximum rows examined for one page, to the slice: the page is then short and has a cursor to continue from. */
  readonly rowsPerPage: number
}

const sliceBounds: SliceBounds = { rowsPerSlice: 5000, rowsPerPage: 20_000 }

/** Result of one slice. */
export interface Slice<out Row> {
  /** Rows in the slice, matching or not; one more than requested means that there are more. */
  readonly seen: number
  /** Matching rows, newest first. */
  readonly rows: ReadonlyArray<Row>
}

/** Page, and the instant (epoch milliseconds, exclusive) to continue before; undefined when all was examined. */
export interface Sliced<out Row> {
  readonly rows: ReadonlyArray<Row>
  readonly rest: number | undefined
}

/**
 * Exclusive end (epoch milliseconds) of a page that begins at a position: includes the position's own millisecond, unless that was already examined
 * completely, as when the page reached its bound. `last`: the newest instant requested.
 */
export const untilOf = (
  last: number,
  position: { readonly at: number; readonly isDone: boolean } | undefined
): number => Math.min(last + 1, position === undefined ? Infinity : position.isDone ? position.at : position.at + 1)

const firstWidthMs = 60_000

/** Maximum slices per page, including empty and too wide ones: enough to go back to 1970 and to narrow down to one millisecond. */
export const maxSlices = 64

/**
 * Reads slices `[from, until)` of epoch milliseconds, from `until` back to `floor`, until `wanted` rows are found. `read` returns the rows of a
 * slice, and may stop after `max` of them, matching or not; without `max` it must not.
 */
export const readSlices = <Row, E, R>(
  { floor, until, wanted }: { readonly until: number; readonly floor: number; readonly wanted: number },
  read: (slice: { readonly from: number; readonly until: number; readonly max: number | undefined }) => Effect.Effect<
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
    // between it and `end` there are more rows than a slice may hold: widening after sparse slices only halves the distance
    let dense = -Infinity
    for (let slices = 0; end > floor; slices++) {
      if (rows.length >= wanted || left <= 0 || slices >= maxSlices) return { rows, rest: end }
      const from = Math.max(floor, Math.floor(end - width))
      // a single millisecond is read whole: there are no narrower slices
      const max = end - from > 1 ? rowsPerSlice : undefined
      const slice = yield* read({ from, until: end, max })
      if (max !== undefined && slice.seen > max) {
        dense = from
        width = Math.max(1, Math.floor((end - from) / 16))
        continue
      }
      left -= slice.seen
      rows.push(...slice.rows)
      end = from
      // targets three quarters of the maximum, assuming the density of this slice
      width *= Math.min(16, Math.max(1, (0.75 * rowsPerSlice) / Math.max(1, slice.seen)))
      const isSparse = slice.seen < rowsPerSlice / 16
      if (isSparse && dense < end) width = Math.min(width, Math.max(1, Math.ceil((end - dense) / 2)))
    }
    return { rows, rest: undefined }
  })

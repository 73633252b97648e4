/**
 * Change of a player's jurisdiction: stricter rules and the new exclusion types and periods apply at once, looser rules only after the wait of a
 * limit raise.
 */
import { differencesOf, stricterOf } from "./Differences.ts"
import type { Moved, Rules } from "./Rules.ts"

interface MovedColumns {
  readonly movedFrom: string | null
  /** Epoch milliseconds. */
  readonly looserFrom: number | null
}

/** Whether something besides the breaks is looser in the other jurisdiction. */
export const isLooserElsewhere = (before: Rules, elsewhere: Rules): boolean =>
  differencesOf(before, elsewhere).some(({ effect, path }) => effect === "looser" && !path.startsWith("breaks."))

/** The move that the columns of a player's row hold; null where they hold none. */
export const movedOf = ({ looserFrom: until, movedFrom: from }: MovedColumns): Moved | null =>
  from === null || until === null ? null : { from, until }

/** What counts for a player of `elsewhere` until what is looser there than `before` may. */
export const rulesWhileMoving = (before: Rules, elsewhere: Rules, moved: Moved): Rules => ({
  ...stricterOf(before, elsewhere),
  breaks: elsewhere.breaks,
  version: elsewhere.version,
  terms: elsewhere.terms,
  moved
})

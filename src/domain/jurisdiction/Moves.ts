/**
 * Change of a player's jurisdiction: stricter rules and the new exclusion types and periods apply at once, looser rules only after the wait of a
 * limit raise.
 */
import { differencesOf, stricterOf } from "./Differences.ts"
import { after } from "./Duration.ts"
import type { Profile } from "./Profile.ts"
import type { Moved, Rules } from "./Rules.ts"

const dayMs = 86_400_000

interface MovedColumns {
  readonly movedFrom: string | null
  /** Epoch milliseconds. */
  readonly looserFrom: number | null
}

/** When what is looser may count: as a raise of a limit would, after the longest wait that there is. */
export const looserFrom = (from: number, before: Profile, coolingOffHours: number): number =>
  Math.max(
    after(before.limits.raise.wait ?? "PT0S", from),
    from + Math.max(dayMs, coolingOffHours * 3_600_000)
  )

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

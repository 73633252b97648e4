/** When a new value of a limit is in force: a stricter one at once, a looser one after the operator's cooling-off period (SPEC section 3.6). */

/** No limit is the loosest. */
const isLooser = (value: number | null, current: number | null): boolean =>
  current !== null && (value === null || value > current)

/**
 * When a new value of one limit is in force: undefined for at once, epoch milliseconds for a raise, which waits for the cooling-off period; an identical
 * raise that waits already keeps its time. Staff are told it before they ask for it.
 */
export const raisedAt = (
  { current, value, waiting }: {
    readonly current: number | null
    readonly value: number | null
    readonly waiting?: { readonly value: number | null; readonly effectiveAt: number } | undefined
  },
  coolingOffHours: number,
  now: number
): number | undefined =>
  coolingOffHours === 0 || !isLooser(value, current)
    ? undefined
    : waiting !== undefined && waiting.value === value
    ? waiting.effectiveAt
    : now + coolingOffHours * 3_600_000

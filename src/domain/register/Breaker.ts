/**
 * Circuit breaker of a register of excluded players: after five failures in a row it is not asked for ten seconds, then one question probes it. What
 * a player may do without an answer is the jurisdiction's rule. Pure; times are epoch milliseconds.
 */

const failuresToOpen = 5
const openMs = 10_000

export interface Breaker {
  /** Failures since the last proper answer. */
  readonly failures: number
  /** Until then nothing is asked; null while it is closed. */
  readonly openUntil: number | null
}

export const closedBreaker: Breaker = { failures: 0, openUntil: null }

/** Whether a question may be asked at `now`, and the breaker after that: an open one lets one through and stays open until its end. */
export const admit = (breaker: Breaker, now: number): { readonly isAdmitted: boolean; readonly breaker: Breaker } => {
  if (breaker.openUntil === null) return { isAdmitted: true, breaker }
  // a clock that was set back does not keep it open for longer
  const isOver = now >= breaker.openUntil || now < breaker.openUntil - openMs
  return isOver
    ? { isAdmitted: true, breaker: { ...breaker, openUntil: now + openMs } }
    : { isAdmitted: false, breaker }
}

/** The breaker after a question that ended at `now`. */
export const noted = (breaker: Breaker, isAnswered: boolean, now: number): Breaker => {
  if (isAnswered) return closedBreaker
  const failures = breaker.failures + 1
  return { failures, openUntil: failures >= failuresToOpen ? now + openMs : null }
}

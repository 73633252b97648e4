/**
 * Time that two clocks agree on, the process's and PostgreSQL's (`docs/decisions/0016-scheduler.md`). Between two readings it goes on by the monotonic
 * clock, so that setting either of them changes nothing.
 */

/** Three clocks, read at one moment; milliseconds. */
export interface Reading {
  /** The process's, since the epoch. */
  readonly processMs: number
  /** PostgreSQL's, since the epoch. */
  readonly databaseMs: number
  /** Of the machine, never set; goes on while the machine sleeps. */
  readonly monotonicMs: number
}

export interface AgreedTime {
  /** Epoch milliseconds of the time in use, less the monotonic ones. */
  readonly sinceEpochMs: number
  /** Whether both clocks agreed with the time in use at the last reading. */
  readonly isAgreed: boolean
  /** The process's clock less PostgreSQL's. */
  readonly offsetMs: number
  /** Monotonic time since which both agree with one another and not with the time in use. */
  readonly otherSince: number | undefined
}

/** Time in ms after which a time other than the expected one is believed, when both clocks say so: a clock set by mistake is set back within minutes. */
export const settledAfterMs = 300_000

/**
 * First reading. Clocks that agree are believed. Of two that do not, the earlier one that is not before `knownMs`, the newest time in the database: time
 * does not go back, and what is late can be made up for.
 */
export const beginTime = (reading: Reading, knownMs: number, toleranceMs: number): AgreedTime => {
  const { databaseMs, monotonicMs, processMs } = reading
  const offsetMs = processMs - databaseMs
  const isAgreed = Math.abs(offsetMs) <= toleranceMs
  const [earlier, later] = [Math.min(processMs, databaseMs), Math.max(processMs, databaseMs)]
  const believed = isAgreed ? databaseMs : earlier >= knownMs - toleranceMs ? earlier : later
  return { sinceEpochMs: believed - monotonicMs, isAgreed, offsetMs, otherSince: undefined }
}

/** Next reading: follows PostgreSQL while both clocks are near the time in use, and a time that both have agreed on for long enough. */
export const followTime = (time: AgreedTime, reading: Reading, toleranceMs: number): AgreedTime => {
  const { databaseMs, monotonicMs, processMs } = reading
  const expected = time.sinceEpochMs + monotonicMs
  const offsetMs = processMs - databaseMs
  const isNear = Math.abs(databaseMs - expected) <= toleranceMs
  const agreeWithOneAnother = Math.abs(offsetMs) <= toleranceMs
  const otherSince = agreeWithOneAnother && !isNear ? time.otherSince ?? monotonicMs : undefined
  const isSettled = otherSince !== undefined && monotonicMs - otherSince >= settledAfterMs
  return {
    sinceEpochMs: isNear || isSettled ? databaseMs - monotonicMs : time.sinceEpochMs,
    isAgreed: agreeWithOneAnother && (isNear || isSettled),
    offsetMs,
    otherSince: isSettled ? undefined : otherSince
  }
}

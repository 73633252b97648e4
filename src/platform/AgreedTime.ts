/**
 * Time on which two clocks agree, the process's and PostgreSQL's (`docs/decisions/0016-scheduler.md`). Between two readings it advances by the
 * monotonic clock, so that setting either clock changes nothing. A deviation is corrected gradually, so that time never goes back.
 */

/** Three clocks, read at one moment; milliseconds. */
export interface Reading {
  /** The process's, since the epoch. */
  readonly processMs: number
  /** PostgreSQL's, since the epoch. */
  readonly databaseMs: number
  /** Of the machine, never set; goes on while the machine sleeps. */
  readonly monotonicMs: number
  /** Time that the question to PostgreSQL took: its answer is of any moment within half of it before and after. */
  readonly tookMs: number
}

/** Times in the database at the first reading; 0 without one. */
export interface KnownTimes {
  /** The newest. */
  readonly newestMs: number
  /** The newest that was settled. */
  readonly settledMs: number
}

export interface AgreedTime {
  /** Epoch milliseconds of the time in use at `sinceMs`. */
  readonly startMs: number
  /** Monotonic time of the last change. */
  readonly sinceMs: number
  /** What PostgreSQL's time was ahead at the last change: made up for since. */
  readonly gapMs: number
  /** Whether both clocks agreed with the time in use at the last reading. */
  readonly isAgreed: boolean
  /** The process's clock less PostgreSQL's. */
  readonly offsetMs: number
  /** Monotonic time since which both agree with one another and not with the time in use. */
  readonly otherSince: number | undefined
  readonly known: KnownTimes
  /** Monotonic time from which on the time in use is settled: known from before, or agreed on for long enough. */
  readonly settledFromMs: number
}

/**
 * Time in ms after which a time other than the expected one is believed, when both clocks say so: a clock set by mistake is set back within minutes. At
 * the first reading a time this near to the known one is the expected one.
 */
export const settledAfterMs = 300_000

/** Share by which the time in use is faster or slower than the monotonic clock while it makes up for a difference: a second takes twenty. */
export const slewRate = 0.05

/** Part of the difference that has been made up for after a time. */
const madeUp = (gapMs: number, elapsedMs: number): number =>
  Math.min(Math.abs(gapMs), elapsedMs * slewRate) * Math.sign(gapMs)

/** Time in use at a monotonic time, epoch milliseconds with fractions. It never decreases, but for {@link stepTime}. */
export const timeAt = ({ gapMs, sinceMs, startMs }: AgreedTime, monotonicMs: number): number => {
  const elapsedMs = monotonicMs - sinceMs
  return startMs + (elapsedMs + madeUp(gapMs, elapsedMs))
}

/**
 * First reading. Clocks that agree are believed. Of two that do not, the earlier one that is not before the newest time in the database:
 * time does not go back, and what is late can be made up for. A time far from the newest settled one is not settled at once: both clocks may have been set.
 */
export const beginTime = (reading: Reading, known: KnownTimes, toleranceMs: number): AgreedTime => {
  const { databaseMs, monotonicMs, processMs } = reading
  const offsetMs = processMs - databaseMs
  const isAgreed = Math.abs(offsetMs) <= toleranceMs
  const [earlier, later] = [Math.min(processMs, databaseMs), Math.max(processMs, databaseMs)]
  const believed = isAgreed ? databaseMs : earlier >= known.newestMs - toleranceMs ? earlier : later
  const isExpected = known.settledMs === 0 || Math.abs(believed - known.settledMs) <= settledAfterMs
  return {
    startMs: believed,
    sinceMs: monotonicMs,
    gapMs: 0,
    isAgreed,
    offsetMs,
    otherSince: undefined,
    known,
    settledFromMs: isExpected ? monotonicMs : monotonicMs + settledAfterMs
  }
}

/** Takes PostgreSQL's time of a reading at once, at the monotonic time `atMs`. */
const stepTime = (time: AgreedTime, { databaseMs, monotonicMs }: Reading, atMs: number): AgreedTime => ({
  ...time,
  startMs: databaseMs + (atMs - monotonicMs),
  sinceMs: atMs,
  gapMs: 0
})

const isNear = (time: AgreedTime, { databaseMs, monotonicMs }: Reading, toleranceMs: number): boolean =>
  Math.abs(databaseMs - timeAt(time, monotonicMs)) <= toleranceMs

/** Takes PostgreSQL's time, although the process's clock does not agree. Within the tolerance it is followed slowly anyway. */
export const believeReading = (time: AgreedTime, reading: Reading, atMs: number, toleranceMs: number): AgreedTime =>
  isNear(time, reading, toleranceMs) ? time : stepTime(time, reading, atMs)

/**
 * Next reading, taken into account from the monotonic time `atMs` on: follows PostgreSQL slowly while it is near the time in use, and only as far
 * as the reading is certain; takes at once a time that both clocks have agreed on for long enough, or another one than what is not settled yet.
 */
export const followTime = (time: AgreedTime, reading: Reading, atMs: number, toleranceMs: number): AgreedTime => {
  const { databaseMs, monotonicMs, processMs, tookMs } = reading
  const offsetMs = processMs - databaseMs
  const isNearNow = isNear(time, reading, toleranceMs)
  const agreeWithOneAnother = Math.abs(offsetMs) <= toleranceMs
  const isSettled = monotonicMs >= time.settledFromMs
  if (!isSettled && agreeWithOneAnother && !isNearNow) return beginTime(reading, time.known, toleranceMs)
  const isAgreed = agreeWithOneAnother && isNearNow
  const otherSince = agreeWithOneAnother && !isNearNow ? time.otherSince ?? monotonicMs : undefined
  if (otherSince !== undefined && monotonicMs - otherSince >= settledAfterMs) {
    return { ...stepTime(time, reading, atMs), isAgreed: true, offsetMs, otherSince: undefined }
  }
  const uncertaintyMs = tookMs / 2
  const leftMs = time.gapMs - madeUp(time.gapMs, atMs - time.sinceMs)
  const measuredMs = databaseMs + (atMs - monotonicMs) - timeAt(time, atMs)
  return {
    startMs: timeAt(time, atMs),
    sinceMs: atMs,
    // any difference within the uncertainty may be the true one: the one that is being made up for stands
    gapMs: isNearNow ? Math.min(Math.max(leftMs, measuredMs - uncertaintyMs), measuredMs + uncertaintyMs) : 0,
    isAgreed,
    offsetMs,
    otherSince,
    known: time.known,
    settledFromMs: isAgreed || isSettled ? time.settledFromMs : monotonicMs + settledAfterMs
  }
}

/** Rules of staff sessions and staff sign-in. Pure: instants are epoch milliseconds. */

const minuteMs = 60_000

/** For how long a second factor lets money be moved and authority be changed. */
export const stepUpMs = 5 * minuteMs

/** How often the last use of a session is written down. */
export const seenEveryMs = minuteMs

/** How long a sign-in link is good. */
export const ticketMs = 15 * minuteMs

/** Sessions of one account: one more ends the oldest. */
export const maxSessions = 20

/** Failures in a row that cost nothing; from then on each doubles the wait, up to the longest. */
const freeFailures = 5
const longestWaitMs = 5 * minuteMs

/** Failures are forgotten after so long without one. */
export const failuresForgottenMs = 60 * minuteMs

export interface Attempts {
  readonly failures: number
  readonly lastAt: number
}

/** Remaining back-off after failed attempts, ms. */
export const waitLeftMs = ({ failures, lastAt }: Attempts, now: number): number => {
  if (failures < freeFailures || now - lastAt > failuresForgottenMs) return 0
  const wait = Math.min(longestWaitMs, 1000 * 2 ** Math.min(20, failures - freeFailures))
  // never longer than the wait itself, should the clock have been set back
  return Math.min(wait, Math.max(0, lastAt + wait - now))
}

/** The failures once there is another attempt: it counts as failed until it has succeeded. */
export const failuresAfter = ({ failures, lastAt }: Attempts, now: number): number =>
  now - lastAt > failuresForgottenMs ? 1 : failures + 1

export interface SessionTimes {
  readonly lastSeenAt: number
  readonly expiresAt: number
}

/** When a session ends unless it is used again. */
export const idleEnd = ({ expiresAt, lastSeenAt }: SessionTimes, idleMs: number): number =>
  Math.min(expiresAt, lastSeenAt + idleMs)

export const isOver = (times: SessionTimes, idleMs: number, now: number): boolean => idleEnd(times, idleMs) <= now

/** Until when the second factor counts; undefined when it does not. */
export const steppedUpUntil = (secondFactorAt: number | null, now: number): number | undefined =>
  secondFactorAt !== null && secondFactorAt + stepUpMs > now ? secondFactorAt + stepUpMs : undefined

export const cookieName = "pitboss_session"

/** The value of a cookie in a `Cookie` header; undefined when it is missing, twice there, or of another form than ours. */
export const cookieIn = (header: string | undefined, name: string): string | undefined => {
  if (header === undefined) return undefined
  const values = header.split(";").map((pair) => pair.trim()).filter((pair) => pair.startsWith(`${name}=`))
  const value = values[0]?.slice(name.length + 1)
  return values.length === 1 && value !== undefined && /^[\w.~-]{1,4000}$/.test(value) ? value : undefined
}

/** Characters of a user agent that are kept. */
const maxUserAgent = 200

/** User agent as stored: truncated, without control characters. */
export const userAgentOf = (header: string | undefined): string =>
  (header ?? "").replaceAll(/[^\x20-\x7e]/g, "?").slice(0, maxUserAgent)

/** Origin of a request by headers that a page of another origin cannot set. */
export interface RequestSource {
  readonly origin: string | undefined
  readonly host: string | undefined
  readonly requestedWith: string | undefined
}

/** Own origin: that of `BACKOFFICE_URL`, or of the Host header, which was validated before. */
const isOwnOrigin = ({ host, origin }: RequestSource, backofficeUrl: string | undefined): boolean =>
  origin !== undefined && (origin === backofficeUrl || (host !== undefined && origin === `http://${host}`))

/** Whether a request that a cookie speaks for was made by a page of ours. A browser adds the cookie to any request; not the header. */
export const isOwnRequest = (source: RequestSource, backofficeUrl: string | undefined): boolean =>
  source.requestedWith === "pitboss" || isOwnOrigin(source, backofficeUrl)

/** Whether a page of another origin sent the request. Clients other than browsers send no Origin. */
export const isForeign = (source: RequestSource, backofficeUrl: string | undefined): boolean =>
  source.origin !== undefined && !isOwnRequest(source, backofficeUrl)

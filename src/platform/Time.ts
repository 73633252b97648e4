/** Conversions of instants: epoch milliseconds inside the service, `Date` in SQL, ISO text on the wire. */

/** `2026-11-20T12:00:00.000Z`, the form of every timestamp on the wire. */
export const iso = (ms: number): string => new Date(ms).toISOString()

/** The day of an instant in UTC, as `2026-11-20`. `ms`: epoch milliseconds. */
export const utcDay = (ms: number): string => iso(ms).slice(0, 10)

/** Whether nightly jobs run: in the first six hours of a day, UTC. */
export const isNight = (now: number): boolean => new Date(now).getUTCHours() < 6

/** Like {@link iso}, null for null. */
export const isoOrNull = (ms: number | null): string | null => ms === null ? null : iso(ms)

/** As a `timestamptz` parameter or column value. */
export const toDate = (ms: number): Date => new Date(ms)

/** Milliseconds of a `timestamptz` column. */
export const fromDate = (date: Date): number => date.getTime()

/** Milliseconds of an ISO 8601 text; undefined when invalid. */
export const parseIso = (text: string): number | undefined => {
  const ms = Date.parse(text)
  return /^\d{4}-\d{2}-\d{2}/.test(text) && Number.isFinite(ms) ? ms : undefined
}

/** Instants from one to another, both included, in epoch milliseconds; without one it has no bound there. */
export interface Period {
  readonly from?: number | undefined
  readonly to?: number | undefined
}

/** Period of two ISO 8601 texts. */
export const periodOf = (
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined }
): Period => ({
  from: from === undefined ? undefined : parseIso(from),
  to: to === undefined ? undefined : parseIso(to)
})

/** Data subject requests: types, statuses, and the month within which they are due. */
import { addMonths } from "../jurisdiction/Duration.ts"

export const dataRequestTypes = ["access", "erasure"] as const

export type DataRequestType = (typeof dataRequestTypes)[number]

/** `refused`: staff found that the request is not to be met. */
export const dataRequestStatuses = ["open", "completed", "refused"] as const

/** Until when a request that came `at` has to be met: a month of the calendar. Epoch milliseconds. */
export const dataRequestDue = (at: number): number => addMonths(at, 1)

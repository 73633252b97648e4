/** The session of the request, for the handlers of one's own account. */
import { Context } from "effect"

/** A session in a browser that lasts. Instants are epoch milliseconds. */
export interface StaffSession {
  readonly id: number
  readonly lastSeenAt: number
  readonly expiresAt: number
  /** When the second factor was last shown; null: never in this session. */
  readonly secondFactorAt: number | null
  readonly hasSecondFactor: boolean
}

/** Undefined: the request came with a bearer token. */
export const CurrentSession = Context.Reference<StaffSession | undefined>("pitboss/staffSessions/CurrentSession", {
  defaultValue: () => undefined
})

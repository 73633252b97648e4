/** Staff session of the current request, and whether it has passed the second factor. */
import { Context } from "effect"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { steppedUpUntil } from "./Rules.ts"

/** A session in a browser that lasts. Instants are epoch milliseconds. */
export interface StaffSession {
  readonly id: number
  readonly lastSeenAt: number
  readonly expiresAt: number
  /** When the second factor was last shown; null: never in this session. */
  readonly secondFactorAt: number | null
  readonly hasSecondFactor: boolean
  /** Whether it goes back to a bearer token of its own account. */
  readonly isOfToken: boolean
}

/** Undefined: the request came with a bearer token. */
export const CurrentSession = Context.Reference<StaffSession | undefined>("pitboss/staffSessions/CurrentSession", {
  defaultValue: () => undefined
})

const stepUpFirst = refuse(
  "INSUFFICIENT_SCOPE",
  "Confirm with your second factor again: this action requires that within the last five minutes.",
  {
    reason: "step_up_required"
  }
)
const secondFactorFirst = refuse(
  "INSUFFICIENT_SCOPE",
  "This action requires a second factor. Set one up for your account, or sign in again through the identity provider.",
  { reason: "second_factor_required" }
)
/**
 * Refusal of an action that needs the second factor at `now` (epoch ms); undefined when allowed, and for tokens, since scripts have no second
 * factor.
 */
export const secondFactorRefusal = (
  session: StaffSession | undefined,
  now: number
): Refusal<"INSUFFICIENT_SCOPE"> | undefined =>
  session === undefined || steppedUpUntil(session.secondFactorAt, now) !== undefined
    ? undefined
    : session.hasSecondFactor
    ? stepUpFirst
    : secondFactorFirst

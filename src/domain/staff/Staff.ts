/** Roles of staff accounts; the staff contract declares the actions of each. */
export const roles = ["admin", "support", "payments", "compliance"] as const

export type Role = (typeof roles)[number]

/**
 * Reason for a failed sign-in by identity provider: too many attempts, no role or a disabled account, a role or
 * operators that would leave no admin of all operators, the provider failed, or this service is unavailable.
 */
export type SignInProblem = "wait" | "role" | "last_admin" | "provider" | "unavailable"

/** A read that leaves a line in the audit log. */
export interface StaffRead {
  readonly action: string
  /** What it gives away: records that tell of players, a document or a stream of events. */
  readonly kind: "personal" | "document" | "events"
  /** Names of the query's filters. */
  readonly filters: ReadonlyArray<string>
}

/** Roles of staff accounts: the actions that each may take are listed in `features/staff/Authorisation.ts`. */
export const roles = ["admin", "support", "payments", "compliance"] as const

export type Role = (typeof roles)[number]

/**
 * Why a link or an identity provider did not sign somebody in: the link is used or too old, too many attempts, no role or a switched-off account, a
 * role or operators that would leave no admin of all operators, the provider, or this service.
 */
export type SignInProblem = "link" | "wait" | "role" | "last_admin" | "provider" | "unavailable"

/** Roles of staff accounts: the actions that each may take are listed in `features/staff/Authorisation.ts`. */
export const roles = ["admin", "support", "payments", "compliance"] as const

export type Role = (typeof roles)[number]

/** Accounts that alerts can be assigned to, as far as the user may see them. */
import { useMemo } from "react"
import type { Data } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { usePermission, useSession } from "../app/session.tsx"

interface Accounts {
  /** Empty without permission to list accounts. */
  readonly accounts: Data<"staff.list">
  /** Id of the user's own account; null for a token without an account. */
  readonly own: number | null | undefined
  /** Display name of an assignee. */
  readonly nameOf: (id: number | null) => string
}

export const useAccounts = (): Accounts => {
  const may = usePermission()
  const session = useSession()
  const own = session?.staff.id
  const answer = useAnswer("staff.list", {}, { enabled: may("staff.list") }).data?.data
  return useMemo(() => {
    const accounts = answer ?? []
    const names = new Map(accounts.map(({ id, name }) => [id, name]))
    return {
      accounts,
      own,
      nameOf: (id) => id === null ? "nobody" : id === own ? "you" : names.get(id) ?? `account ${id}`
    }
  }, [answer, own])
}

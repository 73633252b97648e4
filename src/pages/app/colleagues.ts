/** Names of staff, for what is recorded by the label of an account. */
import { useMemo } from "react"
import type { Data } from "./api.ts"
import { useAnswer } from "./queries.ts"
import { usePermission, useSession } from "./session.tsx"

interface Colleagues {
  readonly colleagues: Data<"staff.colleagues">
  /** Id of the user's own account; null for a token without an account. */
  readonly own: number | null | undefined
  /** Who is assigned, by id. */
  readonly nameOf: (id: number | null) => string
  /** Who acted, by the label in the audit log: `staff:12`. One that is no account's is shown as it is. */
  readonly actorOf: (label: string) => string
}

export const useColleagues = (): Colleagues => {
  const may = usePermission()
  const own = useSession()?.staff.id
  const answer = useAnswer("staff.colleagues", {}, { enabled: may("staff.colleagues") }).data?.data
  return useMemo(() => {
    const colleagues = answer ?? []
    const names = new Map(colleagues.map(({ id, name }) => [id, name]))
    const nameOf = (id: number | null) => id === null ? "nobody" : id === own ? "you" : names.get(id) ?? `account ${id}`
    return {
      colleagues,
      own,
      nameOf,
      actorOf: (label) => {
        const id = /^staff:(\d+)$/u.exec(label)?.[1]
        return id === undefined ? label : names.get(Number(id)) ?? label
      }
    }
  }, [answer, own])
}

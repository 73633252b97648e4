/** Names of staff and operators, shown in place of ids and audit log labels. */
import { useMemo } from "react"
import type { Data } from "./api.ts"
import { useAnswer } from "./queries.ts"
import { useOperators, usePermission, useSession } from "./session.tsx"

interface Colleagues {
  readonly colleagues: Data<"staff.colleagues">
  /** Id of the user's own account; null for a token without an account. */
  readonly own: number | null | undefined
  /** Who is assigned, by id. */
  readonly nameOf: (id: number | null) => string
  /** Who acted, by the label in the audit log: `staff:12`, `operator:3`, `key:…`. What the service does by itself is shown as it is. */
  readonly actorOf: (label: string) => string
}

export const useColleagues = (): Colleagues => {
  const may = usePermission()
  const own = useSession()?.staff.id
  const operators = useOperators()
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
        const [, kind, id = ""] = /^(\w+):(.+)$/u.exec(label) ?? []
        switch (kind) {
          case "staff":
            return id === "bootstrap" ? "Bootstrap token" : names.get(Number(id)) ?? label
          case "operator":
            return operators.find((one) => one.id === Number(id))?.name ?? label
          case "key":
            return `API key ${id}`
          case "player":
            return `Player ${id}`
          default:
            return label
        }
      }
    }
  }, [answer, operators, own])
}

/** Audit log: actor, action, and the states before and after. */
import { useMemo } from "react"
import { endpoints } from "virtual:staff-api"
import { useColleagues } from "../app/colleagues.ts"
import { filtersOf, ListPage } from "../parts/ListPage.tsx"
import { useAuditLines } from "./auditLines.tsx"

/** Everything that staff can do or read, by the name that a line has. */
const actions = Object.keys(endpoints).toSorted()

export default function AuditPage() {
  const { colleagues } = useColleagues()
  const filters = useMemo(() =>
    filtersOf("audit.list", {
      action: { kind: "choice", options: actions, width: 200 },
      staff: {
        kind: "choice",
        label: "Staff",
        options: [
          ...colleagues.map(({ id, name }) => ({ value: String(id), label: name })),
          { value: "bootstrap", label: "Bootstrap token" }
        ]
      }
    }, ["player", "staff", "action"]), [colleagues])
  const { columns, details } = useAuditLines({ ofPlayer: false })
  return (
    <>
      <ListPage
        heading="Audit log"
        action="audit.list"
        paging="walk"
        filters={filters}
        columns={columns}
        empty="Nothing yet. Every change that staff make, and every reading of personal data, leaves a line here."
      />
      {details}
    </>
  )
}

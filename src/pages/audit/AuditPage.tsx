/** Audit log: actor, action, and the states before and after. */
import { type Filter, ListPage, operatorFilter } from "../parts/ListPage.tsx"
import { useAuditLines } from "./auditLines.tsx"

const filters: ReadonlyArray<Filter> = [
  { name: "action", label: "Action", kind: "text", width: 180 },
  { name: "staff", label: "Staff id", kind: "text", width: 100 },
  { name: "player", label: "Player id", kind: "text", width: 120 },
  operatorFilter,
  { name: "from", label: "From", kind: "date", width: 140 },
  { name: "to", label: "Before", kind: "date", width: 140 }
]

export default function AuditPage() {
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

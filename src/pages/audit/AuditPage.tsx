/** Audit log: actor, action, and the states before and after. */
import { filtersOf, ListPage } from "../parts/ListPage.tsx"
import { useAuditLines } from "./auditLines.tsx"

const filters = filtersOf("audit.list", { action: { width: 180 } })

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

/** Players: found as one types. */
import type { Row } from "../app/api.ts"
import { useOperatorOf } from "../app/session.tsx"
import type { Column } from "../parts/DataTable.tsx"
import { type Filter, ListPage } from "../parts/ListPage.tsx"
import { Instant, PageLink, Status } from "../parts/Values.tsx"

const filters: ReadonlyArray<Filter> = [
  { name: "search", label: "Search", kind: "text", width: 220 },
  { name: "status", label: "Status", kind: "choice", options: ["active", "suspended", "closed"] },
  { name: "kyc_status", label: "KYC", kind: "choice", options: ["none", "pending", "verified", "rejected"] },
  { name: "operator", label: "Operator", kind: "operator" }
]

export default function PlayersPage() {
  const operatorOf = useOperatorOf()
  const columns: ReadonlyArray<Column<Row<"player.list">>> = [
    { id: "id", header: "Id", cell: ({ id }) => <PageLink to={`/players/${id}`}>{String(id)}</PageLink> },
    { id: "username", header: "Username", cell: ({ username }) => username },
    { id: "email", header: "E-mail", cell: ({ email }) => email },
    { id: "operator", header: "Operator", cell: ({ operator_id: operator }) => operatorOf(operator).name },
    { id: "status", header: "Status", cell: ({ status }) => <Status of={status} /> },
    { id: "created", header: "Registered", cell: ({ created_at: at }) => <Instant at={at} seconds={false} /> }
  ]
  return (
    <ListPage
      heading="Players"
      action="player.list"
      paging="page"
      filters={filters}
      columns={columns}
      empty="No players yet. They appear here as an operator's site registers them; npm run demo registers some."
    />
  )
}

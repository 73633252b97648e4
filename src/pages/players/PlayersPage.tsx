/** Players: search as you type. */
import { useMemo } from "react"
import type { Row } from "../app/api.ts"
import { useOperatorColumn } from "../parts/columns.tsx"
import type { Column } from "../parts/DataTable.tsx"
import { filtersOf, ListPage } from "../parts/ListPage.tsx"
import { Clip, Instant, PageLink, Status } from "../parts/Values.tsx"

const filters = filtersOf("player.list", {
  search: { width: 240 },
  created_from: { label: "Registered from" },
  created_to: { label: "Registered before" },
  // the search looks there as well
  starting_with: false,
  email: false,
  username: false
})

const sorts = { created: { ascending: "oldest", descending: "newest" } }

export default function PlayersPage() {
  const operatorColumn = useOperatorColumn()
  const columns = useMemo<ReadonlyArray<Column<Row<"player.list">>>>(() => [
    { id: "id", header: "Id", cell: ({ id }) => <PageLink to={`/players/${id}`}>{String(id)}</PageLink> },
    { id: "username", header: "Username", cell: ({ username }) => <Clip width={160}>{username}</Clip> },
    {
      id: "name",
      header: "Name",
      cell: ({ first_name: first, last_name: last }) => <Clip width={180}>{`${first} ${last}`}</Clip>
    },
    { id: "email", header: "E-mail", cell: ({ email }) => <Clip width={220}>{email}</Clip> },
    ...operatorColumn,
    { id: "status", header: "Status", cell: ({ status }) => <Status of={status} /> },
    { id: "kyc", header: "KYC", cell: ({ kyc_status: status }) => <Status of={status} /> },
    { id: "country", header: "Country", cell: ({ country }) => country },
    { id: "created", header: "Registered", cell: ({ created_at: at }) => <Instant at={at} seconds={false} /> }
  ], [operatorColumn])
  return (
    <ListPage
      heading="Players"
      action="player.list"
      paging="walk"
      filters={filters}
      sorts={sorts}
      columns={columns}
      empty="No players yet. They appear here as an operator's site registers them; npm run demo registers some."
    />
  )
}

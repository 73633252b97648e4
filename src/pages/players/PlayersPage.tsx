/** Player list, with search as you type. */
import { filtersOf, ListPage } from "../parts/ListPage.tsx"
import { columnsOf } from "../parts/shown.tsx"
import { Clip } from "../parts/Values.tsx"

const filters = filtersOf("player.list", {
  starting_with: { label: "Search", width: 300, placeholder: "Name, e-mail, phone, external id or id" },
  created_from: { label: "Registered from" },
  created_to: { label: "Registered before" },
  // the search looks there as well
  search: false,
  external_id: false,
  email: false,
  username: false
}, ["starting_with", "status", "kyc_status"])

const sorts = { created_at: { ascending: "oldest", descending: "newest" } }

const columns = columnsOf(
  "player.list",
  ["id", { to: ({ id }) => `/players/${id}` }],
  ["username", { width: 160 }],
  ["last_name", {
    label: "Name",
    cell: ({ first_name: first, last_name: last }) => <Clip width={180}>{`${first} ${last}`}</Clip>
  }],
  "email",
  "operator_id",
  "status",
  "kyc_status",
  "country",
  ["created_at", { label: "Registered" }]
)

export default function PlayersPage() {
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

/** Game providers: protocol and status. */
import { ListPage } from "../parts/ListPage.tsx"
import { columnsOf } from "../parts/shown.tsx"
import { AddProvider, ownProtocol, providerActions } from "./ProviderForm.tsx"

const columns = columnsOf(
  "provider.list",
  "id",
  ["name", { to: ({ id }) => `/providers/${id}` }],
  "slug",
  "protocol",
  "active",
  ["ip_allowlist", { label: "Calls from", absent: "any address", width: 160 }],
  ["sync_hours", {
    label: "Catalogue",
    isLeft: true,
    cell: ({ protocol, sync_hours: hours }) => protocol === ownProtocol || hours === 0 ? "by hand" : `every ${hours} h`
  }],
  ["created_at", { label: "Added" }]
)

export default function ProvidersPage() {
  return (
    <ListPage
      heading="Providers"
      action="provider.list"
      paging="whole"
      columns={columns}
      rowActions={providerActions}
      actions={<AddProvider />}
      empty="No providers yet. Add one: its games are offered to the players of all operators."
    />
  )
}

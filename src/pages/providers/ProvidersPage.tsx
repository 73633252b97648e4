/** Game providers: protocol and status. */
import { Group } from "@mantine/core"
import { buttonColumn } from "../parts/columns.tsx"
import { ListPage } from "../parts/ListPage.tsx"
import { columnsOf } from "../parts/shown.tsx"
import { AddProvider, ChangeProvider, ownProtocol, SwitchProvider } from "./ProviderForm.tsx"

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
  ["created_at", { label: "Added" }],
  buttonColumn((provider) => (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      <ChangeProvider provider={provider} />
      <SwitchProvider provider={provider} />
    </Group>
  ))
)

export default function ProvidersPage() {
  return (
    <ListPage
      heading="Providers"
      action="provider.list"
      paging="whole"
      columns={columns}
      actions={<AddProvider />}
      empty="No providers yet. Add one: its games are offered to the players of all operators."
    />
  )
}

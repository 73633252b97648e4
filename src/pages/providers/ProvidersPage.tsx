/** Game providers: protocol and status. */
import { Group } from "@mantine/core"
import { buttonColumn, sortedInstants } from "../parts/columns.tsx"
import type { Column } from "../parts/DataTable.tsx"
import { ListPage } from "../parts/ListPage.tsx"
import { PageLink, Status } from "../parts/Values.tsx"
import { AddProvider, ChangeProvider, ownProtocol, type Provider, SwitchProvider } from "./ProviderForm.tsx"

const columns: ReadonlyArray<Column<Provider>> = [
  { id: "id", header: "Id", value: ({ id }) => id, cell: ({ id }) => id },
  {
    id: "name",
    header: "Name",
    value: ({ name }) => name,
    cell: ({ id, name }) => <PageLink to={`/providers/${id}`}>{name}</PageLink>
  },
  { id: "slug", header: "Slug", value: ({ slug }) => slug, cell: ({ slug }) => slug },
  { id: "protocol", header: "Protocol", value: ({ protocol }) => protocol, cell: ({ protocol }) => protocol },
  {
    id: "state",
    header: "State",
    value: ({ active }) => active ? 0 : 1,
    cell: ({ active }) => <Status of={active ? "active" : "inactive"} />
  },
  {
    id: "calls",
    header: "Calls from",
    cell: ({ ip_allowlist: list }) => list.length === 0 ? "any address" : list.slice(0, 2).join(", ")
  },
  {
    id: "sync",
    header: "Catalogue",
    cell: ({ protocol, sync_hours: hours }) => protocol === ownProtocol || hours === 0 ? "by hand" : `every ${hours} h`
  },
  sortedInstants("created", "Added", ({ created_at: at }) => at),
  buttonColumn((provider) => (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      <ChangeProvider provider={provider} />
      <SwitchProvider provider={provider} />
    </Group>
  ))
]

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

/** Operators, their API keys, and licensees. */
import { Stack } from "@mantine/core"
import { ActionButton } from "../parts/ActionButton.tsx"
import { buttonColumn } from "../parts/columns.tsx"
import { formOf } from "../parts/Fields.tsx"
import { filtersOf, List, ListSection } from "../parts/ListPage.tsx"
import { PageHead } from "../parts/PageHead.tsx"
import { columnsOf } from "../parts/shown.tsx"
import { AddKey, keyActions, keyColumns } from "./keys.tsx"
import { AddOperator, ChangeOperator } from "./OperatorForm.tsx"

const keyFilters = filtersOf("key.list")

const operatorColumns = columnsOf(
  "operator.list",
  "id",
  ["name", { to: ({ slug }) => `/operators/${slug}` }],
  "slug",
  "currency",
  "cooperation_model",
  "active",
  "is_sandbox",
  "withdrawal_second_approval_above",
  ["created_at", { label: "Since" }],
  buttonColumn((operator) => <ChangeOperator operator={operator} />)
)

const licenseeColumns = columnsOf("licensee.list", "id", "name", ["created_at", { label: "Since" }])

function AddLicensee() {
  return (
    <ActionButton
      action="licensee.create"
      label="Add licensee"
      fields={formOf("licensee.create")}
      done="Licensee added"
    />
  )
}

export default function OperatorsPage() {
  return (
    <Stack>
      <PageHead heading="Operators">
        <AddOperator />
      </PageHead>
      <List
        heading="Operators"
        action="operator.list"
        paging="whole"
        columns={operatorColumns}
        empty="No operators yet. Add one: its page says what it needs next."
      />
      <ListSection
        heading="API keys"
        actions={<AddKey />}
        action="key.list"
        paging="whole"
        filters={keyFilters}
        columns={keyColumns}
        rowActions={keyActions}
        empty="No keys yet. An operator's requests are signed with one."
      />
      <ListSection
        heading="Licensees"
        actions={<AddLicensee />}
        action="licensee.list"
        paging="whole"
        columns={licenseeColumns}
        empty="No licensees. One groups operators whose self-exclusions hold at all of them."
      />
    </Stack>
  )
}

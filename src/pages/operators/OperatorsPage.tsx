/** Operators and their API keys. */
import { Stack } from "@mantine/core"
import type { Row } from "../app/api.ts"
import { scopes } from "../../domain/state/Operator.ts"
import { ActionButton, rowAction } from "../parts/ActionButton.tsx"
import { buttonColumn } from "../parts/columns.tsx"
import { currencyTyped, type Field, formOf, type Inputs, type OwnInput } from "../parts/Fields.tsx"
import { filtersOf, List, ListSection, PageHead } from "../parts/ListPage.tsx"
import { CopyValue, OneTimeValue } from "../parts/OneTimeValue.tsx"
import type { RowActions } from "../parts/RowMenu.tsx"
import { columnsOf } from "../parts/shown.tsx"
import { Clip, Status } from "../parts/Values.tsx"
import { DefaultLimits } from "./DefaultLimits.tsx"

type Operator = Row<"operator.list">
type Key = Row<"key.list">

const changes = {
  active: { label: "Active: keys and players are served", description: "" },
  cooperation_model: { required: true },
  currency: { initial: "EUR" },
  forfeit_bonus_on_withdrawal: { description: "" }
} as const

/** Settings of an operator. Amounts are in the currency currently entered in the form. */
const operatorFields = (operator?: Operator) => (inputs: Inputs): ReadonlyArray<Field> => {
  const limits = {
    initial: {},
    draw: (input: OwnInput) => (
      <DefaultLimits currency={currencyTyped(inputs) ?? operator?.currency ?? "EUR"} {...input} />
    )
  }
  return operator === undefined
    ? formOf("operator.create", { ...changes, default_limits: limits })
    : formOf("operator.update", { ...changes, default_limits: limits }, { record: operator })
}

const keyFilters = filtersOf("key.list")

const operatorColumns = columnsOf(
  "operator.list",
  "id",
  "name",
  "slug",
  "currency",
  "cooperation_model",
  "active",
  "withdrawal_second_approval_above",
  ["created_at", { label: "Since" }],
  buttonColumn((operator) => (
    <ActionButton
      action="operator.update"
      label="Change operator"
      params={{ operator: operator.slug }}
      fields={operatorFields(operator)}
      isUpdate
      size="lg"
      done="Operator changed"
    />
  ))
)

const isOpen = ({ expires_at: expires, revoked_at: revoked }: Key): string =>
  revoked !== null ? "revoked" : expires !== null && expires < new Date().toISOString() ? "expired" : "active"

const keyColumns = columnsOf(
  "key.list",
  ["key", { cell: ({ key }) => <CopyValue label={`key ${key}`} value={key} /> }],
  "name",
  "operator_id",
  ["scopes", { cell: ({ scopes: own }) => own.length === scopes.length ? "all" : <Clip>{own.join(", ")}</Clip> }],
  ["ip_allowlist", { absent: "any" }],
  ["rate_limit_per_minute", { label: "Per minute" }],
  { id: "state", header: "State", cell: (key) => <Status of={isOpen(key)} /> }
)

const keyActions: RowActions<Key> = {
  nameOf: ({ key, name }) => `key ${name === "" ? key : name}`,
  of: ({ key, name, revoked_at: revoked }) =>
    revoked === null
      ? [
        rowAction({
          action: "key.rotate",
          label: "New secret",
          params: { key },
          explanation:
            "The present secret signs nothing from then on: the operator's requests fail until it has the new one.",
          typed: name === "" ? key : name,
          danger: true,
          result: ({ data }) => <OneTimeValue label="Secret" of={{ key }} value={data.secret} />
        }),
        rowAction({
          action: "key.revoke",
          label: "Revoke key",
          params: { key },
          explanation: "Ends the key for good, at every node, at once.",
          typed: name === "" ? key : name,
          danger: true
        })
      ]
      : []
}

export default function OperatorsPage() {
  return (
    <Stack>
      <PageHead heading="Operators">
        <ActionButton
          action="operator.create"
          label="Add operator"
          fields={operatorFields()}
          size="lg"
          button={{ variant: "filled" }}
        />
      </PageHead>
      <List
        heading="Operators"
        action="operator.list"
        paging="whole"
        columns={operatorColumns}
        empty="No operators yet. Add one, then a key that signs its requests."
      />
      <ListSection
        heading="API keys"
        actions={
          <ActionButton
            action="key.create"
            label="Add key"
            fields={formOf("key.create")}
            result={({ data }) => <OneTimeValue label="Secret" of={{ key: data.key }} value={data.secret} />}
          />
        }
        action="key.list"
        paging="whole"
        filters={keyFilters}
        columns={keyColumns}
        rowActions={keyActions}
        empty="No keys yet. An operator's requests are signed with one."
      />
    </Stack>
  )
}

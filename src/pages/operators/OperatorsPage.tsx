/** Operators and their API keys. */
import { Stack } from "@mantine/core"
import { useMemo } from "react"
import type { Request, Row } from "../app/api.ts"
import { useOperatorOf, useOperators } from "../app/session.tsx"
import { cooperationModels, defaultOriginalBounds, features, scopes } from "../../domain/state/Operator.ts"
import { ActionButton, rowAction } from "../parts/ActionButton.tsx"
import { amounts, buttonColumn } from "../parts/columns.tsx"
import type { Column } from "../parts/DataTable.tsx"
import { type Field, filledFrom, operatorField } from "../parts/Fields.tsx"
import { filtersOf, List, ListSection, PageHead } from "../parts/ListPage.tsx"
import { OneTimeValue } from "../parts/OneTimeValue.tsx"
import type { RowActions } from "../parts/RowMenu.tsx"
import { Clip, Count, Instant, Status } from "../parts/Values.tsx"
import { DefaultLimits } from "./DefaultLimits.tsx"

type Operator = Row<"operator.list">
type Key = Row<"key.list">

type OperatorForm = Required<NonNullable<Request<"operator.update">["payload"]>>

/** Every setting of an operator: a forgotten one does not compile. Amounts are in the currency currently entered in the form. */
const operatorFields = (operator?: Operator, typed?: unknown): ReadonlyArray<Field> => {
  const currency = typeof typed === "string" && /^[A-Z]{3}$/.test(typed) ? typed : operator?.currency ?? "EUR"
  const money = (label: string, description: string, more: Pick<Field, "initial" | "nullable"> = { nullable: true }) =>
    ({ label, kind: "money", currency, description, ...more }) as const
  const fields: { readonly [name in keyof OperatorForm]: Omit<Field, "name"> } = {
    slug: { label: "Slug", kind: "text", required: true },
    name: { label: "Name", kind: "text", required: true },
    currency: { label: "Currency", kind: "text", required: true, initial: "EUR" },
    cooperation_model: {
      label: "Cooperation model",
      kind: "choice",
      options: cooperationModels,
      required: true,
      initial: "api"
    },
    active: { label: "Active: keys and players are served", kind: "switch", initial: true },
    cooling_off_hours: {
      label: "Cooling-off hours",
      kind: "integer",
      description: "How long a raised limit waits.",
      initial: 24
    },
    withdrawal_second_approval_above: money(
      "Second approval above",
      "Larger withdrawals take two people. Empty: none."
    ),
    kyc_withdrawal_threshold: money("KYC threshold", "What an unverified player may withdraw in total. Empty: any."),
    daily_deposit_cap: money("Daily deposit cap", "Of a player. Empty: none."),
    daily_withdrawal_cap: money("Daily withdrawal cap", "Of a player. Empty: none."),
    original_max_stake: money("Maximum stake of an original", "Of a round.", {
      initial: defaultOriginalBounds.maxStake
    }),
    original_max_payout: money("Maximum payout of an original", "Of a round.", {
      initial: defaultOriginalBounds.maxPayout
    }),
    default_limits: {
      label: "Default limits",
      kind: "own",
      description: "Limits that new players begin with.",
      initial: {},
      draw: (input) => <DefaultLimits currency={currency} {...input} />
    },
    forfeit_bonus_on_withdrawal: { label: "A withdrawal ends a running bonus", kind: "switch", initial: true },
    disabled_features: { label: "Features that are off", kind: "choices", options: features }
  }
  return filledFrom(operator, Object.entries(fields).map(([name, field]): Field => ({ name, ...field })))
}

const keyFields = (operators: ReadonlyArray<Operator>): ReadonlyArray<Field> => [
  operatorField(operators),
  { name: "name", label: "Name", kind: "text", description: "What it is for." },
  { name: "scopes", label: "Scopes", kind: "choices", options: scopes, initial: [...scopes] },
  {
    name: "ip_allowlist",
    label: "Addresses",
    kind: "list",
    description: "Addresses and ranges that it works from. Empty: any."
  },
  { name: "rate_limit_per_minute", label: "Requests per minute", kind: "integer", initial: 600 },
  { name: "expires_at", label: "Expires", kind: "instant" }
]

const keyFilters = filtersOf("key.list")

const operatorColumns: ReadonlyArray<Column<Operator>> = [
  { id: "id", header: "Id", value: ({ id }) => id, cell: ({ id }) => id },
  { id: "name", header: "Name", value: ({ name }) => name, cell: ({ name }) => name },
  { id: "slug", header: "Slug", value: ({ slug }) => slug, cell: ({ slug }) => slug },
  { id: "currency", header: "Currency", value: ({ currency }) => currency, cell: ({ currency }) => currency },
  { id: "model", header: "Model", cell: ({ cooperation_model: model }) => model },
  { id: "state", header: "State", cell: ({ active }) => <Status of={active ? "active" : "inactive"} /> },
  amounts("second", "Second approval above", ({ withdrawal_second_approval_above: amount }) => amount),
  { id: "created", header: "Since", cell: ({ created_at: at }) => <Instant at={at} seconds={false} /> },
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
]

const isOpen = ({ expires_at: expires, revoked_at: revoked }: Key): string =>
  revoked !== null ? "revoked" : expires !== null && expires < new Date().toISOString() ? "expired" : "active"

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
          result: ({ data }) => <OneTimeValue label="Secret" value={data.secret} />
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
  const operators = useOperators()
  const operatorOf = useOperatorOf()
  const keyColumns: ReadonlyArray<Column<Key>> = useMemo(() => [
    { id: "key", header: "Key", cell: ({ key }) => <Clip width={220}>{key}</Clip> },
    { id: "name", header: "Name", value: ({ name }) => name, cell: ({ name }) => name },
    { id: "operator", header: "Operator", cell: ({ operator_id: id }) => operatorOf(id).name },
    {
      id: "scopes",
      header: "Scopes",
      cell: ({ scopes: own }) => own.length === scopes.length ? "all" : <Clip>{own.join(", ")}</Clip>
    },
    {
      id: "addresses",
      header: "Addresses",
      cell: ({ ip_allowlist: list }) => list.length === 0 ? "any" : <Clip>{list.join(", ")}</Clip>
    },
    {
      id: "rate",
      header: "Per minute",
      align: "right",
      cell: ({ rate_limit_per_minute: rate }) => <Count of={rate} />
    },
    { id: "state", header: "State", cell: (key) => <Status of={isOpen(key)} /> }
  ], [operatorOf])
  return (
    <Stack>
      <PageHead heading="Operators">
        <ActionButton
          action="operator.create"
          label="Add operator"
          fields={(inputs) => operatorFields(undefined, inputs["currency"])}
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
            fields={keyFields(operators)}
            result={({ data }) => (
              <Stack>
                <OneTimeValue label="Secret" value={data.secret} />
                <span>Key: {data.key}</span>
              </Stack>
            )}
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

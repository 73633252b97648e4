/** Staff accounts: roles, operators and credentials. */
import { Text } from "@mantine/core"
import { useMemo } from "react"
import type { Row } from "../app/api.ts"
import { useOperatorOf, useOperators } from "../app/session.tsx"
import { ActionButton, rowAction } from "../parts/ActionButton.tsx"
import { sortedInstants } from "../parts/columns.tsx"
import type { Column } from "../parts/DataTable.tsx"
import { type FieldList, filledFrom } from "../parts/Fields.tsx"
import { ListPage } from "../parts/ListPage.tsx"
import { OneTimeValue } from "../parts/OneTimeValue.tsx"
import type { RowActions } from "../parts/RowMenu.tsx"
import { moneyText, Status } from "../parts/Values.tsx"

type Account = Row<"staff.list">

const roles = ["admin", "support", "payments", "compliance"]

/** No operator chosen: not bound, which means all. */
const bound = ({ operators, ...values }: Record<string, unknown>): Record<string, unknown> =>
  operators === undefined
    ? values
    : { ...values, operators: Array.isArray(operators) && operators.length > 0 ? operators : null }

const fieldsOf = (operators: ReturnType<typeof useOperators>, account?: Account): FieldList =>
  filledFrom(account && { ...account, operators: (account.operators ?? []).map(String) }, [
    { name: "name", label: "Name", kind: "text", required: true },
    { name: "role", label: "Role", kind: "choice", options: roles, required: true, initial: "support" },
    {
      name: "operators",
      label: "Operators",
      kind: "choices",
      description: "Sees and changes these alone. None chosen: all.",
      options: operators.map(({ id, name }) => ({ value: String(id), label: name }))
    },
    account !== undefined && { name: "active", label: "Active", kind: "switch" },
    {
      name: "password",
      label: account === undefined ? "Password" : "New password",
      kind: "password",
      description: account === undefined
        ? "12 characters or more. Without one the account has a token only."
        : "Ends the account's sessions. Empty: as it is."
    },
    {
      name: "daily_budget",
      label: "Daily budget (minor units)",
      kind: "integer",
      nullable: true,
      description: "What the account may give away alone in a day, in each operator's currency.",
      initial: 1_000_000
    }
  ])

/** A daily budget in the currencies of the operators. */
const budgetPreview =
  (operators: ReturnType<typeof useOperators>) => ({ daily_budget: budget }: Record<string, unknown>) =>
    typeof budget === "number" && (
      <Text size="sm" aria-live="polite">
        In a day:{" "}
        {[...new Set(operators.map(({ currency }) => currency))].map((one) => moneyText(budget, one)).join(", ")}
      </Text>
    )

const actionsOf = (operators: ReturnType<typeof useOperators>): RowActions<Account> => ({
  nameOf: ({ name }) => name,
  of: (account) => [
    rowAction({
      action: "staff.update",
      label: "Change account",
      params: { staff: account.id },
      fields: fieldsOf(operators, account),
      toPayload: bound,
      preview: budgetPreview(operators),
      isUpdate: true,
      done: "Account changed"
    }),
    ...(account.has_second_factor
      ? [rowAction({
        action: "staff.update",
        label: "Reset second factor",
        params: { staff: account.id },
        fixed: { reset_second_factor: true },
        explanation:
          `${account.name} signs in without a second factor until a new one is set up. All sessions of the account end.`,
        danger: true
      })]
      : []),
    rowAction({
      action: "staff.rotate",
      label: "New token",
      params: { staff: account.id },
      explanation: `The present token of ${account.name} opens nothing from then on.`,
      danger: true,
      result: ({ data }) => <OneTimeValue label="Token" value={data.token} />
    }),
    rowAction({
      action: "staff.ticket",
      label: "Sign-in link",
      fixed: { staff: account.id },
      explanation: `A link that signs ${account.name} in once, within 15 minutes.`,
      result: ({ data }) => <OneTimeValue label="Link" value={data.url} />
    })
  ]
})

export default function StaffPage() {
  const operatorOf = useOperatorOf()
  const operators = useOperators()
  const rowActions = useMemo(() => actionsOf(operators), [operators])
  const columns: ReadonlyArray<Column<Account>> = useMemo(() => [
    { id: "id", header: "Id", value: ({ id }) => id, cell: ({ id }) => id },
    { id: "name", header: "Name", value: ({ name }) => name, cell: ({ name }) => name },
    { id: "role", header: "Role", value: ({ role }) => role, cell: ({ role }) => role },
    {
      id: "operators",
      header: "Operators",
      cell: ({ operators }) =>
        operators === null ? "all" : operators.map((id) => operatorOf(id).name).join(", ") || "none"
    },
    { id: "active", header: "State", cell: ({ active }) => <Status of={active ? "active" : "inactive"} /> },
    {
      id: "ways",
      header: "Signs in by",
      cell: ({ has_password: password, has_second_factor: second }) =>
        [password ? "password" : "token only", ...(second ? ["second factor"] : [])].join(", ")
    },
    sortedInstants("used", "Last seen", ({ last_used_at: at }) => at)
  ], [operatorOf])
  return (
    <ListPage
      heading="Staff"
      action="staff.list"
      paging="whole"
      columns={columns}
      rowActions={rowActions}
      empty="No accounts yet."
      actions={
        <ActionButton
          action="staff.create"
          label="Add account"
          fields={fieldsOf(operators)}
          toPayload={bound}
          preview={budgetPreview(operators)}
          button={{ variant: "filled" }}
          result={({ data }) => <OneTimeValue label="Token for scripts and the command line" value={data.token} />}
        />
      }
    />
  )
}

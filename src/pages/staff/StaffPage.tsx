/** Staff accounts: roles, operators and credentials. */
import { Text } from "@mantine/core"
import { useMemo } from "react"
import type { Row } from "../app/api.ts"
import { useOperatorOf, useOperators } from "../app/session.tsx"
import { ActionButton, rowAction } from "../parts/ActionButton.tsx"
import { type FieldList, formOf, type Inputs } from "../parts/Fields.tsx"
import { ListPage } from "../parts/ListPage.tsx"
import { OneTimeValue } from "../parts/OneTimeValue.tsx"
import type { RowActions } from "../parts/RowMenu.tsx"
import { columnsOf } from "../parts/shown.tsx"
import { moneyText } from "../parts/Values.tsx"

type Account = Row<"staff.list">

/** No operator chosen: not bound, which means all. */
const bound = ({ operators, ...values }: Record<string, unknown>): Record<string, unknown> =>
  operators === undefined
    ? values
    : { ...values, operators: Array.isArray(operators) && operators.length > 0 ? operators : null }

type Operators = ReturnType<typeof useOperators>

/** The operators that are chosen; none: all. */
const chosenOf = (operators: Operators, chosen: unknown): Operators =>
  Array.isArray(chosen) && chosen.length > 0 ? operators.filter(({ id }) => chosen.includes(String(id))) : operators

const accountFields = (operators: Operators, account?: Account) => (inputs: Inputs): FieldList => {
  const [first] = chosenOf(operators, inputs["operators"] ?? account?.operators?.map(String))
  const changes = {
    role: { required: true, initial: "support" },
    operators: {
      kind: "choices",
      description: "Sees and changes these alone. None chosen: all.",
      options: operators.map(({ id, name }) => ({ value: String(id), label: name }))
    },
    daily_budget: {
      half: false,
      label: "Daily budget",
      description: "What the account may give away alone in a day, for each operator.",
      ...(first === undefined ? {} : { currency: first.currency })
    }
  } as const
  return account === undefined
    ? formOf("staff.create", {
      ...changes,
      password: { description: "12 characters or more. Without one the account has a token only." }
    })
    : formOf("staff.update", {
      ...changes,
      active: { description: "" },
      password: { label: "New password", description: "Ends the account's sessions. Empty: as it is." },
      reset_second_factor: false
    }, { record: { ...account, operators: (account.operators ?? []).map(String) } })
}

/** A daily budget in each of several currencies: the number is one, what it buys is not. */
const budgetPreview =
  (operators: Operators) => ({ daily_budget: budget, operators: chosen }: Record<string, unknown>) => {
    const currencies = [...new Set(chosenOf(operators, chosen).map(({ currency }) => currency))]
    return typeof budget === "number" && currencies.length > 1 && (
      <Text size="sm" aria-live="polite">
        In a day: {currencies.map((one) => moneyText(budget, one)).join(", ")}
      </Text>
    )
  }

const actionsOf = (operators: Operators): RowActions<Account> => ({
  nameOf: ({ name }) => name,
  of: (account) => [
    rowAction({
      action: "staff.update",
      label: "Change account",
      params: { staff: account.id },
      fields: accountFields(operators, account),
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
      result: ({ data }) => <OneTimeValue label="Token" of={{ account: account.name }} value={data.token} />
    }),
    rowAction({
      action: "staff.ticket",
      label: "Sign-in link",
      fixed: { staff: account.id },
      explanation: `A link that signs ${account.name} in once, within 15 minutes.`,
      result: ({ data }) => <OneTimeValue label="Link" of={{ account: account.name }} value={data.url} />
    })
  ]
})

export default function StaffPage() {
  const operatorOf = useOperatorOf()
  const operators = useOperators()
  const rowActions = useMemo(() => actionsOf(operators), [operators])
  const columns = useMemo(() =>
    columnsOf(
      "staff.list",
      "id",
      "name",
      "role",
      ["operators", {
        absent: "all",
        cell: ({ operators }) =>
          operators === null ? "all" : operators.map((id) => operatorOf(id).name).join(", ") || "none"
      }],
      "active",
      ["has_password", {
        label: "Signs in by",
        cell: ({ has_password: password, has_second_factor: second }) =>
          [password ? "password" : "token only", ...(second ? ["second factor"] : [])].join(", ")
      }],
      ["last_used_at", { label: "Last seen" }]
    ), [operatorOf])
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
          fields={accountFields(operators)}
          toPayload={bound}
          preview={budgetPreview(operators)}
          button={{ variant: "filled" }}
          result={({ data }) => (
            <OneTimeValue
              label="Token for scripts and the command line"
              of={{ account: data.name }}
              value={data.token}
            />
          )}
        />
      }
    />
  )
}

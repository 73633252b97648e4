/** Form of an operator: adding one leads to its page, which says what is missing. */
import { useRouter } from "@tanstack/react-router"
import type { Row } from "../app/api.ts"
import { ActionButton } from "../parts/ActionButton.tsx"
import { currencyTyped, type Field, formOf, type Inputs, type OwnInput } from "../parts/Fields.tsx"
import { DefaultLimits } from "./DefaultLimits.tsx"

export type Operator = Row<"operator.list">

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

export function AddOperator() {
  const { history } = useRouter()
  return (
    <ActionButton
      action="operator.create"
      label="Add operator"
      fields={operatorFields()}
      size="lg"
      button={{ variant: "filled" }}
      done="Operator added"
      onDone={({ data }) => history.push(`/operators/${data.slug}`)}
    />
  )
}

export function ChangeOperator({ operator }: { readonly operator: Operator }) {
  return (
    <ActionButton
      action="operator.update"
      label="Change operator"
      params={{ operator: operator.slug }}
      fields={operatorFields(operator)}
      isUpdate
      size="lg"
      done="Operator changed"
    />
  )
}

/** Operator form. A new operator's page opens after it is added, and shows which set-up steps are missing. */
import { useRouter } from "@tanstack/react-router"
import type { Row } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { usePermission } from "../app/session.tsx"
import { ActionButton } from "../parts/ActionButton.tsx"
import { currencyTyped, type Field, formOf, type Inputs, type OwnInput } from "../parts/Fields.tsx"
import { DefaultLimits } from "./DefaultLimits.tsx"

export type Operator = Row<"operator.list">

/** Licensees, for those who may set one; undefined for others. */
const useLicensees = (): ReadonlyArray<Row<"licensee.list">> | undefined => {
  const isAllowed = usePermission()("licensee.list")
  const { data } = useAnswer("licensee.list", {}, { enabled: isAllowed })
  return isAllowed ? data?.data ?? [] : undefined
}

/** Name of a licensee, for those who may know it. */
export function LicenseeName({ id }: { readonly id: number | null }) {
  const licensees = useLicensees()
  return id === null ? "none" : licensees?.find((licensee) => licensee.id === id)?.name ?? String(id)
}

const changes = {
  active: { label: "Active: keys and players are served", description: "" },
  cooperation_model: { required: true },
  currency: { initial: "EUR" },
  forfeit_bonus_on_withdrawal: { description: "" }
} as const

/** Settings of an operator. Amounts are in the currency currently entered in the form. */
const operatorFields =
  (licensees: ReturnType<typeof useLicensees>, operator?: Operator) => (inputs: Inputs): ReadonlyArray<Field> => {
    const licensee = licensees === undefined ? false as const : {
      kind: "choice" as const,
      description: "Self-exclusions can hold at all its operators. Empty: none.",
      options: licensees.map(({ id, name }) => ({ value: String(id), label: name }))
    }
    const limits = {
      initial: {},
      draw: (input: OwnInput) => (
        <DefaultLimits currency={currencyTyped(inputs) ?? operator?.currency ?? "EUR"} {...input} />
      )
    }
    return operator === undefined
      ? formOf("operator.create", {
        ...changes,
        licensee,
        default_limits: limits,
        is_sandbox: { label: "Sandbox: for testing, which never changes", description: "" }
      })
      : formOf("operator.update", { ...changes, licensee, default_limits: limits }, {
        record: { ...operator, licensee: operator.licensee_id === null ? null : String(operator.licensee_id) }
      })
  }

/** A choice is a text, and the licensee's id a number. */
const withLicenseeId = ({ licensee, ...rest }: Record<string, unknown>) =>
  licensee === undefined ? rest : { ...rest, licensee: licensee === null ? null : Number(licensee) }

export function AddOperator() {
  const { history } = useRouter()
  const licensees = useLicensees()
  return (
    <ActionButton
      action="operator.create"
      label="Add operator"
      fields={operatorFields(licensees)}
      toPayload={withLicenseeId}
      size="lg"
      button={{ variant: "filled" }}
      done="Operator added"
      onDone={({ data }) => history.push(`/operators/${data.slug}`)}
    />
  )
}

export function ChangeOperator({ operator }: { readonly operator: Operator }) {
  const licensees = useLicensees()
  return (
    <ActionButton
      action="operator.update"
      label="Change operator"
      params={{ operator: operator.slug }}
      fields={operatorFields(licensees, operator)}
      toPayload={withLicenseeId}
      isUpdate
      size="lg"
      done="Operator changed"
    />
  )
}

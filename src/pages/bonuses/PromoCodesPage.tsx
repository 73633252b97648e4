/** Promo codes: granted bonus and number of redemptions. */
import { useMemo } from "react"
import type { Row } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { useOperators } from "../app/session.tsx"
import { ActionButton } from "../parts/ActionButton.tsx"
import { buttonColumn, sortedInstants, useOperatorColumn } from "../parts/columns.tsx"
import type { Column } from "../parts/DataTable.tsx"
import { type FieldList, type Inputs, operatorField } from "../parts/Fields.tsx"
import { filtersOf, ListPage } from "../parts/ListPage.tsx"
import { Clip, PageLink, Status } from "../parts/Values.tsx"
import type { Bonus } from "./Terms.tsx"

type Promo = Row<"promo.list">

const filters = filtersOf("promo.list")

/** Status of a code: active, or the reason why not. */
const stateOf = ({ active, expires_at: expires, max_redemptions: maximum, redemptions }: Promo): string =>
  !active
    ? "inactive"
    : expires !== null && expires <= new Date().toISOString()
    ? "expired"
    : maximum !== null && redemptions >= maximum
    ? "used up"
    : "active"

function AddPromo({ bonuses }: { readonly bonuses: ReadonlyArray<Bonus> }) {
  const operators = useOperators()
  const only = operators.length === 1 ? operators[0]?.slug : undefined
  const fields = (inputs: Inputs): FieldList => {
    const operator = operators.find(({ slug }) => slug === (only ?? inputs["operator"]))
    const offered = bonuses.filter(({ operator_id: id }) => id === operator?.id)
    const chosen = offered.find(({ id }) => String(id) === inputs["bonus"])
    const isMoney = chosen?.wagering_multiplier === 0
    return [
      only === undefined && operatorField(operators),
      {
        name: "code",
        label: "Code",
        kind: "text",
        required: true,
        description: "What players enter: letters, digits, dashes and underscores."
      },
      {
        name: "bonus",
        label: "Bonus",
        kind: "choice",
        required: true,
        description: operator === undefined
          ? "Choose the operator first."
          : offered.length === 0
          ? `${operator.name} has no bonuses yet: add one first.`
          : "What the code grants.",
        options: offered.map(({ id, name }) => ({ value: String(id), label: name }))
      },
      {
        name: "max_redemptions",
        label: "Redemptions at most",
        kind: "integer",
        half: true,
        required: isMoney,
        description: isMoney ? "Needed: this bonus is money at once." : "By all players together. Empty: any number."
      },
      { name: "expires_at", label: "Expires", kind: "instant", half: true, description: "Empty: never." }
    ]
  }
  return (
    <ActionButton
      action="promo.create"
      label="Add promo code"
      fields={fields}
      toPayload={({ bonus, ...values }) => ({
        ...(only === undefined ? {} : { operator: only }),
        ...values,
        bonus: Number(bonus)
      })}
      done="Promo code added"
      button={{ variant: "filled" }}
    />
  )
}

export default function PromoCodesPage() {
  const operatorColumn = useOperatorColumn()
  const bonuses = useAnswer("bonus.list").data?.data
  const columns = useMemo<ReadonlyArray<Column<Promo>>>(() => {
    const names = new Map((bonuses ?? []).map(({ id, name }) => [id, name]))
    return [
      { id: "code", header: "Code", value: ({ code }) => code, cell: ({ code }) => <Clip width={240}>{code}</Clip> },
      ...operatorColumn,
      {
        id: "bonus",
        header: "Bonus",
        cell: ({ bonus_id: id }) => <PageLink to={`/bonuses/${id}`}>{names.get(id) ?? String(id)}</PageLink>
      },
      {
        id: "redemptions",
        header: "Redeemed",
        align: "right",
        value: ({ redemptions }) => redemptions,
        cell: ({ max_redemptions: maximum, redemptions }) => `${redemptions}${maximum === null ? "" : ` of ${maximum}`}`
      },
      sortedInstants("expires", "Expires", ({ expires_at: at }) => at, "never"),
      { id: "state", header: "State", value: stateOf, cell: (promo) => <Status of={stateOf(promo)} /> },
      sortedInstants("created", "Added", ({ created_at: at }) => at),
      buttonColumn(({ active, code, id }) => (
        <ActionButton
          action="promo.update"
          label={active ? "Switch code off" : "Switch code on"}
          params={{ promo: id }}
          fixed={{ active: !active }}
          explanation={active
            ? `${code} grants nothing from then on. What it has granted stays.`
            : `${code} grants its bonus again.`}
          done={`${code}: ${active ? "off" : "on"}`}
          undo={{ action: "promo.update", request: { params: { promo: id }, payload: { active } } }}
        />
      ))
    ]
  }, [bonuses, operatorColumn])
  return (
    <ListPage
      heading="Promo codes"
      action="promo.list"
      paging="whole"
      filters={filters}
      columns={columns}
      actions={<AddPromo bonuses={bonuses ?? []} />}
      empty="No promo codes yet. A player who enters one is granted its bonus."
    />
  )
}

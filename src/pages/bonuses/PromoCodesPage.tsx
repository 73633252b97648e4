/** Promo codes: granted bonus and number of redemptions. */
import { useMemo } from "react"
import type { Row } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { useOperators } from "../app/session.tsx"
import { ActionButton } from "../parts/ActionButton.tsx"
import type { Bulk } from "../parts/Bulk.tsx"
import { buttonColumn } from "../parts/columns.tsx"
import { type FieldList, formOf, type Inputs } from "../parts/Fields.tsx"
import { filtersOf, ListPage } from "../parts/ListPage.tsx"
import { columnsOf } from "../parts/shown.tsx"
import { countText, PageLink, Status } from "../parts/Values.tsx"
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
  const fields = (inputs: Inputs): FieldList => {
    const operator = operators.find(({ slug }) => slug === inputs["operator"])
    const offered = bonuses.filter(({ operator_id: id }) => id === operator?.id)
    const isMoney = offered.find(({ id }) => String(id) === inputs["bonus"])?.wagering_multiplier === 0
    return formOf("promo.create", {
      code: { description: "What players enter: letters, digits, dashes and underscores." },
      bonus: {
        kind: "choice",
        half: false,
        description: operator === undefined
          ? "Choose the operator first."
          : offered.length === 0
          ? `${operator.name} has no bonuses yet: add one first.`
          : "What the code grants.",
        options: offered.map(({ id, name }) => ({ value: String(id), label: name }))
      },
      max_redemptions: {
        required: isMoney,
        description: isMoney ? "Needed: this bonus is money at once." : "By all players together. Empty: any number."
      },
      expires_at: { description: "Empty: never." }
    })
  }
  return (
    <ActionButton
      action="promo.create"
      label="Add promo code"
      fields={fields}
      toPayload={(values) => ({ ...values, bonus: Number(values["bonus"]) })}
      done="Promo code added"
      button={{ variant: "filled" }}
    />
  )
}

const bulk: Bulk<Promo> = {
  noun: ["promo code", "promo codes"],
  nameOf: ({ code }) => code,
  actions: [
    {
      action: "promo.update_many",
      verb: "Switch off",
      past: "off",
      ids: "promos",
      fixed: { active: false },
      explanation: "They grant nothing from then on. What they have granted stays.",
      danger: true,
      leftOut: ({ active }) => active ? undefined : "off already"
    },
    {
      action: "promo.update_many",
      verb: "Switch on",
      past: "on",
      ids: "promos",
      fixed: { active: true },
      explanation: "They grant their bonuses again.",
      leftOut: ({ active }) => active ? "on already" : undefined
    }
  ]
}

export default function PromoCodesPage() {
  const bonuses = useAnswer("bonus.list").data?.data
  const columns = useMemo(() => {
    const names = new Map((bonuses ?? []).map(({ id, name }) => [id, name]))
    return columnsOf(
      "promo.list",
      ["code", { width: 240 }],
      "operator_id",
      ["bonus_id", {
        cell: ({ bonus_id: id }) => <PageLink to={`/bonuses/${id}`}>{names.get(id) ?? String(id)}</PageLink>
      }],
      ["redemptions", {
        label: "Redeemed",
        cell: ({ max_redemptions: maximum, redemptions }) =>
          `${countText(redemptions)}${maximum === null ? "" : ` of ${countText(maximum)}`}`
      }],
      ["expires_at", { absent: "never" }],
      { id: "state", header: "State", value: stateOf, cell: (promo) => <Status of={stateOf(promo)} /> },
      ["created_at", { label: "Added" }],
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
    )
  }, [bonuses])
  return (
    <ListPage
      heading="Promo codes"
      action="promo.list"
      paging="whole"
      filters={filters}
      columns={columns}
      bulk={bulk}
      actions={<AddPromo bonuses={bonuses ?? []} />}
      empty="No promo codes yet. A player who enters one is granted its bonus."
    />
  )
}

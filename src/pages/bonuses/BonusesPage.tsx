/** Bonus catalogue: terms, and editing them. */
import { filtersOf, ListPage } from "../parts/ListPage.tsx"
import { columnsOf } from "../parts/shown.tsx"
import { AddBonus, useBonusActions } from "./Terms.tsx"

const filters = filtersOf("bonus.list")

const times = (count: number): string => `${count} ×`

const columns = columnsOf(
  "bonus.list",
  ["name", { to: ({ id }) => `/bonuses/${id}` }],
  "operator_id",
  "type",
  ["default_amount", { label: "Amount" }],
  ["wagering_multiplier", { label: "Wagering", cell: (bonus) => times(bonus.wagering_multiplier), zero: "none" }],
  ["max_bet", { zero: "–" }],
  ["valid_days", { label: "Days" }],
  ["max_grants_per_player", { label: "Per player", zero: "–" }],
  "is_active"
)

export default function BonusesPage() {
  const rowActions = useBonusActions()
  return (
    <ListPage
      heading="Bonuses"
      action="bonus.list"
      paging="whole"
      filters={filters}
      columns={columns}
      rowActions={rowActions}
      actions={<AddBonus />}
      empty="No bonuses yet. Add one; a promo code, the operator or staff grant it to players then."
    />
  )
}

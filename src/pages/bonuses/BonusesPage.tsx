/** Bonus catalogue: terms, and editing them. */
import { Group } from "@mantine/core"
import { buttonColumn } from "../parts/columns.tsx"
import { filtersOf, ListPage } from "../parts/ListPage.tsx"
import { columnsOf } from "../parts/shown.tsx"
import { AddBonus, ChangeBonus, SwitchBonus } from "./Terms.tsx"

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
  "is_active",
  buttonColumn((bonus) => (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      <ChangeBonus bonus={bonus} />
      <SwitchBonus bonus={bonus} />
    </Group>
  ))
)

export default function BonusesPage() {
  return (
    <ListPage
      heading="Bonuses"
      action="bonus.list"
      paging="whole"
      filters={filters}
      columns={columns}
      actions={<AddBonus />}
      empty="No bonuses yet. Add one; a promo code, the operator or staff grant it to players then."
    />
  )
}

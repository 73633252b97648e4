/** Bonus catalogue: terms, and editing them. */
import { Group } from "@mantine/core"
import { useOperatorOf } from "../app/session.tsx"
import { buttonColumn, useOperatorColumn } from "../parts/columns.tsx"
import type { Column } from "../parts/DataTable.tsx"
import { filtersOf, ListPage } from "../parts/ListPage.tsx"
import { Money, PageLink, Status, words } from "../parts/Values.tsx"
import { AddBonus, type Bonus, ChangeBonus, SwitchBonus } from "./Terms.tsx"

const filters = filtersOf("bonus.list")

export default function BonusesPage() {
  const operatorOf = useOperatorOf()
  const operatorColumn = useOperatorColumn()
  const columns: ReadonlyArray<Column<Bonus>> = [
    {
      id: "name",
      header: "Name",
      value: ({ name }) => name,
      cell: ({ id, name }) => <PageLink to={`/bonuses/${id}`}>{name}</PageLink>
    },
    ...operatorColumn,
    { id: "type", header: "Type", value: ({ type }) => type, cell: ({ type }) => words(type) },
    {
      id: "amount",
      header: "Amount",
      align: "right",
      value: ({ default_amount: amount }) => amount,
      cell: ({ default_amount: amount, operator_id: id }) => (
        <Money amount={amount} currency={operatorOf(id).currency} />
      )
    },
    {
      id: "wagering",
      header: "Wagering",
      align: "right",
      value: ({ wagering_multiplier: times }) => times,
      cell: ({ wagering_multiplier: times }) => times === 0 ? "none" : `${times} ×`
    },
    {
      id: "stake",
      header: "Largest stake",
      align: "right",
      cell: ({ max_bet: amount, operator_id: id }) => (
        <Money amount={amount === 0 ? null : amount} currency={operatorOf(id).currency} />
      )
    },
    { id: "days", header: "Days", align: "right", cell: ({ valid_days: days }) => days },
    { id: "grants", header: "Per player", align: "right", cell: (bonus) => bonus.max_grants_per_player || "–" },
    {
      id: "state",
      header: "State",
      value: ({ is_active: isActive }) => isActive ? 0 : 1,
      cell: ({ is_active: isActive }) => <Status of={isActive ? "active" : "inactive"} />
    },
    buttonColumn((bonus) => (
      <Group gap={4} justify="flex-end" wrap="nowrap">
        <ChangeBonus bonus={bonus} />
        <SwitchBonus bonus={bonus} />
      </Group>
    ))
  ]
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

/** Staff cases about players: the list, and opening one. */
import { useMemo } from "react"
import { useColleagues } from "../app/colleagues.ts"
import { useAnswer } from "../app/queries.ts"
import { usePermission } from "../app/session.tsx"
import { ActionButton } from "../parts/ActionButton.tsx"
import { formOf } from "../parts/Fields.tsx"
import { filtersOf, List, ListPage } from "../parts/ListPage.tsx"
import { columnsOf } from "../parts/shown.tsx"
import { countText, words } from "../parts/Values.tsx"

const filters = filtersOf("case.list", {}, ["status", "type", "operator"])

const useColumns = () => {
  const { nameOf } = useColleagues()
  return useMemo(() =>
    columnsOf(
      "case.list",
      ["id", { to: ({ id }) => `/cases/${id}` }],
      ["type", { cell: ({ type }) => words(type) }],
      "status",
      ["decision", { cell: ({ decision }) => decision === null ? "–" : words(decision) }],
      "player_id",
      "operator_id",
      ["assigned_to", { cell: ({ assigned_to: id }) => nameOf(id) }],
      ["created_at", { label: "Opened" }]
    ), [nameOf])
}

/** Opens a case; about a player who is known already, without asking for the id. */
export function OpenCase({ player }: { readonly player?: number }) {
  return (
    <ActionButton
      action="case.open"
      label="Open case"
      fields={formOf("case.open", {
        player: player === undefined ? { label: "Player id" } : false,
        alerts: false
      })}
      {...(player === undefined ? {} : { fixed: { player } })}
      done="Case opened"
    />
  )
}

/** How many cases are not closed, in words. */
function Counts() {
  const may = usePermission()
  const overview = useAnswer("figures.overview", {}, { enabled: may("figures.overview") }).data?.data
  if (overview === undefined || overview.open_cases === null) return null
  const { count, is_lower_bound: isMore, unassigned } = overview.open_cases
  return <span>{`${countText(count)}${isMore ? "+" : ""} not closed, ${countText(unassigned)} unassigned`}</span>
}

export default function CasesPage() {
  const columns = useColumns()
  return (
    <ListPage
      heading="Cases"
      action="case.list"
      paging="walk"
      filters={filters}
      columns={columns}
      actions={
        <>
          <Counts />
          <OpenCase />
        </>
      }
      empty="No cases. Critical alerts open one, and so does what a jurisdiction wants to be looked at."
    />
  )
}

/** Those about one player. */
export function PlayerCases({ player }: { readonly player: number }) {
  const columns = useColumns()
  return (
    <List
      heading="Cases"
      action="case.list"
      query={{ player }}
      paging="walk"
      columns={columns}
      empty="No case about the player."
    />
  )
}

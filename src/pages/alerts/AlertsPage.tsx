/** Alerts page: the queue, the most severe first, with the open alert beside it, and the alert rules. */
import { Button, Group, Stack, Tabs, Text, TextInput } from "@mantine/core"
import { useRouter } from "@tanstack/react-router"
import { useMemo } from "react"
import { alertRules, alertTransitions } from "../../domain/compliance/AlertRules.ts"
import { useAddress } from "../app/address.ts"
import type { Row } from "../app/api.ts"
import { useColleagues } from "../app/colleagues.ts"
import { useOperatorOf, usePermission } from "../app/session.tsx"
import { type Details, DetailsLink } from "../parts/Beside.tsx"
import type { Bulk } from "../parts/Bulk.tsx"
import type { Filter } from "../parts/FilterInputs.tsx"
import { filtersOf, List } from "../parts/ListPage.tsx"
import { PageHead } from "../parts/PageHead.tsx"
import type { RowActions } from "../parts/RowMenu.tsx"
import { columnsOf } from "../parts/shown.tsx"
import { asHeading, Clip, Status } from "../parts/Values.tsx"
import { AlertCase, assignToMe, moveTo, noteForm } from "./AlertCase.tsx"
import { AlertRules } from "./AlertRules.tsx"
import { describeFinding } from "./findings.ts"

type Alert = Row<"alert.list">

const useFilters = (): ReadonlyArray<Filter> => {
  const { colleagues, own } = useColleagues()
  return useMemo(() =>
    filtersOf("alert.list", {
      rule: { options: alertRules.map((value) => ({ value, label: asHeading(value) })), width: 190 },
      assigned_to: {
        kind: "choice",
        options: [
          { value: "me", label: "Me" },
          { value: "none", label: "Nobody" },
          ...colleagues.filter(({ id }) => id !== own).map(({ id, name }) => ({ value: String(id), label: name }))
        ]
      }
    }, ["player", "status", "assigned_to"]), [colleagues, own])
}

const sorts = {
  severity: { descending: "severity" },
  created_at: { ascending: "oldest", descending: "newest" }
}

const severestFirst = { sort: "severity" }

const playerOf = ({ player_id: player }: Alert) => player

const details: Details<Alert> = {
  param: "id",
  headingOf: (id, alert) => alert === undefined ? `Alert ${id}` : `Alert ${id}: ${asHeading(alert.rule).toLowerCase()}`,
  draw: (id) => <AlertCase key={id} id={Number(id)} />
}

const nameOf = ({ id }: Alert) => `alert ${id}`

const bulkFor = (own: number | null | undefined): Bulk<Alert> => ({
  noun: ["alert", "alerts"],
  nameOf,
  actions: [
    ...(own === null || own === undefined ? [] : [{
      action: "alert.assign_many" as const,
      verb: "Claim",
      past: "yours",
      ids: "alerts",
      fixed: { staff: "me" },
      explanation: "They are yours then.",
      leftOut: ({ assigned_to: to, status }: Alert) =>
        status === "closed" ? "closed already" : to === own ? "yours already" : undefined
    }]),
    {
      action: "alert.update_many",
      verb: "Close",
      past: "closed",
      ids: "alerts",
      fields: noteForm({ label: "Reason", required: true }),
      fixed: { status: "closed" },
      explanation: "For good: what happens later is another alert. Withdrawals that they stop may go on.",
      danger: true,
      leftOut: ({ status }) => alertTransitions(status).includes("closed") ? undefined : "closed already"
    }
  ]
})

function Alerts() {
  const filters = useFilters()
  const { nameOf: assignee, own } = useColleagues()
  const operatorOf = useOperatorOf()
  const columns = useMemo(() =>
    columnsOf(
      "alert.list",
      ["id", { cell: ({ id }) => <DetailsLink param="id" value={id}>{id}</DetailsLink> }],
      "severity",
      ["rule", { cell: ({ rule }) => asHeading(rule) }],
      "player_id",
      {
        id: "details",
        header: "Finding",
        isAside: true,
        cell: ({ details: found, operator_id: operator, rule }) => (
          <Clip width={220}>{describeFinding(rule, found, operatorOf(operator).currency)}</Clip>
        )
      },
      ["status", { isAside: true }],
      ["stops_withdrawals", {
        label: "Withdrawals",
        isAside: true,
        cell: ({ stops_withdrawals: stops }) => stops ? <Status of="stopped" /> : "–"
      }],
      ["operator_id", { isAside: true }],
      ["assigned_to", { isAside: true, cell: ({ assigned_to: id }) => assignee(id) }],
      ["created_at", { label: "Raised" }]
    ), [assignee, operatorOf])
  const bulk = useMemo(() => bulkFor(own), [own])
  const actions = useMemo((): RowActions<Alert> => ({
    nameOf,
    of: (alert) => [
      ...assignToMe(alert, own).map((action) => ({ ...action, isNext: alert.assigned_to === null })),
      ...moveTo(alert)
    ]
  }), [own])
  return (
    <List
      heading="Alerts"
      action="alert.list"
      paging="cursor"
      query={severestFirst}
      filters={filters}
      sorts={sorts}
      groupOf={playerOf}
      columns={columns}
      rowActions={actions}
      bulk={bulk}
      details={details}
      empty="No alerts. The rules raise one when a player does what they look for."
    />
  )
}

/** Opens a case by its id. */
function OpenById() {
  const { history } = useRouter()
  const open = (event: React.FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const id = new FormData(event.currentTarget).get("id")
    if (typeof id !== "string" || !/^\d{1,15}$/.test(id.trim())) return
    const next = new URLSearchParams(history.location.search)
    next.set("id", id.trim())
    history.push(`${history.location.pathname}?${next.toString()}`)
  }
  return (
    <form onSubmit={open}>
      <Group gap={4}>
        <TextInput name="id" size="xs" w={120} aria-label="Alert id" placeholder="Alert id" inputMode="numeric" />
        <Button type="submit" size="xs" variant="default">Open</Button>
      </Group>
    </form>
  )
}

export default function AlertsPage() {
  const may = usePermission()
  const [search, setSearch] = useAddress()
  if (!may("alert.list")) {
    return (
      <Stack>
        <PageHead heading="Alerts" />
        <Text size="sm">Your role may not see this list.</Text>
      </Stack>
    )
  }
  return (
    <Stack>
      <PageHead heading="Alerts">
        <OpenById />
      </PageHead>
      <Tabs
        value={search["tab"] ?? "alerts"}
        onChange={(tab) => setSearch({ tab: tab === "alerts" ? undefined : tab ?? undefined })}
        keepMounted={false}
      >
        <Tabs.List mb="sm">
          <Tabs.Tab value="alerts">Alerts</Tabs.Tab>
          {may("alert.rules") && <Tabs.Tab value="rules">Rules</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="alerts">
          <Alerts />
        </Tabs.Panel>
        <Tabs.Panel value="rules">
          <AlertRules />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  )
}

/** Alerts: list of cases by status, rule and assignee; one case; the rules that raise them. */
import { Button, Group, Stack, Tabs, Text, TextInput } from "@mantine/core"
import { useLocation, useRouter } from "@tanstack/react-router"
import { useMemo } from "react"
import { alertRules } from "../../domain/compliance/AlertRules.ts"
import { useAddress } from "../app/address.ts"
import { usePermission } from "../app/session.tsx"
import { buttonColumn } from "../parts/columns.tsx"
import { type Filter, filtersOf, List, PageHead } from "../parts/ListPage.tsx"
import { columnsOf } from "../parts/shown.tsx"
import { asHeading, Status } from "../parts/Values.tsx"
import { useAccounts } from "./accounts.ts"
import { AlertCase, AssignToMe } from "./AlertCase.tsx"
import { AlertRules } from "./AlertRules.tsx"

const useFilters = (): ReadonlyArray<Filter> => {
  const { accounts, own } = useAccounts()
  return useMemo(() =>
    filtersOf("alert.list", {
      rule: { options: alertRules.map((value) => ({ value, label: asHeading(value) })), width: 190 },
      assigned_to: {
        kind: "choice",
        options: [
          { value: "me", label: "Me" },
          { value: "none", label: "Nobody" },
          ...accounts.filter(({ id }) => id !== own).map(({ id, name }) => ({ value: String(id), label: name }))
        ]
      }
    }), [accounts, own])
}

/** Address of this page with these changes; the filters are kept. */
const useAddressWith = (): (changes: Readonly<Record<string, string | undefined>>) => string => {
  const { pathname, searchStr } = useLocation()
  return useMemo(() => (changes) => {
    const next = new URLSearchParams(searchStr)
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined) next.delete(name)
      else next.set(name, value)
    }
    const text = next.toString()
    return text === "" ? pathname : `${pathname}?${text}`
  }, [pathname, searchStr])
}

function Alerts() {
  const filters = useFilters()
  const { nameOf, own } = useAccounts()
  const addressWith = useAddressWith()
  const columns = useMemo(() =>
    columnsOf(
      "alert.list",
      ["id", { to: ({ id }) => addressWith({ id: String(id) }) }],
      "severity",
      ["rule", { cell: ({ rule }) => asHeading(rule) }],
      "status",
      ["stops_withdrawals", {
        label: "Withdrawals",
        cell: ({ stops_withdrawals: stops }) => stops ? <Status of="stopped" /> : "–"
      }],
      "player_id",
      "operator_id",
      ["assigned_to", { cell: ({ assigned_to: id }) => nameOf(id) }],
      ["created_at", { label: "Raised" }],
      buttonColumn((alert) => alert.assigned_to === null && <AssignToMe alert={alert} own={own} />)
    ), [addressWith, nameOf, own])
  return (
    <List
      heading="Alerts"
      action="alert.list"
      paging="cursor"
      filters={filters}
      columns={columns}
      empty="No alerts. The rules raise one when a player does what they look for."
    />
  )
}

/** Opens a case by its id. */
function OpenById() {
  const { history } = useRouter()
  const addressWith = useAddressWith()
  const open = (event: React.FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const id = new FormData(event.currentTarget).get("id")
    if (typeof id === "string" && /^\d{1,15}$/.test(id.trim())) history.push(addressWith({ id: id.trim() }))
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
  const addressWith = useAddressWith()
  const { id } = search
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
      {id !== undefined
        ? <AlertCase key={id} id={Number(id)} back={addressWith({ id: undefined })} />
        : (
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
        )}
    </Stack>
  )
}

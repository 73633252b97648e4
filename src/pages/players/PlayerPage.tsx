/** Player: a fixed head, and a tab for each kind of data. */
import { Stack, Tabs } from "@mantine/core"
import { useAddress, usePathPart } from "../app/address.ts"
import type { Action } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { usePermission } from "../app/session.tsx"
import { PageHead } from "../parts/PageHead.tsx"
import { Waiting } from "../parts/Refusal.tsx"
import { PlayerCompliance } from "./PlayerCompliance.tsx"
import { PlayerHead } from "./PlayerHead.tsx"
import { PlayerLimits } from "./PlayerLimits.tsx"
import {
  PlayerAlerts,
  PlayerAudit,
  PlayerCalls,
  PlayerLedger,
  PlayerNotes,
  PlayerPayments,
  PlayerRounds,
  PlayerSessions,
  PlayerTimeline
} from "./PlayerLists.tsx"
import { PlayerOffers } from "./PlayerOffers.tsx"
import { PlayerOverview } from "./PlayerOverview.tsx"
import type { Player } from "./player.ts"

interface Tab {
  readonly value: string
  readonly label: string
  readonly action: Action
  readonly Content: (props: { readonly player: Player }) => React.ReactNode
}

const tabs: ReadonlyArray<Tab> = [
  { value: "overview", label: "Overview", action: "player.show", Content: PlayerOverview },
  { value: "timeline", label: "Timeline", action: "player.timeline", Content: PlayerTimeline },
  { value: "ledger", label: "Ledger", action: "player.transactions", Content: PlayerLedger },
  { value: "rounds", label: "Rounds", action: "round.search", Content: PlayerRounds },
  { value: "calls", label: "Refused calls", action: "round.calls", Content: PlayerCalls },
  { value: "payments", label: "Payments", action: "payment.list", Content: PlayerPayments },
  { value: "bonuses", label: "Bonuses", action: "player.bonuses", Content: PlayerOffers },
  { value: "limits", label: "Limits", action: "player.limits", Content: PlayerLimits },
  { value: "compliance", label: "Compliance", action: "player.compliance", Content: PlayerCompliance },
  { value: "sessions", label: "Sessions", action: "player.sessions", Content: PlayerSessions },
  { value: "notes", label: "Notes", action: "player.notes", Content: PlayerNotes },
  { value: "alerts", label: "Alerts", action: "alert.list", Content: PlayerAlerts },
  { value: "audit", label: "Audit log", action: "audit.list", Content: PlayerAudit }
]

function Shown({ player }: { readonly player: Player }) {
  const may = usePermission()
  const [search, setSearch] = useAddress()
  const standing = useAnswer("player.standing", { params: { player: player.id } }, {
    enabled: may("player.standing")
  })
  const offered = tabs.filter(({ action }) => may(action))
  const chosen = offered.find(({ value }) => value === search["tab"])?.value ?? "overview"
  // filters belong to the list that they were set on
  const choose = (tab: string | null) =>
    setSearch({
      ...Object.fromEntries(Object.keys(search).map((name) => [name, undefined])),
      tab: tab === null || tab === "overview" ? undefined : tab
    })
  return (
    <Stack>
      <PlayerHead player={player} standing={standing.data?.data} />
      <Tabs value={chosen} onChange={choose} keepMounted={false}>
        <Tabs.List mb="md">
          {offered.map(({ label, value }) => <Tabs.Tab key={value} value={value}>{label}</Tabs.Tab>)}
        </Tabs.List>
        {offered.map(({ Content, value }) => (
          <Tabs.Panel key={value} value={value}>
            {/* a long list measures where it begins: the head must have its height */}
            {!standing.isLoading && <Content player={player} />}
          </Tabs.Panel>
        ))}
      </Tabs>
    </Stack>
  )
}

export default function PlayerPage() {
  const id = Number(usePathPart("player"))
  const query = useAnswer("player.show", { params: { player: id } })
  const player = query.data?.data
  // while another player is loading, the previous one is still in the cache
  if (player !== undefined && player.id === id) return <Shown key={id} player={player} />
  return (
    <Stack>
      {query.error !== null && <PageHead heading="Player" />}
      <Waiting query={query} />
    </Stack>
  )
}

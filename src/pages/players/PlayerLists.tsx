/** History of a player: timeline, entries, rounds, payments, launches, notes, alerts, the audit log. */
import { Group, Stack, Text } from "@mantine/core"
import { useMemo } from "react"
import type { Row } from "../app/api.ts"
import { useColleagues } from "../app/colleagues.ts"
import { useAuditLines } from "../audit/auditLines.tsx"
import { ActionButton } from "../parts/ActionButton.tsx"
import { formOf } from "../parts/Fields.tsx"
import { filtersOf, List } from "../parts/ListPage.tsx"
import { LongList } from "../parts/LongList.tsx"
import { columnsOf } from "../parts/shown.tsx"
import { asHeading, Clip, PageLink, Status, words } from "../parts/Values.tsx"
import { columnsOfPlayersCalls } from "../rounds/callColumns.tsx"
import { columnsOfPlayersRounds } from "../rounds/roundColumns.tsx"
import { PlayedGame, playText } from "./PlayedGame.tsx"
import { PlayerStatement } from "./PlayerStatement.tsx"
import type { Player } from "./player.ts"

type Entry = Row<"player.transactions">
type Item = Row<"player.timeline">
type Note = Row<"player.notes">

interface Props {
  readonly player: Player
}

const kinds: { readonly [kind in Item["kind"]]: string } = {
  entry: "Ledger entries",
  payment: "Payments",
  bonus: "Bonuses",
  session: "Launches",
  note: "Notes",
  alert: "Alerts",
  limit: "Limits",
  exclusion: "Exclusions",
  audit: "Staff's changes",
  play: "Play"
}

const timelineFilters = filtersOf("player.timeline", {
  kind: { options: Object.entries(kinds).map(([value, label]) => ({ value, label })) }
})

const timelineColumns = (player: Player, actorOf: (label: string) => string) =>
  columnsOf(
    "player.timeline",
    ["at", { seconds: true }],
    ["kind", { cell: ({ kind }) => <Status of={kind} /> }],
    ["title", {
      label: "What",
      cell: ({ at, href, play, title }) =>
        play !== null
          ? <PlayedGame player={player} play={play} at={at} title={title} />
          : href === null
          ? asHeading(title)
          : <PageLink to={href}>{asHeading(title)}</PageLink>
    }],
    ["detail", {
      cell: (item) => {
        const text = playText(item)
        return text === null ? "–" : <Clip width={340}>{text}</Clip>
      }
    }],
    ["amount", { signed: true }],
    ["actor", { label: "By", cell: ({ actor }) => actor === null ? "–" : <Clip width={140}>{actorOf(actor)}</Clip> }]
  )

export function PlayerTimeline({ player }: Props) {
  const { actorOf } = useColleagues()
  const columns = useMemo(() => timelineColumns(player, actorOf), [actorOf, player])
  return (
    <List
      heading="Timeline"
      action="player.timeline"
      paging="cursor"
      params={{ player: player.id }}
      filters={timelineFilters}
      columns={columns}
      rowKey={({ at, id, kind, title }) => `${kind} ${id} ${at} ${title}`}
      empty="Nothing has happened yet."
    />
  )
}

const entryFilters = filtersOf("player.transactions")

/** Subject of an entry, linked where there is a page. */
function EntrySubject({ entry }: { readonly entry: Entry }) {
  const { game_round_id: round, id, payment_request_id: payment, player_bonus_id: bonus } = entry
  if (round !== null) return <PageLink to={`/rounds?transaction=${id}`} title={round}>{round}</PageLink>
  if (payment !== null) return <PageLink to={`/payments?id=${payment}`}>{`Payment ${payment}`}</PageLink>
  return <>{bonus === null ? "–" : `Bonus ${bonus}`}</>
}

const columnsOfEntries = columnsOf(
  "player.transactions",
  ["id", { width: 100 }],
  ["created_at", { label: "At", seconds: true, width: 175 }],
  ["type", { width: 160 }],
  ["wallet", { width: 70 }],
  ["amount", { width: 115, signed: true }],
  ["balance_after", { width: 125 }],
  ["game", { width: 150, lines: 3 }],
  { id: "subject", header: "Round or payment", cell: (entry) => <EntrySubject entry={entry} /> }
)

export function PlayerLedger({ player }: Props) {
  return (
    <Stack>
      <PlayerStatement player={player} />
      <LongList
        heading="Ledger entries"
        action="player.transactions"
        params={{ player: player.id }}
        filters={entryFilters}
        columns={columnsOfEntries}
        empty="No entries yet. Every movement of money in the player's wallets is one."
      />
    </Stack>
  )
}

const roundFilters = filtersOf("round.search", { player: false, operator: false })

export function PlayerRounds({ player }: Props) {
  return (
    <List
      heading="Rounds"
      action="round.search"
      paging="cursor"
      query={{ player: player.id }}
      filters={roundFilters}
      columns={columnsOfPlayersRounds}
      rowKey={({ game_id: game, round_id: round }) => `${game} ${round}`}
      empty="No rounds yet. They appear here as the player bets."
    />
  )
}

const callFilters = filtersOf("round.calls", { player: false, operator: false }, ["kind", "result", "from"])

export function PlayerCalls({ player }: Props) {
  return (
    <Stack>
      <Text size="sm">
        Calls of providers that moved no money, with the answer that was given: refused, or sent again. Kept for 30
        days.
      </Text>
      <List
        heading="Refused and replayed calls"
        action="round.calls"
        paging="cursor"
        query={{ player: player.id }}
        filters={callFilters}
        columns={columnsOfPlayersCalls}
        empty="None. What providers sent for the player was accepted at once."
      />
    </Stack>
  )
}

const paymentFilters = filtersOf("payment.list", {
  player: false,
  operator: false,
  currency: false,
  id: { label: "Payment id" }
})

const paymentColumns = columnsOf(
  "payment.list",
  ["id", { to: ({ id }) => `/payments?id=${id}` }],
  "type",
  "status",
  "amount",
  "payment_method",
  "external_reference",
  ["created_at", { label: "Requested", seconds: true }],
  ["waiting_for", {
    label: "Waits for",
    cell: ({ waiting_for: waits }) => waits.length === 0 ? "–" : waits.map(words).join(", ")
  }]
)

export function PlayerPayments({ player }: Props) {
  return (
    <List
      heading="Payments"
      action="payment.list"
      paging="walk"
      query={{ player: player.id }}
      filters={paymentFilters}
      columns={paymentColumns}
      empty="No payments yet. Deposits and withdrawals appear here as the player asks for them."
    />
  )
}

const sessionFilters = filtersOf("player.sessions")

const sessionColumns = columnsOf(
  "player.sessions",
  ["opened_at", { seconds: true }],
  "game",
  "provider",
  ["mode", { cell: ({ mode }) => mode === "demo" ? "free play" : "for money" }],
  "platform",
  ["ip", { label: "Address" }],
  ["expires_at", { seconds: true }],
  ["ended_at", { label: "Ended before", seconds: true }]
)

export function PlayerSessions({ player }: Props) {
  return (
    <Stack>
      <Text size="sm">Launches of games. Sign out everywhere ends those that run.</Text>
      <List
        heading="Sessions"
        action="player.sessions"
        paging="cursor"
        params={{ player: player.id }}
        filters={sessionFilters}
        columns={sessionColumns}
        empty="No launches yet. They appear here as the player opens games."
      />
    </Stack>
  )
}

/** Subjects of notes that are not the player's, with the page of each. */
const subjects: Readonly<
  Record<string, { readonly name: string; readonly path: (player: number, id: string) => string }>
> = {
  payment: { name: "Payment", path: (_, id) => `/payments?id=${id}` },
  player_bonus: { name: "Bonus", path: (player) => `/players/${player}?tab=bonuses` }
}

function Subject({ note: { player_id: player, subject } }: { readonly note: Note }) {
  const [kind = "", id = ""] = subject.split(":")
  const named = subjects[kind]
  return named === undefined
    ? <>The player</>
    : <PageLink to={named.path(player, id)}>{`${named.name} ${id}`}</PageLink>
}

const noteFilters = filtersOf("player.notes")

const noteColumns = (authorOf: (label: string) => string) =>
  columnsOf(
    "player.notes",
    ["created_at", { label: "At", width: 190 }],
    ["author", { label: "By", cell: ({ author }) => <Clip width={160}>{authorOf(author)}</Clip> }],
    ["subject", { label: "About", cell: (note) => <Subject note={note} /> }],
    ["text", {
      label: "Note",
      cell: ({ text }) => (
        <Text size="sm" maw={640} style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>{text}</Text>
      )
    }]
  )

export function PlayerNotes({ player }: Props) {
  const { actorOf } = useColleagues()
  const columns = useMemo(() => noteColumns(actorOf), [actorOf])
  return (
    <List
      heading="Notes"
      action="player.notes"
      paging="walk"
      params={{ player: player.id }}
      filters={noteFilters}
      columns={columns}
      empty="No notes yet. Add one: staff see it with the player."
    />
  )
}

const alertFilters = filtersOf("alert.list", { player: false, operator: false, assigned_to: false })

const alertColumns = columnsOf(
  "alert.list",
  ["id", { to: ({ id }) => `/alerts?id=${id}` }],
  "rule",
  "severity",
  "status",
  ["stops_withdrawals", {
    label: "Withdrawals",
    cell: ({ id, status, stops_withdrawals: stops }) => (
      <Group gap="xs">
        {stops ? "held" : "not held"}
        {stops && status !== "closed" && (
          <ActionButton
            action="alert.release"
            label="Release withdrawals"
            params={{ alert: id }}
            fields={formOf("alert.release")}
            explanation="This alert no longer stops the player's withdrawals. It stays open."
          />
        )}
      </Group>
    )
  }],
  ["created_at", { label: "Raised", seconds: true }],
  ["updated_at", { seconds: true }]
)

export function PlayerAlerts({ player }: Props) {
  return (
    <List
      heading="Alerts"
      action="alert.list"
      paging="cursor"
      query={{ player: player.id }}
      filters={alertFilters}
      columns={alertColumns}
      empty="No alerts. The rules against money laundering raise them."
    />
  )
}

const auditFilters = filtersOf("audit.list", { player: false, staff: false, operator: false })

export function PlayerAudit({ player }: Props) {
  const { columns, details } = useAuditLines({ ofPlayer: true })
  return (
    <>
      <List
        heading="Audit log"
        action="audit.list"
        paging="walk"
        query={{ player: player.id }}
        filters={auditFilters}
        columns={columns}
        empty="Nothing yet. Every change that staff make to the player leaves a line here."
      />
      {details}
    </>
  )
}

/** History of a player: timeline, entries, rounds, payments, launches, notes, alerts, the audit log. */
import { Group, Stack, Text } from "@mantine/core"
import type { Row } from "../app/api.ts"
import { useAuditLines } from "../audit/auditLines.tsx"
import { ActionButton } from "../parts/ActionButton.tsx"
import { amounts } from "../parts/columns.tsx"
import type { Column } from "../parts/DataTable.tsx"
import { filtersOf, List } from "../parts/ListPage.tsx"
import { LongList } from "../parts/LongList.tsx"
import { asHeading, Clip, Instant, Money, PageLink, Status, words } from "../parts/Values.tsx"
import { useRoundColumns } from "../rounds/roundColumns.tsx"
import type { Player } from "./player.ts"

type Entry = Row<"player.transactions">
type Item = Row<"player.timeline">
type Payment = Row<"payment.list">
type GameSession = Row<"player.sessions">
type Note = Row<"player.notes">
type Alert = Row<"alert.list">

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
  audit: "Staff's changes"
}

const timelineFilters = filtersOf("player.timeline", {
  kind: { options: Object.entries(kinds).map(([value, label]) => ({ value, label })) }
})

const timelineColumns: ReadonlyArray<Column<Item>> = [
  { id: "at", header: "At", width: 190, cell: ({ at }) => <Instant at={at} /> },
  { id: "kind", header: "Kind", cell: ({ kind }) => <Status of={kind} /> },
  {
    id: "title",
    header: "What",
    width: 210,
    cell: ({ href, title }) => href === null ? asHeading(title) : <PageLink to={href}>{asHeading(title)}</PageLink>
  },
  { id: "detail", header: "Detail", cell: ({ detail }) => detail === null ? "–" : <Clip width={300}>{detail}</Clip> },
  {
    id: "amount",
    header: "Amount",
    align: "right",
    cell: ({ amount, currency }) => <Money amount={amount} currency={currency ?? "EUR"} signed />
  },
  { id: "actor", header: "By", cell: ({ actor }) => actor === null ? "–" : <Clip width={140}>{actor}</Clip> }
]

export function PlayerTimeline({ player }: Props) {
  return (
    <List
      heading="Timeline"
      action="player.timeline"
      paging="cursor"
      params={{ player: player.id }}
      filters={timelineFilters}
      columns={timelineColumns}
      rowKey={({ at, id, kind, title }) => `${kind} ${id} ${at} ${title}`}
      empty="Nothing has happened yet."
    />
  )
}

const entryFilters = filtersOf("player.transactions")

/** Subject of an entry, linked where there is a page. */
function Subject({ entry }: { readonly entry: Entry }) {
  const { game_round_id: round, id, payment_request_id: payment, player_bonus_id: bonus } = entry
  if (round !== null) return <PageLink to={`/rounds?transaction=${id}`}>{round}</PageLink>
  if (payment !== null) return <PageLink to={`/payments?id=${payment}`}>{`Payment ${payment}`}</PageLink>
  return <>{bonus === null ? "–" : `Bonus ${bonus}`}</>
}

const entryColumns: ReadonlyArray<Column<Entry>> = [
  { id: "id", header: "Id", width: 110, cell: ({ id }) => id },
  { id: "at", header: "At", width: 180, cell: ({ created_at: at }) => <Instant at={at} /> },
  { id: "type", header: "Type", width: 190, cell: ({ type }) => words(type) },
  { id: "wallet", header: "Wallet", width: 80, cell: ({ wallet }) => wallet },
  amounts("amount", "Amount", ({ amount }) => amount, { width: 130, signed: true }),
  amounts("balance", "Balance after", ({ balance_after: balance }) => balance, { width: 140 }),
  { id: "subject", header: "Round or payment", cell: (entry) => <Subject entry={entry} /> }
]

export function PlayerLedger({ player }: Props) {
  return (
    <LongList
      heading="Ledger entries"
      action="player.transactions"
      params={{ player: player.id }}
      filters={entryFilters}
      columns={entryColumns}
      empty="No entries yet. Every movement of money in the player's wallets is one."
    />
  )
}

const roundFilters = filtersOf("round.search", { player: false, operator: false })

export function PlayerRounds({ player }: Props) {
  const columns = useRoundColumns({ ofPlayer: true })
  return (
    <List
      heading="Rounds"
      action="round.search"
      paging="cursor"
      query={{ player: player.id }}
      filters={roundFilters}
      columns={columns}
      rowKey={({ game_id: game, round_id: round }) => `${game} ${round}`}
      empty="No rounds yet. They appear here as the player bets."
    />
  )
}

const paymentFilters = filtersOf("payment.list", {
  player: false,
  operator: false,
  currency: false,
  id: { label: "Payment id" }
})

const paymentColumns: ReadonlyArray<Column<Payment>> = [
  { id: "id", header: "Id", cell: ({ id }) => <PageLink to={`/payments?id=${id}`}>{String(id)}</PageLink> },
  { id: "type", header: "Type", cell: ({ type }) => type },
  { id: "status", header: "Status", cell: ({ status }) => <Status of={status} /> },
  amounts("amount", "Amount", ({ amount }) => amount),
  { id: "method", header: "Method", cell: ({ payment_method: method }) => method ?? "–" },
  { id: "reference", header: "Reference", cell: ({ external_reference: reference }) => reference ?? "–" },
  { id: "created", header: "Requested", cell: ({ created_at: at }) => <Instant at={at} /> },
  {
    id: "waits",
    header: "Waits for",
    cell: ({ waiting_for: waits }) => waits.length === 0 ? "–" : waits.map(words).join(", ")
  }
]

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

const sessionColumns: ReadonlyArray<Column<GameSession>> = [
  { id: "opened", header: "Opened", cell: ({ opened_at: at }) => <Instant at={at} /> },
  { id: "game", header: "Game", cell: ({ game }) => game },
  { id: "provider", header: "Provider", cell: ({ provider }) => provider },
  { id: "mode", header: "Mode", cell: ({ mode }) => mode === "demo" ? "free play" : "for money" },
  { id: "platform", header: "Platform", cell: ({ platform }) => platform ?? "–" },
  { id: "ip", header: "Address", cell: ({ ip }) => ip ?? "–" },
  { id: "expires", header: "Expires", cell: ({ expires_at: at }) => <Instant at={at} /> },
  { id: "ended", header: "Ended before", cell: ({ ended_at: at }) => <Instant at={at} /> }
]

export function PlayerSessions({ player }: Props) {
  return (
    <Stack>
      <Text size="sm">Launches of games. Sign out everywhere ends those that run.</Text>
      <List
        heading="Sessions"
        action="player.sessions"
        paging="cursor"
        params={{ player: player.id }}
        columns={sessionColumns}
        empty="No launches yet. They appear here as the player opens games."
      />
    </Stack>
  )
}

/** Subject of a note, as text; a dash for the player. */
const subjectOf = ({ player_id: player, subject }: Note): string => {
  const [kind, id] = subject.split(":")
  return kind === "player" ? "–" : `${asHeading(kind ?? "")} ${id ?? player}`
}

const noteColumns: ReadonlyArray<Column<Note>> = [
  { id: "at", header: "At", width: 190, cell: ({ created_at: at }) => <Instant at={at} seconds={false} /> },
  { id: "author", header: "By", cell: ({ author }) => author },
  { id: "subject", header: "About", cell: subjectOf },
  {
    id: "text",
    header: "Note",
    cell: ({ text }) => <Text size="sm" maw={640} style={{ whiteSpace: "pre-wrap" }}>{text}</Text>
  }
]

export function PlayerNotes({ player }: Props) {
  return (
    <List
      heading="Notes"
      action="player.notes"
      paging="walk"
      params={{ player: player.id }}
      columns={noteColumns}
      empty="No notes yet. Add one: staff see it with the player."
    />
  )
}

const alertFilters = filtersOf("alert.list", { player: false, operator: false, assigned_to: false })

const alertColumns: ReadonlyArray<Column<Alert>> = [
  { id: "id", header: "Id", cell: ({ id }) => <PageLink to={`/alerts?id=${id}`}>{String(id)}</PageLink> },
  { id: "rule", header: "Rule", cell: ({ rule }) => words(rule) },
  { id: "severity", header: "Severity", cell: ({ severity }) => <Status of={severity} /> },
  { id: "status", header: "Status", cell: ({ status }) => <Status of={status} /> },
  {
    id: "holds",
    header: "Withdrawals",
    cell: ({ id, status, stops_withdrawals: stops }) => (
      <Group gap="xs">
        {stops ? "held" : "not held"}
        {stops && status !== "closed" && (
          <ActionButton
            action="alert.release"
            label="Release withdrawals"
            params={{ alert: id }}
            fields={[{ name: "reason", label: "Reason", kind: "lines", required: true }]}
            explanation="This alert no longer stops the player's withdrawals. It stays open."
          />
        )}
      </Group>
    )
  },
  { id: "created", header: "Raised", cell: ({ created_at: at }) => <Instant at={at} /> },
  { id: "updated", header: "Changed", cell: ({ updated_at: at }) => <Instant at={at} /> }
]

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

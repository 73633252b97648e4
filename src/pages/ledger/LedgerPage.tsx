/** Ledger: entries of all players, newest first. */
import { messageOfEntryHref } from "../../domain/MessageHref.ts"
import { roundHref } from "../../domain/RoundHref.ts"
import type { Row } from "../app/api.ts"
import { filtersOf, ListPage } from "../parts/ListPage.tsx"
import { columnsOf } from "../parts/shown.tsx"
import { PageLink } from "../parts/Values.tsx"

type Entry = Row<"ledger.entries">

const filters = filtersOf("ledger.entries", { type: { width: 170 } }, ["player", "type", "from"])

/** Subject of an entry: a round, a payment, a bonus; linked where there is a page. */
function Subject({ entry }: { readonly entry: Entry }) {
  const { game_external_id: game, game_round_id: round, payment_request_id: payment, player_bonus_id: bonus } = entry
  if (entry.provider !== null && game !== null && round !== null) {
    return <PageLink to={roundHref(entry.provider, game, round, entry.player_id)}>{round}</PageLink>
  }
  if (payment !== null) return <PageLink to={`/payments?id=${payment}`}>{`Payment ${payment}`}</PageLink>
  return <>{bonus === null ? "–" : `Bonus ${bonus}`}</>
}

/** An entry's id, with a link to the message that posted it. */
function MessageLink({ entry: { game_round_id: round, id, provider } }: { readonly entry: Entry }) {
  return provider === null || round === null
    ? <>{id}</>
    : <PageLink to={messageOfEntryHref(provider, id)} title="The message that posted it">{String(id)}</PageLink>
}

const columns = columnsOf(
  "ledger.entries",
  ["id", { cell: (entry) => <MessageLink entry={entry} /> }],
  ["created_at", { label: "At", seconds: true }],
  ["player_id", { width: 110 }],
  "operator_id",
  "type",
  "wallet",
  ["amount", { signed: true }],
  "balance_after",
  ["game", { width: 130 }],
  { id: "subject", header: "Round or payment", cell: (entry) => <Subject entry={entry} /> }
)

export default function LedgerPage() {
  return (
    <ListPage
      heading="Ledger"
      action="ledger.entries"
      paging="cursor"
      filters={filters}
      columns={columns}
      empty="No entries yet. Every movement of money in a player's wallets is one."
    />
  )
}

/** Rounds of games: found by player, game or message. */
import { roundHref } from "../../features/rounds/RoundHref.ts"
import type { Row } from "../app/api.ts"
import { useOperatorOf, useSeveralOperators } from "../app/session.tsx"
import type { Column } from "../parts/DataTable.tsx"
import { type Filter, ListPage } from "../parts/ListPage.tsx"
import { Cut, Instant, Money, PageLink, Status } from "../parts/Values.tsx"

type Round = Row<"round.search">

const states: ReadonlyArray<Round["state"]> = ["open", "closed"]

const filters: ReadonlyArray<Filter> = [
  { name: "player", label: "Player id", kind: "text", width: 110 },
  { name: "provider", label: "Provider", kind: "text", width: 150 },
  { name: "game", label: "Game", kind: "text", width: 150 },
  { name: "transaction", label: "Message or entry id", kind: "text", width: 170 },
  { name: "state", label: "State", kind: "choice", options: states, width: 110 },
  { name: "operator", label: "Operator", kind: "operator" },
  { name: "from", label: "From", kind: "date", width: 140 },
  { name: "to", label: "Before", kind: "date", width: 140 }
]

export default function RoundsPage() {
  const operatorOf = useOperatorOf()
  const hasSeveral = useSeveralOperators()
  const columns: ReadonlyArray<Column<Round>> = [
    {
      id: "round",
      header: "Round",
      cell: ({ game_external_id: game, provider, round_id: round }) => (
        <PageLink to={roundHref(provider, game, round)}>{round}</PageLink>
      )
    },
    { id: "game", header: "Game", cell: ({ game }) => <Cut width={160}>{game}</Cut> },
    { id: "provider", header: "Provider", cell: ({ provider }) => provider },
    {
      id: "player",
      header: "Player",
      cell: ({ player_id: id, username }) => (
        <>
          <PageLink to={`/players/${id}`}>{String(id)}</PageLink> <Cut width={120}>{username}</Cut>
        </>
      )
    },
    ...(hasSeveral
      ? [{
        id: "operator",
        header: "Operator",
        cell: ({ operator_id: id }) => operatorOf(id).name
      }] satisfies ReadonlyArray<Column<Round>>
      : []),
    { id: "state", header: "State", cell: ({ state }) => <Status of={state} /> },
    {
      id: "stake",
      header: "Stake",
      align: "right",
      cell: ({ bonus_stake: bonus, currency, real_stake: real }) => <Money amount={real + bonus} currency={currency} />
    },
    {
      id: "bonus",
      header: "Of it bonus",
      align: "right",
      cell: ({ bonus_stake: bonus, currency }) => <Money amount={bonus} currency={currency} />
    },
    { id: "wins", header: "Wins paid", align: "right", cell: ({ paid_wins: wins }) => wins },
    { id: "opened", header: "Opened", cell: ({ opened_at: at }) => <Instant at={at} /> }
  ]
  return (
    <ListPage
      heading="Rounds"
      action="round.search"
      paging="cursor"
      filters={filters}
      columns={columns}
      rowKey={({ game_id: game, player_id: player, round_id: round }) => `${game} ${player} ${round}`}
      empty="No rounds yet. They appear here as players bet."
    />
  )
}

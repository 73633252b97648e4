/** Game rounds: search by player, game or message. */
import type { Row } from "../app/api.ts"
import { type Filter, ListPage, operatorFilter } from "../parts/ListPage.tsx"
import { useRoundColumns } from "./roundColumns.tsx"

type Round = Row<"round.search">

const states: ReadonlyArray<Round["state"]> = ["open", "closed"]

const filters: ReadonlyArray<Filter> = [
  { name: "player", label: "Player id", kind: "text", width: 110 },
  { name: "provider", label: "Provider", kind: "text", width: 150 },
  { name: "game", label: "Game", kind: "text", width: 150 },
  { name: "transaction", label: "Message or entry id", kind: "text", width: 170 },
  { name: "state", label: "State", kind: "choice", options: states, width: 110 },
  operatorFilter,
  { name: "from", label: "From", kind: "date", width: 140 },
  { name: "to", label: "Before", kind: "date", width: 140 }
]

export default function RoundsPage() {
  const columns = useRoundColumns({ ofPlayer: false })
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

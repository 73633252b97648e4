/** Game rounds: search by player, game or id of a provider message (bet, win, rollback). */
import { filtersOf, ListPage } from "../parts/ListPage.tsx"
import { columnsOfRounds } from "./roundColumns.tsx"

const filters = filtersOf("round.search", {}, ["game", "transaction", "from"])

export default function RoundsPage() {
  return (
    <ListPage
      heading="Rounds"
      action="round.search"
      paging="cursor"
      filters={filters}
      columns={columnsOfRounds}
      rowKey={({ game_id: game, player_id: player, round_id: round }) => `${game} ${player} ${round}`}
      empty="No rounds yet. They appear here as players bet."
    />
  )
}

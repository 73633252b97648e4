/** Play in a player's timeline: one line that expands to its ledger entries. */
import { Text } from "@mantine/core"
import { useId, useState } from "react"
import type { Row } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { DataTable } from "../parts/DataTable.tsx"
import { Waiting } from "../parts/Refusal.tsx"
import { columnsOf } from "../parts/shown.tsx"
import { countText, moneyText, PageLink, usePeriodText } from "../parts/Values.tsx"
import type { Player } from "./player.ts"

type Item = Row<"player.timeline">
type Play = NonNullable<Item["play"]>

/** Entries that open with a line; the ledger has the others. */
const maxEntries = 100

/** Rounds, stakes and wins of a line of play. */
export const playText = ({ currency, detail, play }: Item): string | null =>
  play === null
    ? detail
    : `${detail ?? ""}, staked ${moneyText(play.staked, currency ?? "EUR")}, won ${
      moneyText(play.won, currency ?? "EUR")
    }`

const entryColumns = columnsOf(
  "player.transactions",
  ["created_at", { label: "At", seconds: true }],
  "type",
  ["amount", { signed: true }],
  "balance_after",
  ["game_round_id", { label: "Round", to: ({ id }) => `/rounds?transaction=${id}` }]
)

/** They have the order in which they were made. */
const unsorted = {}

function Entries({ at, play, player, title }: {
  readonly player: Player
  readonly play: Play
  readonly at: string
  readonly title: string
}) {
  const period = { created_from: play.from, created_to: at }
  const query = useAnswer("player.transactions", {
    params: { player: player.id },
    query: { ...period, per_page: maxEntries }
  })
  const answer = query.data
  if (answer === undefined) return <Waiting query={query} />
  // something else may have happened at the same instant
  const entries = answer.data.filter(({ game_id: game }) => game === play.game_id)
  const rest = "total" in answer.meta ? answer.meta.total - answer.data.length : 0
  return (
    <>
      <DataTable
        label={`Entries of ${title}`}
        minWidth={0}
        columns={entryColumns}
        rows={entries}
        rowKey={({ id }) => id}
        sorts={unsorted}
      />
      {rest > 0 && (
        <Text size="xs">
          <PageLink
            to={`/players/${player.id}?tab=ledger&${new URLSearchParams(period).toString()}`}
          >
            {`${countText(rest)} more in the ledger`}
          </PageLink>
        </Text>
      )}
    </>
  )
}

/** A line of play with its times; opens its entries on demand. */
export function PlayedGame({ at, play, player, title }: {
  readonly player: Player
  readonly play: Play
  readonly at: string
  readonly title: string
}) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const period = usePeriodText()
  return (
    <>
      <button
        type="button"
        className="link-button mantine-focus-auto"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <span aria-hidden>{isOpen ? "− " : "+ "}</span>
        {`${period(play.from, at)} ${title}`}
      </button>
      <div id={id} className={isOpen ? "opened" : ""}>
        {isOpen && <Entries player={player} play={play} at={at} title={title} />}
      </div>
    </>
  )
}

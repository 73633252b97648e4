/** Play of a timeline: one line, whose entries open below it. */
import { Table, Text } from "@mantine/core"
import { useId, useState } from "react"
import type { Row } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { Waiting } from "../parts/Refusal.tsx"
import { countText, Instant, Money, moneyText, PageLink, usePeriodText, words } from "../parts/Values.tsx"
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
      <Table fz="xs" verticalSpacing={6} aria-label={`Entries of ${title}`}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>At</Table.Th>
            <Table.Th>Type</Table.Th>
            <Table.Th ta="right">Amount</Table.Th>
            <Table.Th ta="right">Balance after</Table.Th>
            <Table.Th>Round</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {entries.map((
            { amount, balance_after: balance, created_at: made, currency, game_round_id: round, id, type }
          ) => (
            <Table.Tr key={id}>
              <Table.Td>
                <Instant at={made} isBrief />
              </Table.Td>
              <Table.Td>{words(type)}</Table.Td>
              <Table.Td ta="right">
                <Money amount={amount} currency={currency} signed />
              </Table.Td>
              <Table.Td ta="right">
                <Money amount={balance} currency={currency} />
              </Table.Td>
              <Table.Td>
                {round === null ? "–" : <PageLink to={`/rounds?transaction=${id}`}>{round}</PageLink>}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
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
      <div id={id}>{isOpen && <Entries player={player} play={play} at={at} title={title} />}</div>
    </>
  )
}

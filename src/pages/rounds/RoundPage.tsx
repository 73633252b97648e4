/** One round: its players, its messages with rollbacks, and the amounts moved. */
import { Alert, Stack, Text } from "@mantine/core"
import { outcomeOf, outcomeStory, type RoundOutcome } from "../../domain/RoundOutcome.ts"
import { refusalText } from "../../domain/settlement/MessageStory.ts"
import { useAddress, usePathPart } from "../app/address.ts"
import type { Data } from "../app/api.ts"
import { useTimeZone } from "../app/preferences.tsx"
import { useAnswer } from "../app/queries.ts"
import { ActionButton } from "../parts/ActionButton.tsx"
import { amounts } from "../parts/columns.tsx"
import { Facts } from "../parts/Facts.tsx"
import { formOf } from "../parts/Fields.tsx"
import { PageHead } from "../parts/PageHead.tsx"
import { Waiting } from "../parts/Refusal.tsx"
import { TableSection } from "../parts/Section.tsx"
import { columnsOfList } from "../parts/shown.tsx"
import { instantText, moneyText, PageLink } from "../parts/Values.tsx"
import { columnsOfProvidersCalls } from "./callColumns.tsx"
import { messageColumns } from "./messageColumns.tsx"

type Details = Data<"round.show">

const ledgerColumns = columnsOfList(
  "round.show",
  "entries",
  "id",
  ["created_at", { label: "At", seconds: true }],
  "player_id",
  "type",
  "wallet",
  ["amount", { signed: true }],
  "balance_after"
)

const playerColumns = columnsOfList(
  "round.show",
  "players",
  ["player_id", { width: 140 }],
  "operator_id",
  "state",
  ["real_stake", { label: "Real stake" }],
  ["bonus_stake", { label: "Bonus stake" }],
  ["wins", { label: "Won" }],
  amounts("result", "Player's result", ({ bonus_stake: bonus, real_stake: real, wins }) => wins - real - bonus, {
    signed: true
  }),
  ["opened_at", { seconds: true }],
  ["last_message_at", { seconds: true }]
)

/** Rounds of more players have no sentence for each: a live table has hundreds. */
const maxStories = 3

const outcomeColors: { readonly [outcome in RoundOutcome]: string } = {
  won: "green",
  taken_back: "gray",
  waiting: "orange",
  no_win: "blue"
}

/** What became of a player's part in the round. */
function Story({ player, round }: { readonly player: Details["players"][number]; readonly round: Details }) {
  const [timeZone] = useTimeZone()
  const { bonus_stake: bonus, currency, paid_wins: paidWins, player_id: id, real_stake: real, state, wins } = player
  const figures = { state, stake: real + bonus, wins, paidWins, takenBack: player.taken_back }
  const lost = round.messages.findLast(({ amount, kind, player_id: of }) => of === id && kind === "win" && amount === 0)
  // a bet that was refused was never in the round, and what was accepted later is among the messages
  const refused = round.calls.findLast(({ kind, player_id: of, result, transaction_id: call }) =>
    result === "refused" && kind !== "bet" && (of === id || (of === null && round.players.length === 1)) &&
    !round.messages.some(({ transaction_id: accepted }) => accepted === call)
  )
  const story = outcomeStory({
    ...figures,
    provider: round.provider.name,
    roundId: round.round_id,
    lostAt: lost === undefined ? null : instantText(lost.at, timeZone),
    refused: refused === undefined
      ? null
      : refusalText(refused.transaction_id ?? round.round_id, refused, round.provider.name)
  }, (amount) => moneyText(amount, currency))
  return (
    <Alert color={outcomeColors[outcomeOf(figures)]} variant="light">
      {round.players.length > 1 ? `${player.username}: ` : ""}
      {story}
    </Alert>
  )
}

function Round({ round }: { readonly round: Details }) {
  const [search] = useAddress()
  const { calls, entries, game, messages, original_round_id: original, players, provider } = round
  const currencies = new Map([...players, ...entries].map((row) => [row.player_id, row.currency]))
  const currencyOf = (player: number): string => currencies.get(player) ?? "EUR"
  return (
    <Stack>
      <PageHead heading={`Round ${round.round_id}`}>
        {original === null && players.some(({ state }) => state === "open") && (
          <ActionButton
            action="round.close"
            label="Close round"
            params={{ provider: String(provider.id), game: String(game.id), round: round.round_id }}
            fields={formOf("round.close", { player: false })}
            toPayload={({ reason }) => ({
              reason: String(reason),
              ...(search["player"] === undefined ? {} : { player: Number(search["player"]) })
            })}
            explanation="For a round that its provider did not end. No money moves; an empty bonus that had a stake in it is lost."
            done={`Round ${round.round_id} closed`}
          />
        )}
      </PageHead>
      {round.is_cut && (
        <Alert color="orange" variant="light" title="Not all messages are shown">
          <Text size="sm">The round has very many. Open it from a player's row in Rounds to see that player's.</Text>
        </Alert>
      )}
      <Facts
        columns={4}
        facts={[
          ["Provider", <PageLink key="provider" to={`/providers/${provider.id}`}>{provider.name}</PageLink>],
          ["Game", game.name],
          ["Game's id at the provider", game.external_id],
          ["Shown", search["player"] === undefined ? "all players" : `player ${search["player"]}`],
          original !== null && ["Round of an original", String(original)]
        ]}
      />
      {players.length <= maxStories &&
        players.map((player) => <Story key={player.player_id} player={player} round={round} />)}
      <TableSection
        heading="Players"
        columns={playerColumns}
        rows={players}
        rowKey={({ player_id: id }) => id}
        empty="No bet of this round stands with a player."
      />
      <TableSection
        heading="Messages"
        columns={messageColumns(provider.slug, currencyOf)}
        rows={messages}
        rowKey={({ kind, transaction_id: id }) => `${kind} ${id}`}
        empty={original === null ? "No message came." : "No message makes a round of an original."}
      />
      <TableSection
        heading="Ledger entries"
        columns={ledgerColumns}
        rows={entries}
        rowKey={({ id }) => id}
        empty="No money moved."
      />
      {calls.length > 0 && (
        <TableSection
          heading="Refused and replayed calls"
          columns={columnsOfProvidersCalls}
          rows={calls}
          rowKey={({ id }) => id}
        />
      )}
    </Stack>
  )
}

export default function RoundPage() {
  const params = { provider: usePathPart("provider"), game: usePathPart("game"), round: usePathPart("round") }
  const [search] = useAddress()
  const query = useAnswer("round.show", {
    params,
    query: search["player"] === undefined ? {} : { player: Number(search["player"]) }
  })
  const round = query.data?.data
  return round === undefined
    ? (
      <Stack>
        {query.error !== null && <PageHead heading={`Round ${params.round}`} />}
        <Waiting query={query} />
      </Stack>
    )
    : <Round key={`${round.provider.id} ${round.game.id} ${round.round_id}`} round={round} />
}

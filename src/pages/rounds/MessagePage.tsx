/** One provider message: its outcome, the ledger entries it posted, and calls about it that moved no money. */
import { Alert, Stack } from "@mantine/core"
import { messageFacts, storyOf } from "../../contract/rounds/MessageFacts.ts"
import { messageOutcome, type MessageOutcome } from "../../domain/settlement/MessageStory.ts"
import { roundHref } from "../../domain/RoundHref.ts"
import { useAddress, usePathPart } from "../app/address.ts"
import type { Data } from "../app/api.ts"
import { useTimeZone } from "../app/preferences.tsx"
import { useAnswer } from "../app/queries.ts"
import { Facts } from "../parts/Facts.tsx"
import { PageHead } from "../parts/PageHead.tsx"
import { Waiting } from "../parts/Refusal.tsx"
import { TableSection } from "../parts/Section.tsx"
import { columnsOfList } from "../parts/shown.tsx"
import { instantText, Money, moneyText, PageLink, Status, words } from "../parts/Values.tsx"
import { columnsOfProvidersCalls } from "./callColumns.tsx"
import { messageColumns } from "./messageColumns.tsx"

type Details = Data<"round.message">

const outcomeColors: { readonly [outcome in MessageOutcome]: string } = {
  settled: "green",
  taken_back: "gray",
  no_effect: "orange",
  refused: "red",
  never_came: "orange"
}

const entryColumns = columnsOfList(
  "round.message",
  "entries",
  ["id", { to: ({ id }) => `/ledger?transaction=${id}` }],
  ["created_at", { label: "At", seconds: true }],
  "type",
  "wallet",
  ["amount", { signed: true }],
  "balance_after"
)

function Message({ details }: { readonly details: Details }) {
  const [timeZone] = useTimeZone()
  const { calls, entries, game, message, player, provider, related, round, round_id: roundId, transaction_id: id } =
    details
  const currency = player?.currency ?? "EUR"
  const story = storyOf(details, {
    money: (amount) => moneyText(amount, currency),
    instant: (at) => instantText(at, timeZone)
  })
  return (
    <Stack>
      <PageHead heading={`Message ${id}`} />
      <Alert color={outcomeColors[messageOutcome(messageFacts(details))]} variant="light">{story}</Alert>
      <Facts
        columns={4}
        facts={[
          ["Provider", <PageLink key="provider" to={`/providers/${provider.id}`}>{provider.name}</PageLink>],
          [
            "Player",
            player === null ? "–" : <PageLink key="player" to={`/players/${player.id}`}>{player.username}</PageLink>
          ],
          ["Game", game?.name ?? "–"],
          [
            "Round",
            roundId === null
              ? "–"
              : game === null
              ? roundId
              : <PageLink key="round" to={roundHref(provider.slug, game.external_id, roundId)}>{roundId}</PageLink>
          ],
          round !== null && ["State of the round", <Status key="state" of={round.state} />],
          message !== null && ["Message", words(message.kind)],
          message !== null && ["Status", <Status key="status" of={message.status} />],
          message !== null && ["As sent", <Money key="amount" amount={message.amount} currency={currency} />],
          message !== null &&
          ["Real wallet", <Money key="real" amount={message.real_amount} currency={currency} signed />],
          message !== null &&
          ["Bonus wallet", <Money key="bonus" amount={message.bonus_amount} currency={currency} signed />]
        ]}
      />
      {related.length > 0 && (
        <TableSection
          heading="Related messages"
          columns={messageColumns(provider.slug, () => currency)}
          rows={related}
          rowKey={({ transaction_id: of }) => of}
        />
      )}
      <TableSection
        heading="Ledger entries"
        columns={entryColumns}
        rows={entries}
        rowKey={({ id: entry }) => entry}
        empty="No money moved."
      />
      <TableSection
        heading="Refused and replayed calls"
        columns={columnsOfProvidersCalls}
        rows={calls}
        rowKey={({ id: call }) => call}
        empty="None in the last 30 days."
      />
    </Stack>
  )
}

export default function MessagePage() {
  const params = { provider: usePathPart("provider"), transaction: usePathPart("transaction") }
  const [search] = useAddress()
  const query = useAnswer("round.message", {
    params,
    query: {
      ...(search["player"] === undefined ? {} : { player: Number(search["player"]) }),
      ...(search["by"] === "entry" ? { by: "entry" as const } : {})
    }
  })
  return query.data === undefined
    ? (
      <Stack>
        {query.error !== null && <PageHead heading={`Message ${params.transaction}`} />}
        <Waiting query={query} />
      </Stack>
    )
    : <Message details={query.data.data} />
}

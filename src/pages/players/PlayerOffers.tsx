/** A player's bonuses and free rounds. */
import { Progress, Stack } from "@mantine/core"
import type { Row } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { useOperatorOf, usePermission } from "../app/session.tsx"
import { ActionButton } from "../parts/ActionButton.tsx"
import { amounts, buttonColumn } from "../parts/columns.tsx"
import type { Column } from "../parts/DataTable.tsx"
import type { Field } from "../parts/Fields.tsx"
import { filtersOf, ListSection } from "../parts/ListPage.tsx"
import { Clip, Instant, Money, moneyText, PageLink, Status, words } from "../parts/Values.tsx"
import { reason } from "./PlayerActions.tsx"
import type { Player } from "./player.ts"

type Bonus = Row<"player.bonuses">
type FreeRounds = Row<"free_rounds.list">

const bonusFilters = filtersOf("player.bonuses")

/** Above this number, games are entered as ids instead of chosen. */
const maxGames = 100

const bonusColumns = (player: Player): ReadonlyArray<Column<Bonus>> => [
  { id: "id", header: "Id", cell: ({ id }) => id },
  { id: "name", header: "Bonus", cell: (bonus) => <PageLink to={`/bonuses/${bonus.bonus_id}`}>{bonus.name}</PageLink> },
  { id: "type", header: "Type", cell: ({ type }) => words(type) },
  { id: "state", header: "State", cell: ({ result, state }) => <Status of={result ?? state} /> },
  amounts("amount", "Amount", ({ amount }) => amount),
  {
    id: "wagered",
    header: "Wagered",
    cell: ({ currency, wager_requirement: requirement, wagered_amount: wagered, wagering_progress: percent }) =>
      requirement === 0 ? "nothing to wager" : (
        <Stack gap={2}>
          <span>
            <Money amount={wagered} currency={currency} /> of <Money amount={requirement} currency={currency} />
          </span>
          <Progress value={percent} size="sm" aria-label={`Wagered: ${percent} %`} />
        </Stack>
      )
  },
  amounts("converted", "Converted", ({ converted_amount: amount }) => amount),
  { id: "granted", header: "Granted", cell: ({ created_at: at }) => <Instant at={at} seconds={false} /> },
  { id: "expires", header: "Expires", cell: ({ expires_at: at }) => <Instant at={at} seconds={false} /> },
  buttonColumn(({ amount, currency, id, name, state }) =>
    state !== "finished" && (
      <ActionButton
        action="bonus.cancel"
        label="Cancel bonus"
        params={{ bonus: id }}
        fields={[reason]}
        explanation={`${name} of ${moneyText(amount, currency)}. What is left of its funds is taken from the player.`}
        typed={player.username}
        danger
        done={`Bonus ${id} cancelled`}
      />
    )
  )
]

const roundsColumns = (player: Player): ReadonlyArray<Column<FreeRounds>> => [
  { id: "id", header: "Id", cell: ({ id }) => id },
  { id: "provider", header: "Provider", cell: ({ provider }) => provider },
  { id: "game", header: "Game id", cell: ({ game_id: game }) => game },
  { id: "rounds", header: "Rounds", align: "right", cell: ({ rounds }) => rounds },
  amounts("stake", "Stake", ({ stake }) => stake),
  { id: "status", header: "Status", cell: ({ status }) => <Status of={status} /> },
  amounts("won", "Won", ({ won }) => won),
  { id: "until", header: "Valid until", cell: ({ valid_until: at }) => <Instant at={at} seconds={false} /> },
  { id: "reference", header: "Reference", cell: ({ reference }) => <Clip width={140}>{reference}</Clip> },
  buttonColumn(({ id, status }) =>
    status === "issued" && (
      <ActionButton
        action="free_rounds.cancel"
        label="Cancel free rounds"
        params={{ free_rounds: id }}
        explanation="The provider is told. What was won with rounds already played stays with the player."
        typed={player.username}
        danger
        done={`Free rounds ${id} cancelled`}
      />
    )
  )
]

function Grant({ player }: { readonly player: Player }) {
  const may = usePermission()
  const operator = useOperatorOf()(player.operator_id)
  const catalogue = useAnswer("bonus.list", { query: { operator: operator.slug } }, {
    enabled: may("bonus.grant") && may("bonus.list")
  }).data?.data ?? []
  return (
    <ActionButton
      action="bonus.grant"
      label="Grant bonus"
      params={{ player: player.id }}
      fields={[
        {
          name: "bonus",
          label: "Bonus",
          kind: "choice",
          required: true,
          options: catalogue.filter(({ is_active: isActive }) => isActive).map((
            { default_amount: amount, id, name, type }
          ) => ({ value: String(id), label: `${name}: ${words(type)}, ${moneyText(amount, operator.currency)}` }))
        },
        {
          name: "amount",
          label: "Amount",
          kind: "money",
          currency: player.currency,
          description: "Empty: what the bonus is on offer for."
        },
        { name: "note", label: "Note", kind: "lines", description: "Kept with the player." }
      ]}
      toPayload={(values) => ({ ...values, bonus: Number(values["bonus"]) })}
      explanation="Starts at once, or waits while another bonus runs."
      done="Bonus granted"
      undo={({ data }) =>
        may("bonus.cancel")
          ? { action: "bonus.cancel", request: { params: { bonus: data.id }, payload: { reason: "Taken back" } } }
          : undefined}
    />
  )
}

function Issue({ player }: { readonly player: Player }) {
  const may = usePermission()
  const games = useAnswer("game.list", { query: { per_page: maxGames } }, {
    enabled: may("free_rounds.issue") && may("game.list")
  }).data
  const isChoice = games !== undefined && games.meta.next_cursor === null
  const game: Field = isChoice
    ? {
      name: "game",
      label: "Game",
      kind: "choice",
      required: true,
      options: games.data.filter(({ active, is_original: isOriginal }) => active && !isOriginal).map((
        { id, name, provider }
      ) => ({ value: String(id), label: `${name} (${provider.name})` }))
    }
    : { name: "game", label: "Game id", kind: "integer", required: true }
  return (
    <ActionButton
      action="free_rounds.issue"
      label="Issue free rounds"
      fields={[
        game,
        { name: "rounds", label: "Rounds", kind: "integer", required: true, initial: 10 },
        { name: "stake", label: "Stake of each", kind: "money", currency: player.currency, required: true },
        { name: "valid_days", label: "Valid for days", kind: "integer", required: true, initial: 7 }
      ]}
      fixed={{ player: player.id }}
      toPayload={(values) => ({ ...values, game: Number(values["game"]) })}
      explanation="The provider is told, and lets the player play them. What they win is paid like any win."
      done="Free rounds issued"
      undo={({ data }) =>
        may("free_rounds.cancel")
          ? { action: "free_rounds.cancel", request: { params: { free_rounds: data.id } } }
          : undefined}
    />
  )
}

export function PlayerOffers({ player }: { readonly player: Player }) {
  return (
    <Stack>
      <ListSection
        heading="Bonuses"
        actions={<Grant player={player} />}
        action="player.bonuses"
        paging="walk"
        params={{ player: player.id }}
        filters={bonusFilters}
        columns={bonusColumns(player)}
        empty="No bonuses yet. Grant one, or give the player a promo code."
      />
      <ListSection
        heading="Free rounds"
        actions={<Issue player={player} />}
        action="free_rounds.list"
        paging="walk"
        query={{ player: player.id }}
        columns={roundsColumns(player)}
        empty="No free rounds yet. Issue some at a game of a provider that offers them."
      />
    </Stack>
  )
}

/** A player's bonuses and free rounds. */
import { Progress, Stack } from "@mantine/core"
import { useMemo } from "react"
import { leftToWager } from "../../domain/bonus/BonusTermsText.ts"
import type { Row } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { usePermission } from "../app/session.tsx"
import { ActionButton, rowAction } from "../parts/ActionButton.tsx"
import { amounts, buttonColumn } from "../parts/columns.tsx"
import { type Field, formOf } from "../parts/Fields.tsx"
import { filtersOf, ListSection } from "../parts/ListPage.tsx"
import type { RowActions } from "../parts/RowMenu.tsx"
import { columnsOf } from "../parts/shown.tsx"
import { Money, moneyText, Status } from "../parts/Values.tsx"
import { explain } from "./GrantedBonus.tsx"
import type { Player } from "./player.ts"

const bonusFilters = filtersOf("player.bonuses")

/** Above this number, games are entered as ids instead of chosen. */
const maxGames = 100

const bonusColumns = columnsOf(
  "player.bonuses",
  "id",
  ["name", { label: "Bonus", to: ({ bonus_id: id }) => `/bonuses/${id}` }],
  ["state", { cell: ({ result, state }) => <Status of={result ?? state} /> }],
  "amount",
  ["wagered_amount", {
    label: "Wagered",
    isLeft: true,
    cell: ({ currency, wager_requirement: requirement, wagered_amount: wagered, wagering_progress: percent }) =>
      requirement === 0 ? "nothing to wager" : (
        <Stack gap={2}>
          <span>
            <Money amount={wagered} currency={currency} /> of <Money amount={requirement} currency={currency} />
          </span>
          <Progress value={percent} size="sm" aria-label={`Wagered: ${percent} %`} />
        </Stack>
      )
  }],
  amounts("left", "Left to wager", (bonus) =>
    bonus.state === "finished" ? null : leftToWager({
      wagerRequirement: bonus.wager_requirement,
      wagered: bonus.wagered_amount
    })),
  ["converted_amount", { label: "Converted" }],
  ["created_at", { label: "Granted" }],
  "expires_at"
)

const bonusActions = ({ username }: Player): RowActions<Row<"player.bonuses">> => ({
  nameOf: ({ id }) => `bonus ${id}`,
  of: ({ amount, currency, id, name, state }) => [
    explain(id, name),
    ...(state === "finished" ? [] : [rowAction({
      action: "bonus.cancel",
      label: "Cancel bonus",
      params: { bonus: id },
      fields: formOf("bonus.cancel"),
      explanation: `${name} of ${moneyText(amount, currency)}. What is left of its funds is taken from the player.`,
      typed: username,
      danger: true,
      done: `Bonus ${id} cancelled`
    })])
  ]
})

const roundsColumns = (player: Player) =>
  columnsOf(
    "free_rounds.list",
    "id",
    "provider",
    ["game_id", { label: "Game id" }],
    "rounds",
    "stake",
    "status",
    "won",
    "valid_until",
    ["reference", { width: 140 }],
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
  )

function Issue({ player }: { readonly player: Player }) {
  const may = usePermission()
  const games = useAnswer("game.list", { query: { per_page: maxGames } }, {
    enabled: may("free_rounds.issue") && may("game.list")
  }).data
  const isChoice = games !== undefined && games.meta.next_cursor === null
  const game: Partial<Field> = isChoice
    ? {
      kind: "choice",
      half: false,
      description: "",
      options: games.data.filter(({ active, is_original: isOriginal }) => active && !isOriginal).map((
        { id, name, provider }
      ) => ({ value: String(id), label: `${name} (${provider.name})` }))
    }
    : { label: "Game id", half: false }
  return (
    <ActionButton
      action="free_rounds.issue"
      label="Issue free rounds"
      fields={formOf("free_rounds.issue", {
        player: false,
        game,
        rounds: { initial: 10, description: "" },
        stake: { label: "Stake of each", description: "" },
        valid_days: { label: "Valid for days", initial: 7, description: "" }
      }, { currency: player.currency })}
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
  const actions = useMemo(() => bonusActions(player), [player])
  return (
    <Stack>
      <ListSection
        heading="Bonuses"
        action="player.bonuses"
        paging="walk"
        params={{ player: player.id }}
        filters={bonusFilters}
        columns={bonusColumns}
        rowActions={actions}
        empty="No bonuses yet. Grant one above, or give the player a promo code."
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

/** Game catalogue: searchable by name, provider and type. */
import { useMemo } from "react"
import type { Row } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { usePermission } from "../app/session.tsx"
import { ActionButton, rowAction } from "../parts/ActionButton.tsx"
import { formOf } from "../parts/Fields.tsx"
import { filtersOf, ListPage } from "../parts/ListPage.tsx"
import type { RowActions } from "../parts/RowMenu.tsx"
import { columnsOf } from "../parts/shown.tsx"

type Game = Row<"game.list">

const changes = {
  name: { half: true },
  external_id: { label: "Provider's id", description: "", half: true },
  type: {
    required: true,
    half: true,
    options: [{ value: "rng", label: "random number generator (rng)" }, { value: "live", label: "live" }]
  },
  category: { half: true, placeholder: "slots", description: "" },
  rtp: { label: "Return to player (percent)", description: "" },
  original: { label: "Built-in game", half: true, description: "" }
} as const

const gameActions: RowActions<Game> = {
  nameOf: ({ id }) => `game ${id}`,
  of: (game) => {
    const { active, id, name } = game
    return [
      rowAction({
        action: "game.update",
        label: "Change game",
        params: { game: id },
        fields: formOf("game.update", { ...changes, active: false }, { record: game, first: ["name", "external_id"] }),
        isUpdate: true,
        done: "Game changed",
        size: "lg"
      }),
      rowAction({
        action: "game.update",
        label: active ? "Switch game off" : "Switch game on",
        params: { game: id },
        fixed: { active: !active },
        explanation: active
          ? `${name} is no longer offered and takes no bets. What was begun is settled all the same.`
          : `${name} is offered again, where its provider is.`,
        done: `${name}: ${active ? "off" : "on"}`,
        undo: { action: "game.update", request: { params: { game: id }, payload: { active } } }
      })
    ]
  }
}

const columns = columnsOf(
  "game.list",
  "id",
  "name",
  ["provider.name", { label: "Provider", to: ({ provider }) => `/providers/${provider.id}` }],
  ["external_id", { label: "Provider's id", width: 160 }],
  "type",
  "category",
  ["rtp", { cell: ({ rtp }) => rtp === null ? "–" : `${rtp} %` }],
  ["original", { label: "Built-in" }],
  "active"
)

export default function GamesPage() {
  const may = usePermission()
  const answer = useAnswer("provider.list", {}, { enabled: may("provider.list") })
  const providers = useMemo(() => (answer.data?.data ?? []).map(({ name, slug }) => ({ value: slug, label: name })), [
    answer.data
  ])
  const filters = useMemo(() =>
    filtersOf("game.list", {
      ids: false,
      provider: { kind: "choice", options: providers },
      active: { options: [{ value: "true", label: "active" }, { value: "false", label: "inactive" }] }
    }, ["name", "provider", "type"]), [providers])
  return (
    <ListPage
      heading="Games"
      action="game.list"
      paging="walk"
      filters={filters}
      columns={columns}
      rowActions={gameActions}
      actions={
        <ActionButton
          action="game.create"
          label="Add game"
          fields={formOf("game.create", {
            ...changes,
            provider: { kind: "choice", options: providers, description: "" },
            active: { label: "Offered at once", description: "" }
          }, { first: ["provider", "name"] })}
          done="Game added"
          size="lg"
          button={{ variant: "filled" }}
        />
      }
      empty="No games yet. Add a provider first, then read its catalogue or add its games one by one."
    />
  )
}

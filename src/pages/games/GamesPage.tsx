/** Game catalogue: searchable by name, provider and type. */
import { useMemo } from "react"
import type { Row } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { usePermission } from "../app/session.tsx"
import { ActionButton, rowAction } from "../parts/ActionButton.tsx"
import type { Column } from "../parts/DataTable.tsx"
import { type FieldList, filledFrom, type Option } from "../parts/Fields.tsx"
import { filtersOf, ListPage } from "../parts/ListPage.tsx"
import type { RowActions } from "../parts/RowMenu.tsx"
import { Clip, PageLink, Status } from "../parts/Values.tsx"

type Game = Row<"game.list">

const gameFields = (providers: ReadonlyArray<Option>, game?: Game): FieldList =>
  filledFrom(game, [
    game === undefined &&
    { name: "provider", label: "Provider", kind: "choice", required: true, options: providers },
    { name: "name", label: "Name", kind: "text", required: true, half: true },
    { name: "external_id", label: "Provider's id", kind: "text", required: true, half: true },
    {
      name: "type",
      label: "Type",
      kind: "choice",
      required: true,
      half: true,
      options: [{ value: "rng", label: "random number generator (rng)" }, { value: "live", label: "live" }],
      initial: "rng"
    },
    { name: "category", label: "Category", kind: "text", half: true, placeholder: "slots" },
    { name: "rtp", label: "Return to player (percent)", kind: "number", nullable: true, half: true },
    { name: "original", label: "Built-in game", kind: "text", nullable: true, half: true },
    { name: "thumbnail_url", label: "Address of its picture", kind: "text", nullable: true },
    game === undefined && { name: "active", label: "Offered at once", kind: "switch", initial: true }
  ])

const gameActions: RowActions<Game> = {
  nameOf: ({ id }) => `game ${id}`,
  of: (game) => {
    const { active, id, name } = game
    return [
      rowAction({
        action: "game.update",
        label: "Change game",
        params: { game: id },
        fields: gameFields([], game),
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

const columns: ReadonlyArray<Column<Game>> = [
  { id: "id", header: "Id", cell: ({ id }) => id },
  { id: "name", header: "Name", cell: ({ name }) => <Clip width={220}>{name}</Clip> },
  {
    id: "provider",
    header: "Provider",
    cell: ({ provider: { id, name } }) => <PageLink to={`/providers/${id}`}>{name}</PageLink>
  },
  { id: "external", header: "Provider's id", cell: ({ external_id: id }) => <Clip width={160}>{id}</Clip> },
  { id: "type", header: "Type", cell: ({ type }) => type },
  { id: "category", header: "Category", cell: ({ category }) => category },
  { id: "rtp", header: "RTP", align: "right", cell: ({ rtp }) => rtp === null ? "–" : `${rtp} %` },
  { id: "original", header: "Built-in", cell: ({ original }) => original ?? "–" },
  { id: "state", header: "State", cell: ({ active }) => <Status of={active ? "active" : "inactive"} /> }
]

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
    }), [providers])
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
          fields={gameFields(providers)}
          done="Game added"
          size="lg"
          button={{ variant: "filled" }}
        />
      }
      empty="No games yet. Add a provider first, then read its catalogue or add its games one by one."
    />
  )
}

/** Marketing consents of a player, and their change at the player's request. */
import { Group, Stack } from "@mantine/core"
import { useAnswer } from "../app/queries.ts"
import { ActionButton } from "../parts/ActionButton.tsx"
import { DataTable } from "../parts/DataTable.tsx"
import { formOf } from "../parts/Fields.tsx"
import { Waiting } from "../parts/Refusal.tsx"
import { columnsOfList } from "../parts/shown.tsx"
import { Instant, words } from "../parts/Values.tsx"
import type { Player } from "./player.ts"

const columns = columnsOfList(
  "player.consents",
  "consents",
  ["channel", { label: "Consent", cell: ({ channel, product }) => `${words(channel)}, ${words(product)}` }],
  "granted",
  ["at", {
    label: "Said",
    cell: ({ at, source, text_version: version }) =>
      at === null || source === null ? "never asked" : (
        <>
          <Instant at={at} seconds={false} isBrief />, {words(source)}
          {version !== null && `, text ${version}`}
        </>
      )
  }]
)

const choice = (values: ReadonlyArray<string>) =>
  ({ kind: "choice", options: [...new Set(values)], description: "" }) as const

export function PlayerConsents({ player }: { readonly player: Player }) {
  const params = { player: player.id }
  const query = useAnswer("player.consents", { params })
  const consents = query.data?.data.consents
  if (consents === undefined) return <Waiting query={query} />
  return (
    <Stack gap="xs">
      <DataTable
        label="Consents"
        columns={columns}
        rows={consents}
        rowKey={({ channel, product }) => `${channel} ${product}`}
      />
      <Group>
        <ActionButton
          action="player.consent"
          label="Change a consent"
          params={params}
          fields={formOf("player.consent", {
            channel: choice(consents.map(({ channel }) => channel)),
            product: choice(consents.map(({ product }) => product))
          })}
          explanation="At the player's request. Kept as the player's answer; without a product it is for all of them."
          done="Consent changed"
        />
      </Group>
    </Stack>
  )
}

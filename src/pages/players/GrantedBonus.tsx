/** A player's bonus: its state and figures, and its explanation for the player. */
import { Button, CopyButton, Group, List, Modal, Paper, Stack, Text } from "@mantine/core"
import { useAnswer } from "../app/queries.ts"
import { Facts } from "../parts/Facts.tsx"
import { Waiting } from "../parts/Refusal.tsx"
import type { RowAction } from "../parts/RowMenu.tsx"
import { factsOf } from "../parts/shown.tsx"
import { Status } from "../parts/Values.tsx"

/** Figures of a grant by its own terms, and the sentences for the player. */
export function GrantedBonus({ id }: { readonly id: number }) {
  const query = useAnswer("bonus.granted", { params: { bonus: id } })
  const bonus = query.data?.data
  if (bonus === undefined) return <Waiting query={query} />
  const facts = factsOf(
    "bonus.granted",
    bonus,
    ["state", { cell: ({ result, state }) => <Status of={result ?? state} /> }],
    "left_to_wager",
    ["max_bet", { zero: "any" }],
    ["max_conversion", { label: "Converts at most", zero: "all" }],
    ["expires_at", { label: "Runs until" }]
  )
  return (
    <Stack gap="sm">
      <Facts facts={facts} />
      <Paper withBorder p="sm" component="section" aria-label="Tell the player">
        <Group justify="space-between" mb={4}>
          <Text size="sm" fw={600}>Tell the player</Text>
          <CopyButton value={bonus.sentences.join("\n")}>
            {({ copied, copy }) => (
              <Button size="compact-sm" variant="default" onClick={copy}>{copied ? "Copied" : "Copy"}</Button>
            )}
          </CopyButton>
        </Group>
        <List size="sm" spacing={2}>
          {bonus.sentences.map((sentence) => <List.Item key={sentence}>{sentence}</List.Item>)}
        </List>
      </Paper>
    </Stack>
  )
}

/** Opens {@link GrantedBonus} from a row. */
export const explain = (id: number, name: string): RowAction => ({
  label: "Explain",
  action: "bonus.granted",
  isNext: true,
  dialog: (close) => (
    <Modal opened onClose={close} title={name} size="lg">
      <GrantedBonus id={id} />
    </Modal>
  )
})

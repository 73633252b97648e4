/** Form input for the wagering contributions of single games to a bonus. */
import { Button, Group, Input, Stack, Text } from "@mantine/core"
import { GameChoice, useGameNames } from "../games/GameNames.tsx"
import type { OwnInput } from "../parts/Fields.tsx"
import { UnitsInput } from "../parts/NumberField.tsx"

export type Shares = Readonly<Record<string, number>>

/** Percentages by game id; empty for an invalid value. */
export const sharesOf = (value: unknown): Shares =>
  typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).flatMap(([id, share]) => typeof share === "number" ? [[id, share]] : []))
    : {}

export function Contributions({ description, label, onChange, value }: OwnInput) {
  const shares = sharesOf(value)
  const ids = Object.keys(shares)
  const nameOf = useGameNames(ids)
  const without = (left: string): Shares => Object.fromEntries(Object.entries(shares).filter(([id]) => id !== left))
  return (
    <Stack gap="xs" role="group" aria-label={label}>
      <Input.Wrapper label={label} labelElement="div" {...(description === undefined ? {} : { description })} />
      {ids.map((id) => (
        <Group key={id} gap="xs" wrap="nowrap">
          <Text size="sm" flex={1} truncate>{nameOf(id)}</Text>
          <UnitsInput
            size="xs"
            w={96}
            aria-label={`Percent of ${nameOf(id)}`}
            form={{ decimals: 0, unit: "%" }}
            units={shares[id] ?? 0}
            onChange={(share) => onChange({ ...shares, [id]: share })}
          />
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`Leave out ${nameOf(id)}`}
            onClick={() => onChange(without(id))}
          >
            Leave out
          </Button>
        </Group>
      ))}
      <GameChoice label="Add a game" without={ids} onChoose={(id) => onChange({ ...shares, [id]: 0 })} />
    </Stack>
  )
}

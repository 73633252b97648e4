/** Form input for the initial limits of an operator's new players. */
import { Button, Group, Input, Select, Stack, Text } from "@mantine/core"
import { type LimitField, limitFields } from "../../domain/LimitFields.ts"
import type { OwnInput } from "../parts/Fields.tsx"
import { moneyForm, UnitsInput } from "../parts/NumberField.tsx"
import { asHeading } from "../parts/Values.tsx"

type Limits = Readonly<Partial<Record<LimitField, number>>>

/** Limits by name; empty for an invalid value. */
const limitsOf = (value: unknown): Limits => {
  const given = new Map<string, unknown>(Object.entries(Object(value)))
  return Object.fromEntries(limitFields.flatMap((field) => {
    const limit = given.get(field)
    return typeof limit === "number" ? [[field, limit]] : []
  }))
}

export function DefaultLimits(
  { currency, description, label, onChange, value }: OwnInput & { readonly currency: string }
) {
  const limits = limitsOf(value)
  const isSet = (field: LimitField): boolean => limits[field] !== undefined
  const without = (left: LimitField) => Object.fromEntries(Object.entries(limits).filter(([field]) => field !== left))
  return (
    <Stack gap="xs" role="group" aria-label={label}>
      <Input.Wrapper label={label} labelElement="div" {...(description === undefined ? {} : { description })} />
      {limitFields.filter(isSet).map((field) => (
        <Group key={field} gap="xs" wrap="nowrap">
          <Text size="sm" flex={1} truncate>{asHeading(field)}</Text>
          <UnitsInput
            size="xs"
            w={140}
            aria-label={asHeading(field)}
            form={field === "max_session_minutes" ? { decimals: 0, unit: "min" } : moneyForm(currency)}
            units={limits[field] ?? 0}
            onChange={(units) => onChange({ ...limits, [field]: units })}
          />
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`Leave out ${asHeading(field)}`}
            onClick={() => onChange(without(field))}
          >
            Leave out
          </Button>
        </Group>
      ))}
      <Select
        size="xs"
        aria-label="Add a limit"
        placeholder="Add a limit"
        value={null}
        data={limitFields.filter((field) => !isSet(field)).map((field) => ({ value: field, label: asHeading(field) }))}
        onChange={(field) => field !== null && onChange({ ...limits, [field]: 0 })}
      />
    </Stack>
  )
}

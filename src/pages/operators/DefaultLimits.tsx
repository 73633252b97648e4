/** Limits that new players of an operator begin with. */
import { Button, Group, Input, NumberInput, Select, Stack, Text } from "@mantine/core"
import { type LimitField, limitFields } from "../../domain/state/Limits.ts"
import type { OwnInput } from "../parts/Fields.tsx"
import { asHeading, minorUnits } from "../parts/Values.tsx"

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
  const unitsOf = (field: LimitField): number => field === "max_session_minutes" ? 1 : minorUnits(currency)
  const without = (left: LimitField) => Object.fromEntries(Object.entries(limits).filter(([field]) => field !== left))
  return (
    <Stack gap="xs" role="group" aria-label={label}>
      <Input.Wrapper label={label} labelElement="div" {...(description === undefined ? {} : { description })} />
      {limitFields.filter(isSet).map((field) => (
        <Group key={field} gap="xs" wrap="nowrap">
          <Text size="sm" flex={1} truncate>{asHeading(field)}</Text>
          <NumberInput
            size="xs"
            w={140}
            aria-label={asHeading(field)}
            suffix={field === "max_session_minutes" ? " min" : ` ${currency}`}
            min={0}
            decimalScale={Math.round(Math.log10(unitsOf(field)))}
            value={(limits[field] ?? 0) / unitsOf(field)}
            onChange={(entered) => onChange({ ...limits, [field]: Math.round(Number(entered) * unitsOf(field)) })}
          />
          <Button
            size="compact-xs"
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

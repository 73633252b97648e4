/** What staff do at a player's request: exclude, and set a limit. Each says before it is sent from when it holds, and until when. */
import { NativeSelect, Radio, SimpleGrid, Text } from "@mantine/core"
import { exclusionPeriods, periodEnd, standardPeriods } from "../../domain/jurisdiction/ExclusionPeriods.ts"
import { raisedAt } from "../../domain/limit/LimitRaise.ts"
import { type LimitField, limitFields } from "../../domain/LimitFields.ts"
import { useAnswer } from "../app/queries.ts"
import { useOperators } from "../app/session.tsx"
import { ActionButton } from "../parts/ActionButton.tsx"
import { type Field, type FieldList, formOf, type Inputs, type OwnInput } from "../parts/Fields.tsx"
import { asHeading, moneyText, useInstantText, words } from "../parts/Values.tsx"
import type { Player } from "./player.ts"

/** Choice of an end of one's own, beside the periods. */
const ownEnd = "until"

/** All periods at a glance, so that one is chosen without opening a list. */
function PeriodChoice({ label, onChange, value }: OwnInput) {
  return (
    <Radio.Group label={label} value={typeof value === "string" ? value : ""} onChange={onChange} withAsterisk>
      <SimpleGrid cols={2} verticalSpacing={6} mt={4}>
        {[...exclusionPeriods.filter((period) => period in standardPeriods), ownEnd].map((period, index) => (
          <Radio
            key={period}
            value={period}
            label={period === ownEnd ? "Until a date" : words(period)}
            {...(index === 0 ? { "data-autofocus": true } : {})}
          />
        ))}
      </SimpleGrid>
    </Radio.Group>
  )
}

const exclusionFields = (inputs: Inputs): FieldList =>
  formOf("player.exclude", {
    period: { kind: "own", label: "How long", initial: "", draw: (input: OwnInput) => <PeriodChoice {...input} /> },
    until: inputs["period"] === ownEnd ? { required: true, half: false, description: "" } : false,
    type: { label: "Type", placeholder: "By the length", description: "" },
    channel: { label: "How the player asked", initial: "phone", description: "" }
  }, { first: ["period", "until", "channel", "reason"] })

const isPeriod = (value: unknown): value is (typeof exclusionPeriods)[number] =>
  exclusionPeriods.some((period) => period === value)

/** The end of an exclusion before it is sent. */
function ExclusionEnd({ values }: { readonly values: Record<string, unknown> }) {
  const date = useInstantText()
  const { period, until } = values
  const end = isPeriod(period)
    ? periodEnd(period, Date.now())
    : typeof until === "string"
    ? Date.parse(until)
    : undefined
  return (
    <Text size="sm" aria-live="polite">
      {end === undefined
        ? "Choose how long the exclusion lasts."
        : end === null
        ? "Excluded without an end."
        : `Excluded until ${date(end)}. It cannot be shortened or lifted before then, only prolonged.`}
    </Text>
  )
}

/** Excludes the player, or prolongs the exclusion in force; one without end is the longest. */
export function Exclude({ player }: { readonly player: Player }) {
  const { id, self_exclusion: current, username } = player
  if (current !== null && current.until === null) return null
  const label = current === null ? "Exclude" : "Prolong exclusion"
  return (
    <ActionButton
      action="player.exclude"
      label={label}
      params={{ player: id }}
      fields={exclusionFields}
      toPayload={({ period, ...rest }) => isPeriod(period) ? { ...rest, period } : rest}
      explanation="At the player's request. Ends play, deposits and bonuses at once; the balance can be withdrawn. All but a time-out cancel the running bonus."
      preview={(values) => <ExclusionEnd values={values} />}
      typed={username}
      danger
      done={`${username} is excluded`}
    />
  )
}

/** A limit under the words of the pages: `max_daily_bet` is Daily bet. */
export const limitName = (field: LimitField): string => asHeading(field.replace("max_", ""))

const isLimit = (value: unknown): value is LimitField => limitFields.some((field) => field === value)

/** Value of a limit: an amount, or minutes. */
const limitText = (field: LimitField, value: number | null, currency: string): string =>
  value === null
    ? "no limit"
    : field === "max_session_minutes"
    ? `${value} min`
    : moneyText(value, currency)

/** A native list: by keyboard the first letters choose. */
function LimitChoice({ label, onChange, value }: OwnInput) {
  return (
    <NativeSelect
      label={label}
      data={limitFields.map((field) => ({ value: field, label: limitName(field) }))}
      value={typeof value === "string" ? value : ""}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      data-autofocus
    />
  )
}

const limitForm = (currency: string, initial: LimitField) => (inputs: Inputs): ReadonlyArray<Field> => [
  {
    name: "limit",
    label: "Limit",
    kind: "own",
    initial,
    draw: (input) => <LimitChoice {...input} />
  },
  (inputs["limit"] ?? initial) === "max_session_minutes"
    ? { name: "minutes", label: "Minutes", kind: "integer", description: "Empty: no limit.", minimum: 5, maximum: 1440 }
    : { name: "amount", label: "Amount", kind: "money", description: "Empty: no limit.", currency, minimum: 0 },
  ...formOf("player.limit")
]

const limitOf = ({ amount, limit, minutes }: Record<string, unknown>) => {
  const value = limit === "max_session_minutes" ? minutes : amount
  return { limit, value: typeof value === "number" ? value : null }
}

/** The operator's hours alone. */
const noWait = { wait: null, until_period_ends: false, confirm: false }

/** From when a new value holds, before it is sent: a lower one at once, a higher one after the operator's cooling-off. */
function LimitEffect({ player, values }: { readonly player: Player; readonly values: Record<string, unknown> }) {
  const date = useInstantText()
  const answer = useAnswer("player.limits", { params: { player: player.id } }).data?.data
  const hours = useOperators().find(({ id }) => id === player.operator_id)?.cooling_off_hours
  const { limit, value } = limitOf(values)
  if (!isLimit(limit) || answer === undefined || hours === undefined) return null
  const current = answer.limits[limit]
  const pending = answer.pending_changes.find(({ field }) => field === limit)
  const waiting = pending && { value: pending.requested_value, effectiveAt: Date.parse(pending.effective_at) }
  const at = raisedAt(limit, { current, value, waiting }, { coolingOffHours: hours, raise: noWait }, Date.now())
  const [now, next] = [current, value].map((each) => limitText(limit, each, player.currency))
  return (
    <Text size="sm" aria-live="polite">
      {current === value && pending === undefined
        ? `It is ${now} already.`
        : at === undefined
        ? `Now ${now}; ${next} at once.`
        : `Now ${now}; ${next} only from ${date(at)}, after the cooling-off of ${hours} hours.`}
    </Text>
  )
}

/** Sets one limit. `field`: the one of a row. */
export function SetLimit({ field, player }: { readonly player: Player; readonly field?: LimitField }) {
  return (
    <ActionButton
      action="player.limit"
      label="Set limit"
      params={{ player: player.id }}
      fields={limitForm(player.currency, field ?? "max_daily_deposit")}
      toPayload={(values) => {
        const { limit, value } = limitOf(values)
        return { reason: values["reason"], set: { [String(limit)]: value } }
      }}
      explanation="At the player's request. A lower limit holds at once; a higher one, or none, only after the cooling-off."
      preview={(values) => <LimitEffect player={player} values={values} />}
      done="Limit taken in"
    />
  )
}

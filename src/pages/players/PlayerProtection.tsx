/** Exclusions and limits set by staff at a player's request. Their start and end are shown before the request is sent. */
import { NativeSelect, Radio, SimpleGrid, Text } from "@mantine/core"
import { durationText } from "../../domain/jurisdiction/Duration.ts"
import {
  type ExclusionPeriod,
  exclusionPeriods,
  exclusionTypes,
  periodEnd
} from "../../domain/jurisdiction/ExclusionPeriods.ts"
import { derivedType, returnFromOf } from "../../domain/limit/ExclusionTerms.ts"
import { raisedAt, raiseFrom, type RaiseTerms } from "../../domain/limit/LimitRaise.ts"
import { windowOf } from "../../domain/limit/LimitUsage.ts"
import { type LimitField, limitFields } from "../../domain/LimitFields.ts"
import type { Data } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { useOperators, usePermission } from "../app/session.tsx"
import { ActionButton } from "../parts/ActionButton.tsx"
import { type Field, type FieldList, formOf, type Inputs, type OwnInput } from "../parts/Fields.tsx"
import { asHeading, moneyText, useInstantText, words } from "../parts/Values.tsx"
import type { Player } from "./player.ts"

/** Choice of an end of one's own, beside the periods. */
const ownEnd = "until"

type Rules = Data<"player.limits">["rules"]

/** What the player's jurisdiction says; undefined until it is known. */
const useRules = (player: Player): Rules | undefined => {
  const may = usePermission()
  return useAnswer("player.limits", { params: { player: player.id } }, { enabled: may("player.exclude") }).data?.data
    .rules
}

const isPeriod = (value: unknown): value is ExclusionPeriod => exclusionPeriods.some((period) => period === value)

/** All periods of the jurisdiction at a glance, so that one is chosen without opening a list. */
function PeriodChoice({ label, onChange, periods, value }: OwnInput & Pick<Rules["breaks"], "periods">) {
  return (
    <Radio.Group label={label} value={typeof value === "string" ? value : ""} onChange={onChange} withAsterisk>
      <SimpleGrid cols={2} verticalSpacing={6} mt={4}>
        {[...exclusionPeriods.filter((period) => periods[period] !== undefined), ownEnd].map((period, index) => (
          <Radio
            key={period}
            value={period}
            label={period === ownEnd ? "Until a date" : period === "indefinite" ? "Without an end" : words(period)}
            {...(index === 0 ? { "data-autofocus": true } : {})}
          />
        ))}
      </SimpleGrid>
    </Radio.Group>
  )
}

/** Where the rules leave it to the player: a time-out holds at the operator anyway. */
const scopeField = (rules: Rules | undefined, period: unknown) => {
  const isTimeOut = isPeriod(period) && rules?.breaks.periods[period] === "time_out"
  return rules?.breaks.scope === "ask" && !isTimeOut && {
    label: "Where it holds",
    required: true,
    description: "",
    options: [
      { value: "operator", label: "At this operator" },
      { value: "licensee", label: "At all operators of the licensee" }
    ]
  }
}

const exclusionFields = (rules: Rules | undefined) => (inputs: Inputs): FieldList =>
  formOf("player.exclude", {
    period: {
      kind: "own",
      label: "How long",
      initial: "",
      draw: (input: OwnInput) =>
        rules === undefined
          ? <Text size="sm">Loading …</Text>
          : <PeriodChoice {...input} periods={rules.breaks.periods} />
    },
    until: inputs["period"] === ownEnd ? { required: true, half: false, description: "" } : false,
    scope: scopeField(rules, inputs["period"]),
    type: { label: "Type", placeholder: "By the length", description: "" },
    channel: { label: "How the player asked", initial: "phone", description: "" }
  }, { first: ["period", "until", "channel", "reason"] })

/** The end of an exclusion and how the player comes back, before it is sent. */
function ExclusionEnd({ player: { self_exclusion: current }, rules: { breaks, name }, values }: {
  readonly player: Player
  readonly rules: Rules
  readonly values: Record<string, unknown>
}) {
  const date = useInstantText()
  const said = (text: string) => <Text size="sm" aria-live="polite">{text}</Text>
  const { period: chosen, type: asked, until } = values
  const now = Date.now()
  const period = isPeriod(chosen) ? chosen : null
  const end = period !== null ? periodEnd(period, now) : typeof until === "string" ? Date.parse(until) : undefined
  if (end === undefined) return said("Choose how long the exclusion lasts.")
  const before = current && {
    type: current.type,
    until: current.until === null ? null : Date.parse(current.until),
    endsOnRequest: current.ends === "on_request"
  }
  const type = exclusionTypes.find((each) => each === asked) ?? derivedType(breaks, { end, period }, before, now)
  if (type === null) return said(`The rules of ${name} have no break of this length: choose another end, or a type.`)
  const from = returnFromOf(breaks, before, { type, until: end }, now)
  const wait = breaks.return_wait === null ? "" : `, and plays again ${durationText(breaks.return_wait)} later`
  return said(
    end === null && from !== undefined
      ? `Excluded without an end. The player may ask to return from ${
        date(from)
      } on${wait}. It cannot be shortened or lifted before then.`
      : `Excluded until ${date(end ?? now)}${
        from === undefined ? "" : `, and after that until the player asks to return${wait}`
      }. It cannot be shortened or lifted before then, only prolonged.`
  )
}

/** Excludes the player, or prolongs the exclusion in force. One without end is the longest, unless its player returns. */
export function Exclude({ player }: { readonly player: Player }) {
  const { id, self_exclusion: current, username } = player
  const rules = useRules(player)
  if (current !== null && current.until === null && current.return_at === null) return null
  const label = current === null ? "Exclude" : "Prolong exclusion"
  return (
    <ActionButton
      action="player.exclude"
      label={label}
      params={{ player: id }}
      fields={exclusionFields(rules)}
      toPayload={({ period, ...rest }) => isPeriod(period) ? { ...rest, period } : rest}
      explanation="At the player's request. Ends play, deposits and bonuses at once; the balance can be withdrawn. All but a time-out cancel the running bonus."
      preview={(values) => rules && <ExclusionEnd player={player} rules={rules} values={values} />}
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

/** Why a raise waits, after its time. */
const waitText = (field: LimitField, terms: RaiseTerms, name: string, now: number): string => {
  const { waitsFor } = raiseFrom(field, terms, now)
  const window = windowOf(field)
  return waitsFor === "cooling_off"
    ? `after the cooling-off of ${terms.coolingOffHours} hours`
    : waitsFor === "period" && window !== undefined
    ? `once the running ${window} is over, by the rules of ${name}`
    : `after the ${durationText(terms.raise.wait ?? "")} that the rules of ${name} let a raise wait`
}

/** From when a new value holds, before it is sent: a lower one at once, a higher one after the wait of the operator or of the jurisdiction. */
function LimitEffect({ player, values }: { readonly player: Player; readonly values: Record<string, unknown> }) {
  const date = useInstantText()
  const answer = useAnswer("player.limits", { params: { player: player.id } }).data?.data
  const hours = useOperators().find(({ id }) => id === player.operator_id)?.cooling_off_hours
  const { limit, value } = limitOf(values)
  if (!isLimit(limit) || answer === undefined || hours === undefined) return null
  const { name, raise } = answer.rules
  const current = answer.limits[limit]
  const pending = answer.pending_changes.find(({ field }) => field === limit)
  const waiting = pending && { value: pending.requested_value, effectiveAt: Date.parse(pending.effective_at) }
  const terms = { coolingOffHours: hours, raise }
  const asked = Date.now()
  const at = raisedAt(limit, { current, value, waiting }, terms, asked)
  const [now, next] = [current, value].map((each) => limitText(limit, each, player.currency))
  const why = waiting !== undefined && waiting.value === value
    ? "as asked for already"
    : waitText(limit, terms, name, asked)
  const confirmed = raise.confirm
    ? ` The player has to confirm it then, within ${durationText(raise.confirm_within)}; else it lapses.`
    : ""
  return (
    <Text size="sm" aria-live="polite">
      {current === value && pending === undefined
        ? `It is ${now} already.`
        : at === undefined
        ? `Now ${now}; ${next} at once.`
        : `Now ${now}; ${next} only from ${date(at)}, ${why}.${confirmed}`}
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
      explanation="At the player's request. A lower limit holds at once; a higher one, or none, only after a wait."
      preview={(values) => <LimitEffect player={player} values={values} />}
      done="Limit taken in"
    />
  )
}

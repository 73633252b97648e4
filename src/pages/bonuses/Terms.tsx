/** Terms of a bonus: form and textual description. */
import { List, Paper, Text } from "@mantine/core"
import { useMemo } from "react"
import { bonusTypes } from "../../domain/state/Bonus.ts"
import { type BonusTerms, describeBonusTerms } from "../../domain/bonus/BonusTermsText.ts"
import type { Row } from "../app/api.ts"
import { useOperators } from "../app/session.tsx"
import { useGameNames } from "../games/GameNames.tsx"
import { ActionButton, type ActionProps, rowAction } from "../parts/ActionButton.tsx"
import { type FieldList, formOf, type Inputs, type OwnInput } from "../parts/Fields.tsx"
import type { RowActions } from "../parts/RowMenu.tsx"
import { moneyText } from "../parts/Values.tsx"
import { Contributions, sharesOf } from "./Contributions.tsx"

export type Bonus = Row<"bonus.list">

type Operators = ReturnType<typeof useOperators>

/** Default terms. */
const usual: BonusTerms = {
  type: "deposit_match",
  default_amount: 0,
  wagering_multiplier: 30,
  valid_days: 30,
  max_bet: 0,
  max_conversion_multiplier: 0,
  max_grants_per_player: 1,
  contributions: {}
}

const currencyOf = (operators: Operators, bonus: Bonus | undefined, slug: unknown): string =>
  (operators.find((operator) => bonus === undefined ? operator.slug === slug : operator.id === bonus.operator_id) ??
    operators[0])?.currency ?? "EUR"

/** Fields for the chosen values: amounts in the operator's currency, no wagering of cash. */
const termFields = (operators: Operators, bonus?: Bonus) => (inputs: Inputs): FieldList => {
  const isCash = (inputs["type"] ?? (bonus ?? usual).type) === "cash"
  const half = { half: true, description: "" }
  const wagering = {
    wagering_multiplier: { ...half, label: "Wagering: times the amount" },
    valid_days: half,
    max_bet: { ...half, label: "Largest stake (0: any)" },
    max_conversion_multiplier: { ...half, label: "Converts: times the amount (0: all)" },
    contributions: {
      label: "Contributions by game",
      description:
        "Percent of a stake that counts. Games that are not named here count in full, live games with 10 percent.",
      initial: {},
      draw: (input: OwnInput) => <Contributions {...input} />
    }
  }
  const changes = {
    name: half,
    type: { ...half, required: true, initial: usual.type },
    default_amount: { ...half, label: "Amount" },
    max_grants_per_player: { ...half, label: "Grants per player (0: any number)" },
    ...(isCash
      ? { wagering_multiplier: false, valid_days: false, max_bet: false, max_conversion_multiplier: false } as const
      : wagering)
  }
  const first = ["name", "type", "default_amount", "max_grants_per_player"] as const
  return bonus === undefined
    ? formOf("bonus.create", { ...changes, active: { label: "Offered at once", description: "" } }, {
      first: ["operator", ...first]
    })
    : formOf("bonus.update", { ...changes, active: false }, {
      record: bonus,
      currency: currencyOf(operators, bonus, undefined),
      first
    })
}

const termsOf = (values: Record<string, unknown>, from: BonusTerms): BonusTerms => {
  const number = (name: keyof BonusTerms, otherwise: number): number => {
    const value = values[name]
    return typeof value === "number" ? value : otherwise
  }
  const type = bonusTypes.find((known) => known === values["type"]) ?? from.type
  return {
    type,
    default_amount: number("default_amount", from.default_amount),
    wagering_multiplier: type === "cash" ? 0 : number("wagering_multiplier", from.wagering_multiplier),
    valid_days: number("valid_days", from.valid_days),
    max_bet: number("max_bet", from.max_bet),
    max_conversion_multiplier: number("max_conversion_multiplier", from.max_conversion_multiplier),
    max_grants_per_player: number("max_grants_per_player", from.max_grants_per_player),
    contributions: values["contributions"] === undefined ? from.contributions : sharesOf(values["contributions"])
  }
}

/** Terms as sentences. */
export function TermsText({ currency, terms }: { readonly terms: BonusTerms; readonly currency: string }) {
  const nameOf = useGameNames(Object.keys(terms.contributions))
  return (
    <List size="sm" spacing={2}>
      {describeBonusTerms(terms, (amount) => moneyText(amount, currency), nameOf).map((sentence) => (
        <List.Item key={sentence}>{sentence}</List.Item>
      ))}
    </List>
  )
}

function Preview({ currency, terms }: { readonly terms: BonusTerms; readonly currency: string }) {
  return (
    <Paper withBorder p="sm" role="status" aria-label="What it means">
      <Text size="sm" fw={600} mb={4}>What it means</Text>
      {terms.default_amount === 0
        ? <Text size="sm">Enter an amount to read what these terms mean.</Text>
        : <TermsText terms={terms} currency={currency} />}
    </Paper>
  )
}

/** Clears the wagering terms of a type of bonus without wagering. */
const settled = (values: Record<string, unknown>): Record<string, unknown> =>
  values["type"] === "cash" ? { ...values, wagering_multiplier: 0 } : values

/** Adds a bonus; the terms are described as they are entered. */
export function AddBonus() {
  const operators = useOperators()
  return (
    <ActionButton
      action="bonus.create"
      label="Add bonus"
      fields={termFields(operators)}
      toPayload={settled}
      preview={(values) => (
        <Preview
          terms={termsOf(values, usual)}
          currency={currencyOf(operators, undefined, values["operator"])}
        />
      )}
      size="lg"
      done="Bonus added"
      button={{ variant: "filled" }}
    />
  )
}

/** Changes a bonus for future grants. */
const change = (operators: Operators, bonus: Bonus): ActionProps<"bonus.update"> => ({
  action: "bonus.update",
  label: "Change bonus",
  params: { bonus: bonus.id },
  fields: termFields(operators, bonus),
  toPayload: settled,
  isUpdate: true,
  explanation: "For grants from then on. Players who have it keep the terms that they were granted.",
  preview: (values) => <Preview terms={termsOf(values, bonus)} currency={currencyOf(operators, bonus, undefined)} />,
  size: "lg",
  done: "Bonus changed"
})

/** Withdraws a bonus from the catalogue, or restores it. */
const switchOver = ({ id, is_active: isActive, name }: Bonus): ActionProps<"bonus.update"> => ({
  action: "bonus.update",
  label: isActive ? "Switch bonus off" : "Switch bonus on",
  params: { bonus: id },
  fixed: { active: !isActive },
  explanation: isActive
    ? `${name} is granted to nobody from then on. Players who have it keep it.`
    : `${name} can be granted again.`,
  done: `${name}: ${isActive ? "off" : "on"}`,
  undo: { action: "bonus.update", request: { params: { bonus: id }, payload: { active: isActive } } }
})

/** Actions on a bonus, on its page. */
export function BonusActions({ bonus }: { readonly bonus: Bonus }) {
  const operators = useOperators()
  return (
    <>
      <ActionButton {...change(operators, bonus)} />
      <ActionButton {...switchOver(bonus)} />
    </>
  )
}

/** Actions on a bonus, in its row. */
export const useBonusActions = (): RowActions<Bonus> => {
  const operators = useOperators()
  return useMemo(() => ({
    nameOf: ({ name }) => name,
    of: (bonus) => [rowAction({ ...change(operators, bonus), isNext: true }), rowAction(switchOver(bonus))]
  }), [operators])
}

/** Grants a bonus to a player: the bonuses on offer, and the granted one afterwards. */
import { Radio, Stack } from "@mantine/core"
import type { Row } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { useOperatorOf, usePermission } from "../app/session.tsx"
import { ActionButton } from "../parts/ActionButton.tsx"
import { type Field, formOf, type OwnInput } from "../parts/Fields.tsx"
import { moneyText, words } from "../parts/Values.tsx"
import { GrantedBonus } from "./GrantedBonus.tsx"
import type { Player } from "./player.ts"

type Bonus = Row<"bonus.list">

/** So many bonuses are shown at a glance; more of them as a list to search. */
const maxShown = 6

const termsOf = (bonus: Bonus): string =>
  bonus.wagering_multiplier === 0
    ? "real money at once"
    : `wager ${bonus.wagering_multiplier} times, runs ${bonus.valid_days} days`

function BonusChoice(
  { label, offered, onChange, titleOf, value }: OwnInput & {
    readonly offered: ReadonlyArray<Bonus>
    readonly titleOf: (bonus: Bonus) => string
  }
) {
  return (
    <Radio.Group
      label={label}
      {...(offered.length === 0 ? { description: "No bonus is on offer that you may grant." } : {})}
      value={typeof value === "string" ? value : ""}
      onChange={onChange}
      withAsterisk
    >
      <Stack gap={6} mt={4}>
        {offered.map((bonus, index) => (
          <Radio
            key={bonus.id}
            value={String(bonus.id)}
            label={titleOf(bonus)}
            description={termsOf(bonus)}
            {...(index === 0 ? { "data-autofocus": true } : {})}
          />
        ))}
      </Stack>
    </Radio.Group>
  )
}

/** Grants one of the bonuses on offer; a role that may not set amounts grants what a bonus is on offer for, and no cash. */
export function GrantBonus({ player }: { readonly player: Player }) {
  const may = usePermission()
  const setsAmounts = may("player.correct")
  const operator = useOperatorOf()(player.operator_id)
  const catalogue = useAnswer("bonus.list", { query: { operator: operator.slug } }, {
    enabled: may("bonus.grant") && may("bonus.list")
  }).data?.data ?? []
  const offered = catalogue.filter(({ is_active: isActive, wagering_multiplier: times }) =>
    isActive && (setsAmounts || times > 0)
  )
  const titleOf = ({ default_amount: amount, name, type }: Bonus) =>
    `${name}: ${words(type)}, ${moneyText(amount, operator.currency)}`
  const [only, ...others] = offered
  const initial = only !== undefined && others.length === 0 ? String(only.id) : ""
  const choice: Partial<Field> = offered.length > maxShown
    ? {
      kind: "choice",
      half: false,
      options: offered.map((bonus) => ({ value: String(bonus.id), label: titleOf(bonus) }))
    }
    : { kind: "own", initial, draw: (input) => <BonusChoice {...input} offered={offered} titleOf={titleOf} /> }
  return (
    <ActionButton
      action="bonus.grant"
      label="Grant bonus"
      params={{ player: player.id }}
      fields={formOf("bonus.grant", {
        bonus: { description: "", ...choice },
        amount: setsAmounts && { half: false, description: "Empty: what the bonus is on offer for." },
        note: { description: "Kept with the player." }
      }, { currency: player.currency })}
      toPayload={({ bonus, ...values }) => bonus === "" ? values : { ...values, bonus: Number(bonus) }}
      explanation="Starts at once, or waits while another bonus runs."
      done="Bonus granted"
      result={({ data }) => <GrantedBonus id={data.id} />}
      undo={({ data }) =>
        may("bonus.cancel")
          ? { action: "bonus.cancel", request: { params: { bonus: data.id }, payload: { reason: "Taken back" } } }
          : undefined}
    />
  )
}

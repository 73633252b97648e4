/** Register form: its fields depend on the kind of register. */
import { registers } from "virtual:protocols"
import type { Row } from "../app/api.ts"
import { ActionButton, type ActionProps, rowAction } from "../parts/ActionButton.tsx"
import { type FieldList, filledFrom, formOf, type Inputs } from "../parts/Fields.tsx"
import type { RowActions } from "../parts/RowMenu.tsx"
import { kindNames } from "./kindNames.ts"
import { gatheredSettings, settingFields } from "../parts/SettingFields.ts"

export type Register = Row<"register.list">

/** A register of excluded players, which is asked in other moments than a screening. */
type NationalRegister = Register & { readonly kind: Exclude<Register["kind"], "screening"> }

const isNational = (register: Register): register is NationalRegister => register.kind !== "screening"

const kindOptions = Object.entries(kindNames).filter(([value]) => value !== "screening").map(([value, label]) => ({
  value,
  label
}))

const formOfKind = (kind: unknown) => registers.find(({ name }) => name === kind)

const createFields = (inputs: Inputs): FieldList => [
  ...formOf("register.create", {
    kind: { label: "Register", kind: "choice", options: kindOptions, description: "It cannot be changed later." }
  }),
  ...settingFields(formOfKind(inputs["kind"]), false)
]

export function AddRegister() {
  return (
    <ActionButton
      action="register.create"
      label="Add register"
      fields={createFields}
      toPayload={(values) => gatheredSettings(formOfKind(values["kind"]), values)}
      explanation="It is asked from now on, wherever the jurisdiction of a player says so."
      size="lg"
      done="Register added"
      button={{ variant: "filled" }}
    />
  )
}

const change = (register: Register): ActionProps<"register.update"> => ({
  action: "register.update",
  label: "Change register",
  params: { register: register.id },
  fields: [
    ...formOf("register.update", { active: false }, { record: register }),
    ...filledFrom(register.settings, settingFields(formOfKind(register.kind), true))
  ],
  toPayload: (values) => gatheredSettings(formOfKind(register.kind), values),
  explanation: "Another address takes the secrets anew.",
  isUpdate: true,
  size: "lg",
  done: "Register changed"
})

/** Stops asking, or begins again. */
const switchOver = ({ active, id, kind }: Register): ActionProps<"register.update"> => ({
  action: "register.update",
  label: active ? "Switch off" : "Switch on",
  params: { register: id },
  fixed: { active: !active },
  explanation: active
    ? `${
      kindNames[kind]
    } is not asked any more. Whoever needs its answer is refused, unless the jurisdiction goes on without it.`
    : `${kindNames[kind]} is asked again.`,
  danger: active,
  done: active ? "Register switched off" : "Register switched on"
})

const ask = ({ id, kind }: Register): ActionProps<"register.test"> => ({
  action: "register.test",
  label: "Ask about a player",
  params: { register: id },
  fields: formOf("register.test", { player: { label: "Player id" } }),
  explanation: `Asks ${kindNames[kind]} now. The answer counts like any other.`,
  done: ({ data: { verdict } }) => `The answer is: ${verdict}`
})

const refresh = ({ kind, operator_id: operator }: NationalRegister): ActionProps<"register.refresh"> => ({
  action: "register.refresh",
  label: "Ask anew",
  fixed: { kind, operator: String(operator) },
  explanation:
    "Asks about the players of the last 30 days whose answer is older than a day, some hundred at a time. It is done every night.",
  done: ({ data: { asked, excluded, unavailable } }) =>
    `Asked about ${asked}: ${excluded} excluded, ${unavailable} without an answer`
})

export function AddScreening() {
  return (
    <ActionButton
      action="screening.create"
      label="Add screening"
      fields={formOf("screening.create")}
      explanation="Players are looked for on its lists after their registration, when they become somebody else, and every 30 days."
      size="lg"
      done="Screening added"
    />
  )
}

const changeScreening = ({ id, settings }: Register): ActionProps<"screening.update"> => ({
  action: "screening.update",
  label: "Change screening",
  params: { screening: id },
  fields: formOf("screening.update", { active: false }, { record: settings }),
  explanation: "Another address takes the key anew.",
  isUpdate: true,
  size: "lg",
  done: "Screening changed"
})

const switchScreening = ({ active, id }: Register): ActionProps<"screening.update"> => ({
  action: "screening.update",
  label: active ? "Switch screening off" : "Switch screening on",
  params: { screening: id },
  fixed: { active: !active },
  explanation: active ? "Nobody is looked for any more." : "Players are looked for again.",
  danger: active,
  done: active ? "Screening switched off" : "Screening switched on"
})

export const registerActions: RowActions<Register> = {
  nameOf: ({ kind }) => `register ${kindNames[kind]}`,
  of: (register) =>
    isNational(register)
      ? [
        rowAction({ ...change(register), isNext: true }),
        rowAction(ask(register)),
        rowAction(refresh(register)),
        rowAction(switchOver(register))
      ]
      : [rowAction({ ...changeScreening(register), isNext: true }), rowAction(switchScreening(register))]
}

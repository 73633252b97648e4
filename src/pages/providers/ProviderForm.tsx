/** Provider form: its fields depend on the vendor's protocol. */
import { protocols } from "virtual:protocols"
import type { Row } from "../app/api.ts"
import { ActionButton, type ActionProps, rowAction } from "../parts/ActionButton.tsx"
import { type Field, type FieldList, filledFrom, formOf, type Inputs } from "../parts/Fields.tsx"
import { OneTimeValue } from "../parts/OneTimeValue.tsx"
import type { RowActions } from "../parts/RowMenu.tsx"
import { gatheredSettings, settingFields } from "../parts/SettingFields.ts"

export type Provider = Row<"provider.list">

/** Protocol of providers that call Pitboss's own API. */
export const ownProtocol = "pitboss"

const formOfProtocol = (protocol: unknown) => protocols.find(({ name }) => name === protocol)

/** Fields of the provider itself, then the settings of its protocol, then what it may call and be read from. */
const providerFields = (provider?: Provider) => (inputs: Inputs): FieldList => {
  const protocol = provider?.protocol ?? inputs["protocol"] ?? ownProtocol
  const isOwn = protocol === ownProtocol
  const changes = {
    name: { half: true, description: "" },
    slug: { half: true, description: "", placeholder: "acme" },
    launch_url: isOwn && { label: "Address of games" },
    demo_url: isOwn && { label: "Address of free play", description: "" },
    sync_hours: isOwn ? false : {
      label: "Hours between readings of the catalogue (0: never)",
      description: "",
      half: false
    },
    ip_allowlist: {
      label: "Addresses that it calls from",
      description: "Addresses and ranges, one a line. Empty: any."
    },
    active: false
  } as const
  const first = ["name", "slug", "protocol"] as const
  const fields = provider === undefined
    ? formOf("provider.create", {
      ...changes,
      protocol: {
        kind: "choice",
        required: true,
        description: "What its vendor speaks. It cannot be changed later.",
        options: [{ value: ownProtocol, label: "Pitboss's own" }, ...protocols.map(({ name }) => name)],
        initial: ownProtocol
      }
    }, { first })
    : formOf("provider.update", { ...changes, protocol: false }, { record: provider, first })
  const isFirst = ({ name }: Field) => first.some((each) => each === name)
  return [
    ...fields.filter(isFirst),
    ...filledFrom(provider?.settings, settingFields(formOfProtocol(protocol), provider !== undefined)),
    ...fields.filter((field) => !isFirst(field))
  ]
}

export function AddProvider() {
  return (
    <ActionButton
      action="provider.create"
      label="Add provider"
      fields={providerFields()}
      toPayload={(values) => gatheredSettings(formOfProtocol(values["protocol"]), values)}
      size="lg"
      done="Provider added"
      button={{ variant: "filled" }}
      result={({ data: { key, protocol, secret } }) =>
        protocol === ownProtocol
          ? <OneTimeValue label="Secret" of={{ key }} value={secret} />
          : undefined}
    />
  )
}

const change = (provider: Provider): ActionProps<"provider.update"> => ({
  action: "provider.update",
  label: "Change provider",
  params: { provider: String(provider.id) },
  fields: providerFields(provider),
  toPayload: (values) => gatheredSettings(formOfProtocol(provider.protocol), values),
  isUpdate: true,
  size: "lg",
  done: "Provider changed"
})

/** Disables a provider's games, or enables them again. */
const switchOver = ({ active, id, name }: Provider): ActionProps<"provider.update"> => {
  const params = { provider: String(id) }
  return {
    action: "provider.update",
    label: active ? "Switch provider off" : "Switch provider on",
    params,
    fixed: { active: !active },
    explanation: active
      ? `No game of ${name} is offered or takes bets from then on. What was begun is settled all the same.`
      : `The games of ${name} are offered again, and take bets.`,
    done: `${name}: ${active ? "off" : "on"}`,
    undo: { action: "provider.update", request: { params, payload: { active } } }
  }
}

/** Actions on a provider, on its page. */
export function ProviderActions({ provider }: { readonly provider: Provider }) {
  return (
    <>
      <ActionButton {...change(provider)} />
      <ActionButton {...switchOver(provider)} />
    </>
  )
}

/** Actions on a provider, in its row. */
export const providerActions: RowActions<Provider> = {
  nameOf: ({ name }) => name,
  of: (provider) => [rowAction({ ...change(provider), isNext: true }), rowAction(switchOver(provider))]
}

/** Webhook form, and the secret shown once a webhook is added. */
import { Stack, Text } from "@mantine/core"
import { eventTypes } from "../../domain/state/Events.ts"
import { ActionButton } from "../parts/ActionButton.tsx"
import { formOf } from "../parts/Fields.tsx"
import { OneTimeValue } from "../parts/OneTimeValue.tsx"

export const changes = {
  url: { placeholder: "https://", description: "Events are posted to it." },
  events: { required: true, description: "", options: eventTypes.map((value) => ({ value, label: value })) },
  active: { label: "Active: events are sent", description: "What comes meanwhile waits." }
} as const

export const withSecret = (webhook: string, secret: string) => (
  <Stack gap="xs">
    <OneTimeValue label="Secret" of={{ webhook }} value={secret} />
    <Text size="sm">The receiver checks the signature of every event with it.</Text>
  </Stack>
)

/** Adds a webhook of an operator, or of one that the form asks for. */
export function AddWebhook({ operator }: { readonly operator?: string }) {
  return (
    <ActionButton
      action="webhook.create"
      label="Add webhook"
      fields={formOf("webhook.create", { ...changes, ...(operator === undefined ? {} : { operator: false }) })}
      {...(operator === undefined ? { button: { variant: "filled" } } : { fixed: { operator } })}
      size="lg"
      done="Webhook added"
      result={({ data }) => withSecret(data.url, data.secret)}
    />
  )
}

/** Webhooks: endpoints, their secrets, and deliveries. */
import { Group, Paper, Stack, Text, Title } from "@mantine/core"
import { useMemo } from "react"
import { eventTypes } from "../../domain/state/Events.ts"
import { useAddress } from "../app/address.ts"
import type { Row } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { usePermission } from "../app/session.tsx"
import { ActionButton } from "../parts/ActionButton.tsx"
import { buttonColumn } from "../parts/columns.tsx"
import { Facts } from "../parts/Facts.tsx"
import { formOf } from "../parts/Fields.tsx"
import { filtersOf, ListPage } from "../parts/ListPage.tsx"
import { columnsOf, factsOf } from "../parts/shown.tsx"
import { Clip, Instant } from "../parts/Values.tsx"
import { AddWebhook, changes, withSecret } from "./AddWebhook.tsx"
import { Deliveries } from "./Deliveries.tsx"

type Webhook = Row<"webhook.list">

const filters = filtersOf("webhook.list")

const eventsOf = ({ events: own }: Webhook): string => own.length === eventTypes.length ? "all" : own.join(", ")

function Change({ webhook }: { readonly webhook: Webhook }) {
  return (
    <ActionButton
      action="webhook.update"
      label="Change webhook"
      params={{ webhook: webhook.id }}
      fields={formOf("webhook.update", changes, { record: webhook })}
      isUpdate
      size="lg"
      done="Webhook changed"
    />
  )
}

function Ping({ webhook }: { readonly webhook: Webhook }) {
  const [, setSearch] = useAddress()
  return (
    <ActionButton
      action="webhook.ping"
      label="Send ping"
      params={{ webhook: webhook.id }}
      explanation={`Sends a test event to ${webhook.url}, signed like every other. It is tried once.`}
      done="Ping sent"
      onDone={({ data }) => setSearch({ webhook: String(webhook.id), delivery: String(data.id) })}
    />
  )
}

/** Webhook named by the address, with its actions. */
function Chosen({ webhook }: { readonly webhook: Webhook }) {
  const [, setSearch] = useAddress()
  const { id, previous_secret_until: until } = webhook
  return (
    <Paper withBorder p="md" component="section" aria-label={`Webhook ${id}`}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h4">Webhook {id}</Title>
          <Group gap="xs">
            <Ping webhook={webhook} />
            <Change webhook={webhook} />
            <ActionButton
              action="webhook.redeliver"
              label="Redeliver"
              params={{ webhook: id }}
              fields={formOf("webhook.redeliver", {
                until: { label: "Before", description: "Empty: until now." },
                status: { label: "Which", description: "Empty: both.", initial: "failed" }
              })}
              explanation="Sends events of a time again, the oldest first, 10,000 at most. The receiver may get them twice."
              done="Redelivery asked for"
              result={({ data }) => (
                <Text size="sm">
                  {data.queued === 0
                    ? "No delivery of that time: nothing is sent."
                    : `${data.queued} deliveries are due again.`}
                  {data.next_since !== null && (
                    <>
                      {" "}There are more: redeliver again since <Instant at={data.next_since} /> ({data.next_since}).
                    </>
                  )}
                </Text>
              )}
              onDone={() => setSearch({ webhook: String(id) })}
            />
            <ActionButton
              action="webhook.rotate"
              label="New secret"
              params={{ webhook: id }}
              explanation="Makes a new secret. The present one signs as well for 24 hours, so that the receiver can switch without losing an event."
              danger
              result={({ data }) => data.secret === undefined ? undefined : withSecret(webhook.url, data.secret)}
            />
            {until !== null && (
              <ActionButton
                action="webhook.rotate"
                label="End old secret"
                params={{ webhook: id }}
                query={{ now: "true" }}
                explanation="The secret before the last change signs nothing from then on."
                done="The old secret signs nothing any more"
                danger
              />
            )}
          </Group>
        </Group>
        <Facts
          columns={3}
          facts={factsOf(
            "webhook.list",
            webhook,
            "url",
            "operator_id",
            "active",
            ["events", { cell: eventsOf }],
            ["previous_secret_until", { label: "Old secret signs until", seconds: true }],
            ["updated_at", { seconds: true }]
          )}
        />
      </Stack>
    </Paper>
  )
}

export default function WebhooksPage() {
  const may = usePermission()
  const [search] = useAddress()
  const webhooks = useAnswer("webhook.list", {}, { enabled: may("webhook.list") }).data?.data ?? none
  const chosen = webhooks.find(({ id }) => String(id) === search["webhook"])
  const columns = useMemo(() =>
    columnsOf(
      "webhook.list",
      ["id", { to: ({ id }) => `/webhooks?${new URLSearchParams({ ...search, webhook: String(id) }).toString()}` }],
      ["url", { width: 360 }],
      "operator_id",
      ["events", { cell: (webhook) => <Clip width={220}>{eventsOf(webhook)}</Clip> }],
      "active",
      ["created_at", { label: "Added" }],
      buttonColumn((webhook) => (
        <Group gap={4} justify="flex-end" wrap="nowrap">
          <Ping webhook={webhook} />
          <Change webhook={webhook} />
        </Group>
      ))
    ), [search])
  return (
    <Stack>
      <ListPage
        heading="Webhooks"
        actions={<AddWebhook />}
        action="webhook.list"
        paging="whole"
        filters={filters}
        columns={columns}
        empty="No webhooks yet. Add the address of the operator's system that events are to be sent to."
      />
      {chosen !== undefined && <Chosen webhook={chosen} />}
      {may("delivery.list") && <Deliveries webhooks={webhooks} />}
    </Stack>
  )
}

const none: ReadonlyArray<Webhook> = []

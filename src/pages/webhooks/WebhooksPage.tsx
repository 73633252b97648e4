/** Webhooks: endpoints, their secrets, and deliveries. */
import { Group, Paper, Stack, Text, Title } from "@mantine/core"
import { useMemo } from "react"
import { eventTypes } from "../../domain/state/Events.ts"
import { useAddress } from "../app/address.ts"
import type { Row } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { useOperatorOf, useOperators, usePermission } from "../app/session.tsx"
import { ActionButton } from "../parts/ActionButton.tsx"
import { buttonColumn } from "../parts/columns.tsx"
import type { Column } from "../parts/DataTable.tsx"
import { Facts } from "../parts/Facts.tsx"
import { type Field, filledFrom, operatorField } from "../parts/Fields.tsx"
import { filtersOf, ListPage } from "../parts/ListPage.tsx"
import { OneTimeValue } from "../parts/OneTimeValue.tsx"
import { Clip, Instant, PageLink, Status } from "../parts/Values.tsx"
import { Deliveries } from "./Deliveries.tsx"

type Webhook = Row<"webhook.list">

const events = eventTypes.map((value) => ({ value, label: value }))

const fields: ReadonlyArray<Field> = [
  {
    name: "url",
    label: "Address",
    kind: "text",
    required: true,
    placeholder: "https://",
    description: "Events are posted to it."
  },
  { name: "events", label: "Events", kind: "choices", required: true, options: events, initial: [...eventTypes] },
  { name: "active", label: "Active: events are sent", kind: "switch", initial: true }
]

const filters = filtersOf("webhook.list")

const eventsOf = ({ events: own }: Webhook): string => own.length === eventTypes.length ? "all" : own.join(", ")

function Change({ webhook }: { readonly webhook: Webhook }) {
  return (
    <ActionButton
      action="webhook.update"
      label="Change webhook"
      params={{ webhook: webhook.id }}
      fields={filledFrom(webhook, fields)}
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

const withSecret = (secret: string) => (
  <Stack gap="xs">
    <OneTimeValue label="Secret" value={secret} />
    <Text size="sm">The receiver checks the signature of every event with it.</Text>
  </Stack>
)

/** Webhook named by the address, with its actions. */
function Chosen({ webhook }: { readonly webhook: Webhook }) {
  const operatorOf = useOperatorOf()
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
              fields={[
                { name: "since", label: "Since", kind: "instant", required: true },
                { name: "until", label: "Before", kind: "instant", description: "Empty: until now." },
                {
                  name: "status",
                  label: "Which",
                  kind: "choice",
                  options: ["failed", "delivered"],
                  description: "Empty: both.",
                  initial: "failed"
                }
              ]}
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
              result={({ data }) => data.secret === undefined ? undefined : withSecret(data.secret)}
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
          facts={[
            ["Address", <span key="url" style={{ overflowWrap: "anywhere" }}>{webhook.url}</span>],
            ["Operator", operatorOf(webhook.operator_id).name],
            ["State", <Status key="state" of={webhook.active ? "active" : "inactive"} />],
            ["Events", eventsOf(webhook)],
            ["Old secret signs until", <Instant key="until" at={until} />],
            ["Changed", <Instant key="changed" at={webhook.updated_at} />]
          ]}
        />
      </Stack>
    </Paper>
  )
}

function AddWebhook() {
  const operators = useOperators()
  return (
    <ActionButton
      action="webhook.create"
      label="Add webhook"
      fields={[operatorField(operators), ...fields]}
      size="lg"
      button={{ variant: "filled" }}
      done="Webhook added"
      result={({ data }) => withSecret(data.secret)}
    />
  )
}

export default function WebhooksPage() {
  const may = usePermission()
  const [search] = useAddress()
  const operatorOf = useOperatorOf()
  const webhooks = useAnswer("webhook.list", {}, { enabled: may("webhook.list") }).data?.data ?? none
  const chosen = webhooks.find(({ id }) => String(id) === search["webhook"])
  const columns: ReadonlyArray<Column<Webhook>> = useMemo(() => [
    {
      id: "id",
      header: "Id",
      cell: ({ id }) => {
        const next = new URLSearchParams({ ...search, webhook: String(id) })
        return <PageLink to={`/webhooks?${next.toString()}`}>{String(id)}</PageLink>
      }
    },
    { id: "url", header: "Address", value: ({ url }) => url, cell: ({ url }) => <Clip width={360}>{url}</Clip> },
    { id: "operator", header: "Operator", cell: ({ operator_id: id }) => operatorOf(id).name },
    { id: "events", header: "Events", cell: (webhook) => <Clip width={220}>{eventsOf(webhook)}</Clip> },
    { id: "state", header: "State", cell: ({ active }) => <Status of={active ? "active" : "inactive"} /> },
    { id: "created", header: "Added", cell: ({ created_at: at }) => <Instant at={at} seconds={false} /> },
    buttonColumn((webhook) => (
      <Group gap={4} justify="flex-end" wrap="nowrap">
        <Ping webhook={webhook} />
        <Change webhook={webhook} />
      </Group>
    ))
  ], [operatorOf, search])
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

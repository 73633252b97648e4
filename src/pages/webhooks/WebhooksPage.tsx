/** Webhooks: endpoints, their secrets, and deliveries. */
import { Alert, Group, Paper, Stack, Text, Title } from "@mantine/core"
import { useMemo } from "react"
import { eventTypes } from "../../domain/state/Events.ts"
import { useAddress } from "../app/address.ts"
import type { Data, Row } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { usePermission } from "../app/session.tsx"
import { ActionButton, type ActionProps, rowAction } from "../parts/ActionButton.tsx"
import { Facts } from "../parts/Facts.tsx"
import { formOf } from "../parts/Fields.tsx"
import { filtersOf, ListPage } from "../parts/ListPage.tsx"
import { Waiting } from "../parts/Refusal.tsx"
import type { RowActions } from "../parts/RowMenu.tsx"
import { columnsOf, factsOf } from "../parts/shown.tsx"
import { Clip, countText, Instant } from "../parts/Values.tsx"
import { AddWebhook, changes, withSecret } from "./AddWebhook.tsx"
import { Deliveries } from "./Deliveries.tsx"

type Webhook = Row<"webhook.list">
type SetSearch = ReturnType<typeof useAddress>[1]

const filters = filtersOf("webhook.list")

const counted = (count: number, one: string, several: string): string =>
  `${countText(count)} ${count === 1 ? one : several}`

const eventsOf = ({ events: own }: Webhook): string => own.length === eventTypes.length ? "all" : own.join(", ")

const change = (webhook: Webhook): ActionProps<"webhook.update"> => ({
  action: "webhook.update",
  label: "Change webhook",
  params: { webhook: webhook.id },
  fields: formOf("webhook.update", changes, { record: webhook }),
  isUpdate: true,
  size: "lg",
  done: "Webhook changed"
})

/** Opens the delivery of the ping. */
const ping = ({ id, url }: Webhook, setSearch: SetSearch): ActionProps<"webhook.ping"> => ({
  action: "webhook.ping",
  label: "Send ping",
  params: { webhook: id },
  explanation: `Sends a test event to ${url}, signed like every other. It is tried once.`,
  done: "Ping sent",
  onDone: ({ data }) => setSearch({ webhook: String(id), delivery: String(data.id) })
})

/** What has not arrived since an instant, in words. `since`: absent for ever. */
function Undelivered({ id, since }: { readonly id: number; readonly since?: string | undefined }) {
  const query = useAnswer(
    "delivery.undelivered",
    { query: { webhook: id, ...(since === undefined ? {} : { since }) } },
    { refetchMs: 10_000 }
  )
  const found = query.data?.data
  if (found === undefined || query.isPlaceholderData) return <Waiting query={query} />
  const { failed, retrying, since: first } = found
  if (failed + retrying === 0) {
    return (
      <>
        {since === undefined
          ? "Everything has arrived."
          : "Everything since then has arrived: there is nothing to send."}
      </>
    )
  }
  return (
    <>
      <b>{counted(failed + retrying, "delivery has", "deliveries have")} not arrived</b>: {countText(failed)} given up,
      {" "}
      {countText(retrying)} tried again by itself. The first is of <Instant at={first} />.
    </>
  )
}

function SendAgain({ webhook: { id } }: { readonly webhook: Webhook }) {
  const { data } = useAnswer("delivery.undelivered", { query: { webhook: id } })
  const first = data?.data.since
  return (
    <ActionButton
      action="delivery.redeliver"
      label="Send again"
      fields={formOf("delivery.redeliver", {
        webhook: false,
        since: { label: "What has not arrived since", description: "", initial: first ?? "" }
      })}
      fixed={{ webhook: id }}
      explanation="Sends what has not arrived, the oldest first, 10,000 at most. What arrived already is not sent again."
      preview={({ since }) => (
        <Text size="sm" component="div" aria-live="polite">
          {typeof since === "string" && <Undelivered id={id} since={since} />}
        </Text>
      )}
      done={({ data: { queued } }) =>
        queued === 0 ? undefined : `${counted(queued, "delivery is", "deliveries are")} sent again`}
      result={({ data }) => <Redelivered redelivered={data} />}
      button={{ variant: "filled" }}
    />
  )
}

/** What a redelivery came to: nothing to send is no success. */
function Redelivered(
  { redelivered: { next_since: next, queued } }: { readonly redelivered: Data<"delivery.redeliver"> }
) {
  return (
    <Alert
      color={queued === 0 ? "orange" : "green"}
      variant="light"
      title={queued === 0 ? "Nothing was sent" : `${counted(queued, "delivery is", "deliveries are")} due again.`}
    >
      <Text size="sm">
        {queued === 0
          ? "There is no such delivery since then."
          : "They are sent within seconds, the oldest first. The list of deliveries shows what comes of each."}
        {next !== null && (
          <>
            {" "}There are more: send again since <Instant at={next} /> ({next}).
          </>
        )}
      </Text>
    </Alert>
  )
}

/** Webhook named by the address, with its actions. */
function Chosen({ webhook }: { readonly webhook: Webhook }) {
  const [, setSearch] = useAddress()
  const may = usePermission()
  const { id, previous_secret_until: until } = webhook
  return (
    <Paper withBorder p="md" component="section" aria-label={`Webhook ${id}`}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h4">Webhook {id}</Title>
          <Group gap="xs">
            <SendAgain webhook={webhook} />
            <ActionButton {...ping(webhook, setSearch)} />
            <ActionButton {...change(webhook)} />
            <ActionButton
              action="webhook.redeliver"
              label="Redeliver"
              params={{ webhook: id }}
              fields={formOf("webhook.redeliver", {
                until: { label: "Before", description: "Empty: until now." },
                status: { label: "Which", description: "Empty: both.", initial: "failed" }
              })}
              explanation="Sends events of a time again, the oldest first, 10,000 at most. The receiver may get them twice."
              done={({ data: { queued } }) => queued === 0 ? undefined : "Redelivery asked for"}
              result={({ data }) => <Redelivered redelivered={data} />}
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
        {may("delivery.undelivered") && (
          <Text size="sm" component="div">
            <Undelivered id={id} />
          </Text>
        )}
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
  const [search, setSearch] = useAddress()
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
      ["created_at", { label: "Added" }]
    ), [search])
  const rowActions = useMemo((): RowActions<Webhook> => ({
    nameOf: ({ id }) => `webhook ${id}`,
    of: (webhook) => [rowAction({ ...change(webhook), isNext: true }), rowAction(ping(webhook, setSearch))]
  }), [setSearch])
  return (
    <Stack>
      <ListPage
        heading="Webhooks"
        actions={<AddWebhook />}
        action="webhook.list"
        paging="whole"
        filters={filters}
        columns={columns}
        rowActions={rowActions}
        empty="No webhooks yet. Add the address of the operator's system that events are to be sent to."
      />
      {chosen !== undefined && <Chosen key={chosen.id} webhook={chosen} />}
      {may("delivery.list") && <Deliveries webhooks={webhooks} />}
    </Stack>
  )
}

const none: ReadonlyArray<Webhook> = []

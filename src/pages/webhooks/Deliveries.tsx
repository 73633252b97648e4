/** Deliveries of webhook events: outcome, request and response of each. */
import { Code, Group, Modal, SimpleGrid, Stack, Text, Title } from "@mantine/core"
import { useMemo } from "react"
import { useAddress } from "../app/address.ts"
import type { Data, Row } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { ActionButton } from "../parts/ActionButton.tsx"
import type { Bulk } from "../parts/Bulk.tsx"
import { Facts } from "../parts/Facts.tsx"
import { filtersOf, ListSection } from "../parts/ListPage.tsx"
import { Waiting } from "../parts/Refusal.tsx"
import { columnsOf } from "../parts/shown.tsx"
import { Clip, Instant, Status, words } from "../parts/Values.tsx"

type Delivery = Row<"delivery.list">
type Attempt = Data<"delivery.show">
type Webhook = Row<"webhook.list">

/** Reasons for failed attempts, as text. */
const failures: Readonly<Record<string, string>> = {
  status: "the answer was not 2xx",
  timeout: "no answer in time",
  target_refused: "the address is not allowed",
  too_large: "the event is too large"
}

const failureOf = (error: string | null): string => error === null ? "–" : failures[error] ?? words(error)

/** Given up, or between two attempts. */
const hasNotArrived = ({ status }: Delivery): boolean => status === "failed" || status === "retrying"

function Retry({ delivery }: { readonly delivery: Delivery }) {
  return (
    <ActionButton
      action="delivery.retry"
      label="Retry"
      params={{ delivery: delivery.id }}
      explanation={`Sends event ${delivery.event_id} (${delivery.type}) again at once, with all attempts before it. The receiver may get it twice.`}
      done={`Delivery ${delivery.id} is due again`}
    />
  )
}

/** Formats JSON with line breaks; other text is unchanged. */
const laidOut = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function Body(
  { empty, label, text }: { readonly label: string; readonly text: string | null; readonly empty: string }
) {
  return text === null || text === ""
    ? <Text size="sm">{empty}</Text>
    : (
      <Code
        block
        tabIndex={0}
        role="region"
        aria-label={label}
        data-copy={text}
        mah={320}
        style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere", overflowY: "auto" }}
      >
        {laidOut(text)}
      </Code>
    )
}

function Sent({ request }: { readonly request: Attempt["request"] }) {
  return (
    <Stack gap="xs" component="section" aria-label="Request">
      <Title order={3} size="h5">Request</Title>
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>POST {request.url}</Text>
      <Text component="dl" size="xs" m={0}>
        {Object.entries(request.headers).map(([name, value]) => (
          <Group key={name} gap={6} wrap="nowrap" align="flex-start">
            <Text component="dt" size="xs" c="dimmed">{name}</Text>
            <Text component="dd" size="xs" m={0} style={{ overflowWrap: "anywhere" }}>{value}</Text>
          </Group>
        ))}
      </Text>
      <Body
        label="Body of the request"
        text={request.body}
        empty="The event is forgotten: its time of keeping is over."
      />
    </Stack>
  )
}

function Answered({ response }: { readonly response: Attempt["response"] }) {
  return (
    <Stack gap="xs" component="section" aria-label="Answer">
      <Title order={3} size="h5">Answer</Title>
      {response === null ? <Text size="sm">Not sent yet.</Text> : (
        <>
          <Facts
            columns={2}
            facts={[
              ["Status", response.status ?? "none"],
              ["Failure", failureOf(response.error)],
              ["Sent", <Instant key="sent" at={response.sent_at} />],
              ["Took", response.duration_ms === null ? "–" : `${response.duration_ms} ms`]
            ]}
          />
          <Body label="Body of the answer" text={response.body} empty="The answer had no body." />
        </>
      )}
    </Stack>
  )
}

/** Refetch interval of an open delivery, in ms: it may be in progress. */
const rereadMs = 5_000

function DeliveryDetails({ id }: { readonly id: number }) {
  const query = useAnswer("delivery.show", { params: { delivery: id } }, { refetchMs: rereadMs })
  const delivery = query.data?.data
  if (delivery === undefined) return <Waiting query={query} />
  return (
    <Stack>
      <Group justify="space-between">
        <Group gap="xs">
          <Status of={delivery.status} />
          <Text size="sm">
            {delivery.type}, event {delivery.event_id}, {delivery.attempts}{" "}
            {delivery.attempts === 1 ? "attempt" : "attempts"}
          </Text>
        </Group>
        <Retry delivery={delivery} />
      </Group>
      {delivery.next_attempt_at !== null && (
        <Text size="sm">
          Next attempt: <Instant at={delivery.next_attempt_at} />
        </Text>
      )}
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Sent request={delivery.request} />
        <Answered response={delivery.response} />
      </SimpleGrid>
    </Stack>
  )
}

const bulk: Bulk<Delivery> = {
  noun: ["delivery", "deliveries"],
  nameOf: ({ id }) => `delivery ${id}`,
  actions: [{
    action: "delivery.retry_many",
    verb: "Retry",
    past: "due again",
    ids: "deliveries",
    explanation: "Sends them again at once, with all attempts before them. Receivers may get an event twice.",
    leftOut: (delivery) =>
      hasNotArrived(delivery) ? undefined : delivery.status === "delivered" ? "delivered" : "on the way"
  }]
}

/** List of deliveries, with one open if named by the address. */
export function Deliveries({ webhooks }: { readonly webhooks: ReadonlyArray<Webhook> }) {
  const [search, setSearch] = useAddress()
  const { delivery, operator } = search
  const filters = useMemo(() =>
    filtersOf("delivery.list", {
      operator: false,
      webhook: {
        kind: "choice",
        options: webhooks.map(({ id, url }) => ({ value: String(id), label: `${id} ${url}` })),
        width: 320
      }
    }), [webhooks])
  const urls = useMemo(() => new Map(webhooks.map(({ id, url }) => [id, url])), [webhooks])
  const query = useMemo(() => operator === undefined ? {} : { operator }, [operator])
  const columns = useMemo(() =>
    columnsOf(
      "delivery.list",
      ["id", { to: ({ id }) => `/webhooks?${new URLSearchParams({ ...search, delivery: String(id) }).toString()}` }],
      ["type", { label: "Event" }],
      "status",
      ["webhook_id", {
        label: "Webhook",
        cell: ({ webhook_id: id }) => <Clip width={220}>{urls.get(id) ?? String(id)}</Clip>
      }],
      "attempts",
      ["response_status", { label: "Answer", cell: ({ response_status: status }) => status ?? "–" }],
      ["error", { label: "Failure", cell: ({ error }) => failureOf(error) }],
      "created_at",
      {
        id: "retry",
        header: "",
        cell: (row) => hasNotArrived(row) && <Retry delivery={row} />
      }
    ), [search, urls])
  return (
    <>
      <ListSection
        heading="Deliveries"
        action="delivery.list"
        paging="walk"
        query={query}
        filters={filters}
        columns={columns}
        bulk={bulk}
        empty="Nothing was sent yet. Events are sent to a webhook from when it is added; a ping tries it."
      />
      <Modal
        opened={delivery !== undefined}
        onClose={() => setSearch({ delivery: undefined })}
        title={`Delivery ${delivery ?? ""}`}
        size="xl"
      >
        {delivery !== undefined && <DeliveryDetails id={Number(delivery)} />}
      </Modal>
    </>
  )
}

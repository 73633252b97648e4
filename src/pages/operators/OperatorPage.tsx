/** One operator: the set-up steps before its players can play, its settings, keys and webhooks. */
import { Badge, Group, List as Steps, Paper, Stack, Text, Title } from "@mantine/core"
import type { SetupStep } from "../../domain/operator/OperatorSetup.ts"
import { limitFields } from "../../domain/LimitFields.ts"
import { usePathPart } from "../app/address.ts"
import type { Data } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { Facts } from "../parts/Facts.tsx"
import { ListSection } from "../parts/ListPage.tsx"
import { PageHead } from "../parts/PageHead.tsx"
import { CopyValue } from "../parts/OneTimeValue.tsx"
import { Refusal, Waiting } from "../parts/Refusal.tsx"
import { Section } from "../parts/Section.tsx"
import { columnsOf, otherFactsOf } from "../parts/shown.tsx"
import { asHeading, Clip, Count, Instant, moneyText, PageLink } from "../parts/Values.tsx"
import { AddWebhook } from "../webhooks/AddWebhook.tsx"
import { AddKey, keyActions, keyColumns } from "./keys.tsx"
import { ChangeOperator, LicenseeName, type Operator } from "./OperatorForm.tsx"

type Setup = Data<"operator.setup">

interface Step {
  readonly name: SetupStep
  readonly title: string
  /** What there is. */
  readonly state: React.ReactNode
  /** What takes the step. A button stays when it is taken: its dialog shows the secret then. */
  readonly way: React.ReactNode
}

const stepsOf = (operator: Operator, setup: Setup): ReadonlyArray<Step> => [
  { name: "key", title: "API key", state: <Count of={setup.keys} />, way: <AddKey operator={operator.slug} /> },
  {
    name: "webhook",
    title: "Webhook",
    state: <Count of={setup.webhooks} />,
    way: <AddWebhook operator={operator.slug} />
  },
  {
    name: "payment_method",
    title: "Payment method",
    state: <Count of={setup.payment_methods} />,
    way: <PageLink to="/payments?tab=methods">Payment methods</PageLink>
  },
  {
    name: "game",
    title: "Games on offer",
    state: setup.games === 1000 ? "1,000 or more" : <Count of={setup.games} />,
    way: <PageLink to="/providers">Providers</PageLink>
  },
  {
    name: "first_call",
    title: "First signed call",
    state: setup.first_call_at === null ? "not seen yet" : <Instant at={setup.first_call_at} />,
    way: "GET /api/v1/operator/me, signed with its key, is enough."
  }
]

/** Steps of the set-up: those that are missing have the way to take them, the first of them is the next one. */
function SetupSteps({ operator, setup }: { readonly operator: Operator; readonly setup: Setup }) {
  const [next] = setup.missing
  return (
    <Paper withBorder p="md" component="section" aria-label="Set-up">
      <Stack gap="sm">
        <Group gap="xs">
          <Title order={2} size="h4">Set-up</Title>
          <Text size="sm" c="dimmed">
            {setup.missing.length === 0 ? "Everything is there." : `${setup.missing.length} of 5 steps are missing.`}
          </Text>
        </Group>
        <Steps type="ordered" spacing="xs" size="sm" listStyleType="none">
          {stepsOf(operator, setup).map(({ name, state, title, way }) => {
            const isMissing = setup.missing.includes(name)
            return (
              <Steps.Item key={name} aria-label={title} {...(name === next ? { "aria-current": "step" } : {})}>
                <Group gap="xs" mih={24}>
                  <Badge variant="light" color={isMissing ? "orange" : "green"}>{isMissing ? "missing" : "done"}</Badge>
                  <Text size="sm" fw={name === next ? 600 : 400}>{title}:</Text>
                  <Text size="sm" component="span">{state}</Text>
                  {(isMissing || typeof way !== "string") && <Text size="sm" component="span">{way}</Text>}
                </Group>
              </Steps.Item>
            )
          })}
        </Steps>
      </Stack>
    </Paper>
  )
}

/** Facts of the page that stand elsewhere on it, or are made by hand. */
const elsewhere = ["id", "name", "licensee_id", "default_limits"] as const

const limitText = (operator: Operator): string => {
  const limits = new Map(Object.entries(operator.default_limits))
  const texts = limitFields.flatMap((field) => {
    const limit = limits.get(field)
    return limit === undefined
      ? []
      : [
        `${asHeading(field)}: ${field === "max_session_minutes" ? `${limit} min` : moneyText(limit, operator.currency)}`
      ]
  })
  return texts.length === 0 ? "none" : texts.join(", ")
}

const webhookColumns = columnsOf(
  "webhook.list",
  ["id", { to: ({ id }) => `/webhooks?webhook=${id}` }],
  ["url", { cell: ({ url }) => <Clip width={360}>{url}</Clip> }],
  "active",
  ["created_at", { label: "Added" }]
)

function Found({ operator }: { readonly operator: Operator }) {
  const query = useAnswer("operator.setup", { params: { operator: operator.slug } }, { refetchMs: 10_000 })
  const setup = query.data?.data
  const own = { operator: operator.slug }
  return (
    <Stack gap="lg">
      <PageHead heading={operator.name}>
        <ChangeOperator operator={operator} />
      </PageHead>
      {setup === undefined ? <Waiting query={query} /> : <SetupSteps operator={operator} setup={setup} />}
      <Section heading="Settings">
        <Facts
          facts={[
            ["Id", <CopyValue key="id" label="id" value={String(operator.id)} />],
            ...otherFactsOf("operator.list", operator, elsewhere),
            ["Licensee", <LicenseeName key="licensee" id={operator.licensee_id} />],
            ["Default limits", limitText(operator)]
          ]}
        />
      </Section>
      <ListSection
        heading="API keys"
        action="key.list"
        paging="whole"
        query={own}
        columns={keyColumns}
        rowActions={keyActions}
        empty="No keys yet. The operator's requests are signed with one."
      />
      <ListSection
        heading="Webhooks"
        action="webhook.list"
        paging="whole"
        query={own}
        columns={webhookColumns}
        empty="No webhooks yet. The operator hears of nothing until it has one."
      />
      <Group>
        <PageLink to={`/players?operator=${operator.slug}`}>Its players</PageLink>
        <PageLink to={`/payments?operator=${operator.slug}`}>Its payments</PageLink>
        <PageLink to={`/reports/ggr?operator=${operator.slug}`}>Its GGR</PageLink>
        <PageLink to={`/audit?operator=${operator.slug}`}>Its audit log</PageLink>
      </Group>
    </Stack>
  )
}

export default function OperatorPage() {
  const reference = usePathPart("operator")
  const query = useAnswer("operator.list")
  if (query.data === undefined) return <Waiting query={query} />
  const operator = query.data.data.find(({ id, slug }) => slug === reference || String(id) === reference)
  return operator === undefined
    ? (
      <Stack>
        <PageHead heading="Operator" />
        <Refusal error={new Error(`There is no operator ${reference}, or your account may not see it.`)} />
      </Stack>
    )
    : <Found key={operator.id} operator={operator} />
}

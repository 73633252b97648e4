/** Home: key figures of the casino, live. */
import { Alert, Card, Group, SimpleGrid, Stack, Text, Title } from "@mantine/core"
import { GgrByHour } from "./GgrByHour.tsx"
import type { Data } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { useOperatorOf, useOperators, usePermission } from "../app/session.tsx"
import { PageHead } from "../parts/PageHead.tsx"
import { Waiting } from "../parts/Refusal.tsx"
import { kindNames } from "../registers/kindNames.ts"
import { Section } from "../parts/Section.tsx"
import { Count, countText, Instant, Money, PageLink } from "../parts/Values.tsx"

type Overview = Data<"figures.overview">

/** Figure with its name and secondary values. */
function Figure(
  { children, label, name, note, to }: {
    readonly name: string
    /** Page that has more of it. */
    readonly to?: string | false
    /** Distinguishes several figures of the same name. */
    readonly label?: string
    readonly children: React.ReactNode
    readonly note?: React.ReactNode
  }
) {
  return (
    <Card withBorder padding="sm" component="section" aria-label={label ?? name}>
      <Text size="xs" c="dimmed">
        {to === undefined || to === false ? name : <PageLink to={to}>{name}</PageLink>}
      </Text>
      <Text fz="xl" fw={600} component="div">{children}</Text>
      {note !== undefined && <Text size="xs" c="dimmed" component="div">{note}</Text>}
    </Card>
  )
}

const change = (now: number, before: number): string =>
  before === 0 ? "" : `${now >= before ? "+" : "−"}${Math.abs(Math.round((now - before) / Math.abs(before) * 100))} %`

/** The same weekday of last week: of all operators, or of those that have a figure of it beside theirs of today. */
function LastWeek({ money }: { readonly money: Overview["money"][number] }) {
  const { currency, ggr_compared: now, ggr_last_week: before, operators, operators_compared: compared } = money
  if (before === null || now === null) return <>No figure of the same weekday yet</>
  const figure = <Money amount={before} currency={currency} />
  return compared === operators
    ? <>Same weekday, same time: {figure} {change(now, before)}</>
    : (
      <>
        Same weekday, same time, {compared} of {operators} operators: {figure}, today{" "}
        <Money amount={now} currency={currency} /> {change(now, before)}
      </>
    )
}

function MoneyFigures({ money }: { readonly money: Overview["money"][number] }) {
  const { bets, currency, deposits, ggr, wins, withdrawals } = money
  const may = usePermission()
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }}>
      <Figure
        name={`GGR today (${currency})`}
        to={may("report.ggr") && "/reports/ggr"}
        note={<LastWeek money={money} />}
      >
        <Money amount={ggr} currency={currency} signed />
      </Figure>
      <Figure
        name="Bets today"
        label={`Bets today (${currency})`}
        to={may("round.search") && "/rounds"}
        note={
          <>
            Wins <Money amount={wins} currency={currency} />
          </>
        }
      >
        <Money amount={bets} currency={currency} />
      </Figure>
      <Figure
        name="Deposits today"
        label={`Deposits today (${currency})`}
        to={may("payment.list") && "/payments?type=deposit&status=paid"}
      >
        <Money amount={deposits} currency={currency} />
      </Figure>
      <Figure
        name="Withdrawals paid today"
        label={`Withdrawals paid today (${currency})`}
        to={may("payment.list") && "/payments?type=withdrawal&status=paid"}
      >
        <Money amount={withdrawals} currency={currency} />
      </Figure>
    </SimpleGrid>
  )
}

/** GGR today of each operator beside the others, where there are several: in one currency, or in its own where there is no rate. */
function Operators({ today }: { readonly today: string }) {
  const operators = useOperators()
  const asked = { query: { from: today, to: today } }
  const report = useAnswer("report.operators", asked, { enabled: operators.length > 1, refetchMs: 60_000 }).data?.data
  if (operators.length < 2 || report === undefined) return null
  return (
    <Section heading="GGR today by operator">
      <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }}>
        {report.rows.map(({ bets, currency, ggr, name, operator_id: id, withdrawals }) => (
          <Figure
            key={id}
            name={name}
            label={`GGR today of ${name}`}
            to={`/reports/ggr?operator=${operators.find((one) => one.id === id)?.slug ?? id}&from=${today}&to=${today}`}
            note={
              <>
                Bets <Money amount={bets} currency={currency} />, withdrawals{" "}
                <Money amount={withdrawals} currency={currency} />
              </>
            }
          >
            <Money amount={ggr} currency={currency} signed />
          </Figure>
        ))}
      </SimpleGrid>
    </Section>
  )
}

/** Items that need attention. */
function Attention({ overview }: { readonly overview: Overview }) {
  const may = usePermission()
  const operatorOf = useOperatorOf()
  const { failing_jobs: jobs, failing_providers: providers, failing_webhooks: webhooks, silent_registers } = overview
  const registers = may("register.list") ? silent_registers : []
  const nothing = jobs.length + providers.length + webhooks.length + registers.length === 0
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">Needs attention</Title>
      {nothing && <Text size="sm">Nothing: jobs run, webhooks are delivered, providers are answered.</Text>}
      {webhooks.length > 0 && (
        <Alert color="orange" variant="light" title="Webhooks fail">
          {webhooks.map(({ failed, id, late, since, undelivered, url }) => (
            <Text size="sm" key={id}>
              {may("webhook.list") ? <PageLink to={`/webhooks?webhook=${id}`}>{url}</PageLink> : url}: {failed}{" "}
              of the last 50 failed{late ? ", deliveries are late" : ""}
              {since !== null && (
                <>
                  ; {countText(undelivered)} not delivered since <Instant at={since} seconds={false} />
                </>
              )}
            </Text>
          ))}
        </Alert>
      )}
      {registers.length > 0 && (
        <Alert color="orange" variant="light" title="Registers do not answer">
          {registers.map(({ id, kind, operator_id: operator, since }) => (
            <Text size="sm" key={id}>
              <PageLink to="/registers">{kindNames[kind]}</PageLink> of {operatorOf(operator).name}, since{" "}
              <Instant at={since} seconds={false} />
            </Text>
          ))}
        </Alert>
      )}
      {providers.length > 0 && (
        <Alert color="orange" variant="light" title="Provider errors">
          {providers.map(({ calls, errors, id, name, slug }) => (
            <Text size="sm" key={id}>
              <PageLink to={`/providers/${slug}`}>{name}</PageLink>: {countText(errors)} of {countText(calls)}{" "}
              calls of the last ten minutes
            </Text>
          ))}
        </Alert>
      )}
      {jobs.length > 0 && (
        <Alert color="orange" variant="light" title="Jobs fail or are late">
          {jobs.map(({ failures, last_error: error, late, name }) => (
            <Text size="sm" key={name}>
              <PageLink to="/jobs">{name}</PageLink>: {countText(failures)} failures{late ? ", late" : ""}
              {error === null ? "" : `, ${error}`}
            </Text>
          ))}
        </Alert>
      )}
    </Stack>
  )
}

export default function HomePage() {
  const may = usePermission()
  const isAllowed = may("figures.overview")
  // loaded once, then updated by events. The interval covers a refused or broken stream
  const query = useAnswer("figures.overview", {}, { enabled: isAllowed, refetchMs: 30_000 })
  const overview = query.data?.data
  return (
    <Stack>
      <PageHead heading="Home">
        {overview !== undefined && (
          <Text size="xs" c="dimmed">
            As of <Instant at={overview.at} />
          </Text>
        )}
      </PageHead>
      {overview === undefined
        ? isAllowed && <Waiting query={query} />
        : (
          <>
            {overview.money.length === 0 && <Text size="sm">No money has moved today.</Text>}
            {overview.money.map((money) => <MoneyFigures key={money.currency} money={money} />)}
            <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }}>
              <Figure
                name="Active players today"
                note={`${countText(overview.registrations)} registered today`}
                to={may("player.list") && "/players"}
              >
                <Count of={overview.active_players} />
              </Figure>
              <Figure
                name="Withdrawals waiting"
                to={may("payment.list") && "/payments?status=waiting"}
                note={
                  <Group gap="xs">
                    {overview.pending_withdrawals.amounts.map(({ amount, currency }) => (
                      <Money key={currency} amount={amount} currency={currency} />
                    ))}
                    {overview.pending_withdrawals.count > 0 && may("payment.list") && (
                      <PageLink to="/payments?status=waiting">Open the queue</PageLink>
                    )}
                  </Group>
                }
              >
                <Count of={overview.pending_withdrawals.count} />
                {overview.pending_withdrawals.is_lower_bound ? "+" : ""}
              </Figure>
              <Figure
                name="Open alerts"
                to={may("alert.list") && "/alerts?status=waiting"}
                note={may("alert.list")
                  ? (
                    <>
                      {countText(overview.open_alerts.unassigned)} unassigned ·{" "}
                      <PageLink to="/alerts?status=waiting">Open the list</PageLink>
                    </>
                  )
                  : `${countText(overview.open_alerts.unassigned)} unassigned`}
              >
                <Count of={overview.open_alerts.count} />
                {overview.open_alerts.is_lower_bound ? "+" : ""}
              </Figure>
              {overview.open_cases !== null && (
                <Figure
                  name="Open cases"
                  to="/cases?status=waiting"
                  note={`${countText(overview.open_cases.unassigned)} unassigned`}
                >
                  <Count of={overview.open_cases.count} />
                  {overview.open_cases.is_lower_bound ? "+" : ""}
                </Figure>
              )}
              <Figure
                name="Rounds open for a day"
                to={may("round.search") && "/rounds?state=open"}
                note={`${countText(overview.open_rounds.for_two_days)} for two days`}
              >
                <Count of={overview.open_rounds.for_a_day} />
                {overview.open_rounds.is_lower_bound ? "+" : ""}
              </Figure>
            </SimpleGrid>
            {may("report.operators") && <Operators today={overview.at.slice(0, 10)} />}
            {may("report.series") && <GgrByHour at={overview.at} />}
            <Attention overview={overview} />
          </>
        )}
    </Stack>
  )
}

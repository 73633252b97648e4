/**
 * Gross gaming revenue (GGR) report: all operators in one currency, or one operator by day, month, provider, type and game, as a chart and tables;
 * funds held; bonus costs.
 */
import { Button, Group, Select, Stack, Text, TextInput } from "@mantine/core"
import { lazy, Suspense, useMemo } from "react"
import { isCount, seriesMetrics } from "../../domain/Figures.ts"
import { rangeNamed } from "../../domain/ZonedTime.ts"
import { useAddress } from "../app/address.ts"
import { useTimeZone } from "../app/preferences.tsx"
import { useAnswer } from "../app/queries.ts"
import { useOperators, usePermission } from "../app/session.tsx"
import { Facts } from "../parts/Facts.tsx"
import { operatorOptions } from "../parts/operatorOptions.ts"
import { ExportLinks } from "../parts/ListPage.tsx"
import { PageHead } from "../parts/PageHead.tsx"
import { Waiting } from "../parts/Refusal.tsx"
import { TableSection } from "../parts/Section.tsx"
import { columnsOf, columnsOfList } from "../parts/shown.tsx"
import { Breakdown, ByGame, LocalDays, OverTime, type Range } from "./GgrTables.tsx"
import { asHeading, Count, countText, Instant, instantText, Money, moneyText } from "../parts/Values.tsx"

const Chart = lazy(() => import("../parts/Chart.tsx"))

const dayMs = 86_400_000

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

const metrics: ReadonlyArray<string> = seriesMetrics

/** Metric of the address; GGR when absent or invalid. */
const metricOf = (text: string | undefined) => seriesMetrics.find((metric) => metric === text) ?? "ggr"

function Line({ currency, range }: { readonly range: Range; readonly currency: string }) {
  const [search, setSearch] = useAddress()
  const [timeZone] = useTimeZone()
  const metric = metricOf(search["metric"])
  const step = Date.parse(range.to) - Date.parse(range.from) < 7 * dayMs ? "hour" : "day"
  const query = useAnswer("report.series", { query: { ...range, metric, step } })
  const format = useMemo(
    () => isCount(metric) ? countText : (value: number) => moneyText(value, currency),
    [currency, metric]
  )
  const points = useMemo(
    () => (query.data?.data.points ?? []).flatMap(({ at, value }) => value === null ? [] : [{ at, value }]),
    [query.data]
  )
  return (
    <Stack gap="xs">
      <Select
        size="xs"
        w={200}
        label="Figure"
        data={metrics.map((value) => ({ value, label: asHeading(value) }))}
        value={metric}
        allowDeselect={false}
        onChange={(chosen) => setSearch({ metric: chosen ?? undefined })}
      />
      {query.data === undefined
        ? <Waiting query={query} />
        : points.length === 0
        ? <Text size="sm">No figures in this range.</Text>
        : (
          <Suspense fallback={<Text size="sm">Loading …</Text>}>
            <Chart
              label={`${asHeading(metric)} by ${step}, ${range.from} to ${range.to}`}
              unit={asHeading(metric)}
              points={points}
              format={format}
              timeZone={timeZone}
            />
          </Suspense>
        )}
    </Stack>
  )
}

const heldColumns = columnsOf("report.funds", "currency", "wallet", "amount", "players")

const costColumns = columnsOf(
  "report.bonuses",
  ["name", { label: "Bonus" }],
  "type",
  "granted",
  "granted_amount",
  "converted",
  "forfeited",
  "liability",
  "running",
  ["liability_at", {
    label: "Running and liability as of",
    cell: ({ liability_at: at, running }) =>
      at !== null
        ? <Instant at={at} seconds={false} isBrief />
        : running === null
        ? "Not read yet: it is every five minutes"
        : ""
  }]
)

function Summary({ currency, range }: { readonly range: Range; readonly currency: string }) {
  const query = useAnswer("report.ggr", { query: range })
  const report = query.data?.data
  if (report === undefined) return <Waiting query={query} />
  const { bonus_conversions: converted, casino, net_gaming_revenue: net, payments, players, unconverted } = report
  const money = (amount: number) => <Money amount={amount} currency={currency} />
  return (
    <Stack gap="xs">
      <Facts
        columns={5}
        facts={[
          ["GGR", <Money key="ggr" amount={casino.ggr} currency={currency} signed />],
          ["Bets", money(casino.bets)],
          ["Wins", money(casino.wins)],
          ["Bonus conversions", money(converted)],
          ["Net gaming revenue", <Money key="net" amount={net} currency={currency} signed />],
          ["Rounds", <Count key="rounds" of={casino.rounds} />],
          ["Players who played", <Count key="players" of={casino.players} />],
          ["Deposits", money(payments.deposits)],
          ["Withdrawals", money(payments.withdrawals)],
          ["Registered", <Count key="registered" of={players.registered} />]
        ]}
      />
      {unconverted.length > 0 && (
        <Text size="sm">
          Without an exchange rate, and in no figure above: {unconverted.map(({ currency: own }) => own).join(", ")}.
        </Text>
      )}
    </Stack>
  )
}

function FundsHeld({ operator }: { readonly operator: string }) {
  const [timeZone] = useTimeZone()
  const query = useAnswer("report.funds", { query: { operator } })
  const at = query.data?.data[0]?.at
  return (
    <TableSection
      heading={at === undefined
        ? "Funds held for players now"
        : `Funds held for players now, ${instantText(at, timeZone)}`}
      query={query}
      columns={heldColumns}
      rows={query.data?.data}
      rowKey={({ currency, wallet }) => `${currency} ${wallet}`}
      empty="Players hold nothing, or nothing was read yet: it is every fifteen minutes."
    />
  )
}

function Costs({ range }: { readonly range: Range }) {
  const query = useAnswer("report.bonuses", { query: range })
  return (
    <TableSection
      heading="Cost of bonuses"
      query={query}
      columns={costColumns}
      rows={query.data?.data}
      rowKey={({ bonus_id: id, currency }) => `${id} ${currency}`}
      empty="No bonus was granted."
    />
  )
}

const operatorColumns = (range: Range, slugOf: (id: number) => string) =>
  columnsOfList(
    "report.operators",
    "rows",
    ["name", {
      label: "Operator",
      to: ({ operator_id: id }) => `/reports/ggr?operator=${slugOf(id)}&from=${range.from}&to=${range.to}`
    }],
    "bets",
    "wins",
    ["ggr", { signed: true }],
    ["bonus_conversions", { label: "Bonus conversions" }],
    ["net_gaming_revenue", { label: "Net gaming revenue", signed: true }],
    "deposits",
    "withdrawals",
    "rounds",
    ["rate", { label: "Rate", cell: ({ in_total: isIn, rate }) => isIn ? rate ?? "–" : "no rate" }]
  )

/** All operators in one currency. */
function AllOperators({ range }: { readonly range: Range }) {
  const [search, setSearch] = useAddress()
  const operators = useOperators()
  const { from, to } = range
  const asked = { from, to, ...(search["currency"] === undefined ? {} : { currency: search["currency"] }) }
  const query = useAnswer("report.operators", { query: asked })
  const columns = useMemo(
    () =>
      operatorColumns({ operator: "", from, to }, (id) => operators.find((one) => one.id === id)?.slug ?? String(id)),
    [from, operators, to]
  )
  const report = query.data?.data
  if (report === undefined) return <Waiting query={query} />
  const { rows, total, total_currency: currency, unconverted } = report
  const others = rows.filter(({ in_total: isIn }) => !isIn)
  const money = (amount: number, signed = false) => <Money amount={amount} currency={currency} signed={signed} />
  return (
    <>
      <Select
        size="xs"
        w={200}
        label="Currency of all amounts"
        data={[...new Set([currency, ...operators.map((one) => one.currency)])].sort()}
        value={currency}
        allowDeselect={false}
        onChange={(chosen) => setSearch({ currency: chosen ?? undefined })}
      />
      <Facts
        columns={4}
        facts={[
          ["GGR of all", money(total.ggr, true)],
          ["Net gaming revenue", money(total.net_gaming_revenue, true)],
          ["Bets", money(total.bets)],
          ["Wins", money(total.wins)],
          ["Bonus conversions", money(total.bonus_conversions)],
          ["Deposits", money(total.deposits)],
          ["Withdrawals", money(total.withdrawals)],
          ["Rounds", <Count key="rounds" of={total.rounds} />]
        ]}
      />
      {others.length > 0 && (
        <Text size="sm">
          In no total, because there is no rate to {currency}:{" "}
          {others.map(({ name }) => name).join(", ")}. An admin or compliance officer sets one by rate set.
        </Text>
      )}
      {unconverted.length > 0 && (
        <Text size="sm">Without an exchange rate when it was played, and in no figure: {unconverted.join(", ")}.</Text>
      )}
      <TableSection
        heading="By operator"
        actions={<ExportLinks action="report.operators" query={asked} of="by operator" size="compact-sm" />}
        query={query}
        columns={columns}
        rows={rows}
        rowKey={({ operator_id: id }) => id}
        empty="No operator yet. Reports begin with the first one."
      />
    </>
  )
}

/** Ranges at one click, in days of UTC. */
const shortcuts = ["yesterday", "last_week", "this_month", "last_month"] as const

export default function GgrPage() {
  const [search, setSearch] = useAddress()
  const operators = useOperators()
  const may = usePermission()
  const today = Date.now()
  const named = operators.find(({ slug }) => slug === search["operator"])
  const chosen = named ?? (operators.length > 1 && may("report.operators") ? undefined : operators[0])
  const range = useMemo(() => ({
    operator: chosen?.slug ?? "",
    from: search["from"] ?? dayOf(today - 29 * dayMs),
    to: search["to"] ?? dayOf(today)
    // days, not milliseconds
  }), [chosen, search, dayOf(today)])
  return (
    <Stack>
      <PageHead heading="GGR report" />
      <Group align="flex-end" gap="xs" component="form" role="search" aria-label="Range of the report">
        {operators.length > 1 && (
          <Select
            size="xs"
            label="Operator"
            placeholder="All operators"
            clearable
            data={operatorOptions(operators)}
            value={range.operator === "" ? null : range.operator}
            onChange={(operator) => setSearch({ operator: operator ?? undefined })}
          />
        )}
        {(["from", "to"] as const).map((name) => (
          <TextInput
            key={name}
            size="xs"
            type="date"
            label={name === "from" ? "First day (UTC)" : "Last day (UTC)"}
            value={range[name]}
            onChange={({ currentTarget: { value } }) => setSearch({ [name]: value })}
          />
        ))}
        {shortcuts.map((name) => (
          <Button
            key={name}
            size="xs"
            variant="default"
            onClick={() => {
              const { from, to } = rangeNamed(name, Date.now(), "UTC")
              setSearch({ from: dayOf(from), to: dayOf(Math.min(to, Date.now())) })
            }}
          >
            {asHeading(name)}
          </Button>
        ))}
        {chosen !== undefined && may("report.sections") && (
          <Group gap="xs">
            <Text size="xs" fw={600}>Everything</Text>
            <ExportLinks action="report.sections" query={range} of="everything" />
          </Group>
        )}
      </Group>
      {chosen === undefined
        ? operators.length === 0
          ? <Text size="sm">No operator yet. Reports begin with the first one.</Text>
          : <AllOperators range={range} />
        : (
          <>
            <Summary range={range} currency={chosen.currency} />
            {may("report.series") && <Line range={range} currency={chosen.currency} />}
            {may("report.breakdown") && <OverTime range={range} currency={chosen.currency} />}
            {may("report.local_days") && chosen.report_offset_hours !== 0 && (
              <LocalDays range={range} currency={chosen.currency} hours={chosen.report_offset_hours} />
            )}
            {may("report.breakdown") && <Breakdown by="type" range={range} currency={chosen.currency} />}
            {may("report.breakdown") && <Breakdown by="provider" range={range} currency={chosen.currency} />}
            {may("report.breakdown") && <ByGame range={range} currency={chosen.currency} />}
            {may("report.funds") && <FundsHeld operator={range.operator} />}
            {may("report.bonuses") && <Costs range={range} />}
          </>
        )}
    </Stack>
  )
}

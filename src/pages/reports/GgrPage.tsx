/** GGR report: by day, provider and game type, as a chart and as tables; funds held; cost of bonuses. */
import { Group, Select, Stack, Text, TextInput } from "@mantine/core"
import { lazy, Suspense, useMemo } from "react"
import { isCount, seriesMetrics } from "../../domain/Figures.ts"
import { useAddress } from "../app/address.ts"
import { useTimeZone } from "../app/preferences.tsx"
import { useAnswer } from "../app/queries.ts"
import { useOperators, usePermission } from "../app/session.tsx"
import { Facts } from "../parts/Facts.tsx"
import { operatorOptions } from "../parts/Fields.tsx"
import { ExportLinks, PageHead } from "../parts/ListPage.tsx"
import { Waiting } from "../parts/Refusal.tsx"
import { TableSection } from "../parts/Section.tsx"
import { columnsOf, columnsOfList } from "../parts/shown.tsx"
import { asHeading, Instant, Money, moneyText } from "../parts/Values.tsx"

const Chart = lazy(() => import("../parts/Chart.tsx"))

const dayMs = 86_400_000

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

interface Range {
  readonly operator: string
  readonly from: string
  readonly to: string
}

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
    () => isCount(metric) ? (value: number) => String(value) : (value: number) => moneyText(value, currency),
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

const breakdownColumns = (by: "day" | "provider", currency: string) =>
  columnsOfList(
    "report.breakdown",
    "rows",
    ["name", { label: asHeading(by) }],
    ["bets", { currency }],
    ["wins", { currency }],
    ["ggr", { currency, signed: true }],
    ["bonus_bets", { currency }],
    ...(by === "day" ? [["deposits", { currency }], ["withdrawals", { currency }]] as const : []),
    "rounds"
  )

function Breakdown(
  { by, currency, range }: { readonly by: "day" | "provider"; readonly range: Range; readonly currency: string }
) {
  const query = useAnswer("report.breakdown", { query: { ...range, by } })
  const heading = by === "day" ? "By day" : "By provider"
  const columns = useMemo(() => breakdownColumns(by, currency), [by, currency])
  return (
    <TableSection
      heading={heading}
      actions={
        <ExportLinks action="report.breakdown" query={{ ...range, by }} of={heading.toLowerCase()} size="compact-xs" />
      }
      query={query}
      columns={columns}
      rows={query.data?.data.rows}
      rowKey={({ key }) => key}
      empty="Nothing was played in this range."
    />
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
      at !== null ? <Instant at={at} /> : running === null ? "Not read yet: it is every five minutes" : ""
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
          ["Rounds", casino.rounds],
          ["Players who played", casino.players],
          ["Deposits", money(payments.deposits)],
          ["Withdrawals", money(payments.withdrawals)],
          ["Registered", players.registered]
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
  const query = useAnswer("report.funds", { query: { operator } })
  return (
    <TableSection
      heading="Funds held for players"
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

export default function GgrPage() {
  const [search, setSearch] = useAddress()
  const operators = useOperators()
  const may = usePermission()
  const today = Date.now()
  const chosen = operators.find(({ slug }) => slug === search["operator"]) ?? operators[0]
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
            data={operatorOptions(operators)}
            value={range.operator}
            allowDeselect={false}
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
      </Group>
      {chosen === undefined
        ? <Text size="sm">No operator yet. Reports begin with the first one.</Text>
        : (
          <>
            <Summary range={range} currency={chosen.currency} />
            {may("report.series") && <Line range={range} currency={chosen.currency} />}
            {may("report.breakdown") && <Breakdown by="day" range={range} currency={chosen.currency} />}
            {may("report.breakdown") && <Breakdown by="provider" range={range} currency={chosen.currency} />}
            {may("report.funds") && <FundsHeld operator={range.operator} />}
            {may("report.bonuses") && <Costs range={range} />}
          </>
        )}
    </Stack>
  )
}

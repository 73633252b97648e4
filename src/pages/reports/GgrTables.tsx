/** Tables of an operator's gross gaming revenue (GGR) by UTC day or month, by day of its own time zone, and by provider, type and game. */
import { Button } from "@mantine/core"
import { useMemo, useState } from "react"
import { useAddress } from "../app/address.ts"
import { useAnswer } from "../app/queries.ts"
import { ExportLinks } from "../parts/ListPage.tsx"
import { TableSection } from "../parts/Section.tsx"
import { columnsOfList } from "../parts/shown.tsx"
import { asHeading, Instant } from "../parts/Values.tsx"

/** Operator and days of the report, as its query. */
export interface Range {
  readonly operator: string
  readonly from: string
  readonly to: string
}

type Group = "day" | "month" | "provider" | "type" | "game"

const isOfDays = (by: Group): boolean => by === "day" || by === "month"

const breakdownColumns = (by: Group, currency: string) =>
  columnsOfList(
    "report.breakdown",
    "rows",
    ["name", { label: asHeading(by) }],
    ...(by === "game" ? ["provider"] as const : []),
    ["bets", { currency }],
    ["wins", { currency }],
    ["ggr", { currency, signed: true }],
    ["bonus_bets", { currency }],
    ...(isOfDays(by) ? [["deposits", { currency }], ["withdrawals", { currency }]] as const : []),
    "rounds"
  )

export function Breakdown(
  { actions, by, currency, range }: {
    readonly by: Group
    readonly range: Range
    readonly currency: string
    readonly actions?: React.ReactNode
  }
) {
  const query = useAnswer("report.breakdown", { query: { ...range, by } })
  const heading = `By ${by === "type" ? "type of game" : by}`
  const columns = useMemo(() => breakdownColumns(by, currency), [by, currency])
  return (
    <TableSection
      heading={heading}
      actions={
        <>
          {actions}
          <ExportLinks
            action="report.breakdown"
            query={{ ...range, by }}
            of={heading.toLowerCase()}
            size="compact-sm"
          />
        </>
      }
      query={query}
      columns={columns}
      rows={query.data?.data.rows}
      rowKey={({ key }) => key}
      empty="Nothing was played in this range."
    />
  )
}

/** Rows that are shown of games at first. */
const gamesAtFirst = 20

/** By game, as a job has added it up. */
export function ByGame({ currency, range }: { readonly range: Range; readonly currency: string }) {
  const asked = { ...range, by: "game" } as const
  const query = useAnswer("report.breakdown", { query: asked })
  const [isWhole, setWhole] = useState(false)
  const columns = useMemo(() => breakdownColumns("game", currency), [currency])
  const report = query.data?.data
  const hidden = isWhole ? 0 : (report?.rows.length ?? 0) - gamesAtFirst
  return (
    <TableSection
      heading="By game"
      note={report !== undefined && report.as_of !== null && (
        <>
          What was played before <Instant at={report.as_of} seconds={false} />; added up every five minutes.
          {hidden > 0 ? ` The ${gamesAtFirst} games with the most bets:` : ""}
        </>
      )}
      actions={
        <>
          {hidden > 0 && (
            <Button size="compact-sm" variant="default" onClick={() => setWhole(true)}>
              {`Show ${hidden} more games`}
            </Button>
          )}
          <ExportLinks action="report.breakdown" query={asked} of="by game" size="compact-sm" />
        </>
      }
      query={query}
      columns={columns}
      rows={isWhole ? report?.rows : report?.rows.slice(0, gamesAtFirst)}
      rowKey={({ key }) => key}
      empty="Nothing was played in this range, or it was not added up yet: it is every five minutes."
    />
  )
}

/** `UTC+2` */
const zoneName = (hours: number): string => `UTC${hours < 0 ? "−" : "+"}${Math.abs(hours)}`

const localColumns = (currency: string) =>
  columnsOfList(
    "report.local_days",
    "rows",
    "day",
    ["bets", { currency }],
    ["wins", { currency }],
    ["ggr", { currency, signed: true }],
    ["bonus_conversions", { label: "Bonus conversions", currency }],
    ["net_gaming_revenue", { label: "Net gaming revenue", currency, signed: true }],
    ["deposits", { currency }],
    ["withdrawals", { currency }],
    "rounds"
  )

/** By day of the operator's own zone. */
export function LocalDays({ currency, hours, range }: {
  readonly range: Range
  readonly currency: string
  readonly hours: number
}) {
  const query = useAnswer("report.local_days", { query: range })
  const columns = useMemo(() => localColumns(currency), [currency])
  const rows = query.data?.data.rows
  // a day begins at its midnight, unless that hour was not read
  const moved = rows?.filter(({ day, from }) => Date.parse(from) !== Date.parse(day) - hours * 3_600_000) ?? []
  const zone = zoneName(hours)
  return (
    <TableSection
      heading={`Days in ${zone}`}
      note={
        <>
          Days from midnight to midnight in{" "}
          {zone}, of the last forty, as they are read at full hours. All else on this page goes by days of UTC.
          {moved.map(({ day, from }) => (
            <span key={day}>
              {" "}
              {day} begins at <Instant at={from} seconds={false} />, the last hour that was read before.
            </span>
          ))}
        </>
      }
      actions={<ExportLinks action="report.local_days" query={range} of={`days in ${zone}`} size="compact-sm" />}
      query={query}
      columns={columns}
      rows={rows}
      rowKey={({ day }) => day}
      empty={`No day of this range is among the last forty in ${zone}.`}
    />
  )
}

/** By day, or by month at a click. */
export function OverTime({ currency, range }: { readonly range: Range; readonly currency: string }) {
  const [search, setSearch] = useAddress()
  const by = search["by"] === "month" ? "month" : "day"
  return (
    <Breakdown
      by={by}
      range={range}
      currency={currency}
      actions={
        <Button.Group aria-label="Rows">
          {(["day", "month"] as const).map((row) => (
            <Button
              key={row}
              size="xs"
              variant={row === by ? "light" : "default"}
              aria-pressed={row === by}
              onClick={() => setSearch({ by: row === "month" ? row : undefined })}
            >
              {row === "month" ? "Months" : "Days"}
            </Button>
          ))}
        </Button.Group>
      }
    />
  )
}

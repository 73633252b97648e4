/** Reconciliation of a day with a vendor: records on one side only, and differences. */
import { Button, Group, Stack, Text, TextInput, Title } from "@mantine/core"
import { useState } from "react"
import type { Data } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { type Column, DataTable } from "../parts/DataTable.tsx"
import { Facts } from "../parts/Facts.tsx"
import { Waiting } from "../parts/Refusal.tsx"
import { Clip, countText, Money, PageLink, words } from "../parts/Values.tsx"

type Report = Data<"provider.reconcile">
type Difference = Report["different"][number]
type NotUnderstood = Report["not_understood"][number]
type Compared = Exclude<Difference["here"], undefined>

function Side({ of: line }: { readonly of: Compared | undefined }) {
  if (line === undefined) return <>–</>
  const { amount, currency, kind, win } = line
  return (
    <>
      {kind ?? "bets"} <Money amount={amount} currency={currency} />
      {win !== undefined && (
        <>
          , wins <Money amount={win} currency={currency} />
        </>
      )}
    </>
  )
}

const columns: ReadonlyArray<Column<Difference>> = [
  { id: "id", header: "Transaction or round", cell: ({ id }) => <Clip width={280}>{id}</Clip> },
  {
    id: "player",
    header: "Player",
    cell: ({ here, vendor }) => {
      const id = here?.player_id ?? vendor?.player_id ?? null
      return id === null ? "–" : <PageLink to={`/players/${id}`}>{String(id)}</PageLink>
    }
  },
  { id: "here", header: "Here", align: "right", cell: ({ here }) => <Side of={here} /> },
  { id: "vendor", header: "The vendor's", align: "right", cell: ({ vendor }) => <Side of={vendor} /> }
]

function Differences(
  { heading, rows, total }: {
    readonly heading: string
    readonly rows: ReadonlyArray<Difference>
    readonly total: number
  }
) {
  return total > 0 && (
    <Stack gap="xs">
      <Title order={3} size="h5">{heading} ({countText(total)})</Title>
      <DataTable label={heading} columns={columns} rows={rows} rowKey={({ id }) => id} />
      {rows.length < total && <Text size="sm">The first {countText(rows.length)} of {countText(total)}.</Text>}
    </Stack>
  )
}

const leftColumns: ReadonlyArray<Column<NotUnderstood>> = [
  { id: "id", header: "Transaction or round", cell: ({ id }) => <Clip width={280}>{id ?? "–"}</Clip> },
  { id: "reason", header: "Reason", cell: ({ reason }) => reason },
  { id: "here", header: "Here", align: "right", cell: ({ here }) => <Side of={here} /> }
]

/** Kinds of lines with their counts. */
const counted = (lines: Report["lines"]["here"]): string =>
  Object.entries(lines).map(([kind, count]) => `${countText(count)} ${words(kind)}`).join(", ") || "none"

function Compared({ report }: { readonly report: Report }) {
  const { date, different, lines, matched, not_understood: left, only_here: onlyHere, only_vendor: onlyVendor } = report
  const { totals } = report
  return (
    <Stack gap="sm" role="status" aria-label={`Comparison of ${date}`}>
      <Facts
        facts={[
          ["Day", date],
          ["Compared by", report.by],
          ["The same on both sides", countText(matched)],
          ["Lines of the vendor", counted(lines.vendor)],
          ["Lines here", counted(lines.here)]
        ]}
      />
      {report.is_clean && <Text size="sm">Each line of both sides was understood, and is the same.</Text>}
      {totals.not_understood > 0 && (
        <Stack gap="xs">
          <Title order={3} size="h5">Not understood ({countText(totals.not_understood)})</Title>
          <DataTable
            label="Not understood"
            columns={leftColumns}
            rows={left}
            rowKey={({ id, reason }) => `${id ?? ""} ${reason}`}
          />
          {left.length < totals.not_understood && (
            <Text size="sm">The first {countText(left.length)} of {countText(totals.not_understood)}.</Text>
          )}
        </Stack>
      )}
      <Differences heading="Only the vendor's" rows={onlyVendor} total={totals.only_vendor} />
      <Differences heading="Only here" rows={onlyHere} total={totals.only_here} />
      <Differences heading="Different" rows={different} total={totals.different} />
    </Stack>
  )
}

function Day({ date, provider }: { readonly provider: string; readonly date: string }) {
  const query = useAnswer("provider.reconcile", { params: { provider }, query: { date } })
  return query.data === undefined || query.data.data.date !== date
    ? <Waiting query={query} />
    : <Compared report={query.data.data} />
}

/** Requests the reconciliation of a day (UTC). */
export function Reconciliation({ provider }: { readonly provider: string }) {
  const [typed, type] = useState("")
  const [date, setDate] = useState<string>()
  return (
    <Stack gap="sm">
      <Title order={2} size="h4">Reconciliation</Title>
      <Group
        component="form"
        align="flex-end"
        gap="xs"
        aria-label="Reconciliation"
        onSubmit={(event: React.FormEvent) => {
          event.preventDefault()
          setDate(typed === "" ? undefined : typed)
        }}
      >
        <TextInput
          size="xs"
          type="date"
          w={160}
          label="Day (UTC)"
          value={typed}
          onChange={({ currentTarget: { value } }) => type(value)}
        />
        <Button size="xs" type="submit" variant="default" disabled={typed === ""}>Compare</Button>
      </Group>
      {date === undefined
        ? <Text size="sm">Asks the vendor what it has of a day that is over, and compares it with the ledger.</Text>
        : <Day provider={provider} date={date} />}
    </Stack>
  )
}

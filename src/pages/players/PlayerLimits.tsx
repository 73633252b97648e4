/** A player's limits and their usage. Staff set a limit at the player's request. */
import { Progress, Stack, Text } from "@mantine/core"
import { type LimitField, limitFields } from "../../domain/LimitFields.ts"
import type { Data } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { type Column, DataTable } from "../parts/DataTable.tsx"
import { buttonColumn } from "../parts/columns.tsx"
import { Waiting } from "../parts/Refusal.tsx"
import { asHeading, Instant, Money } from "../parts/Values.tsx"
import { limitName, SetLimit } from "./PlayerProtection.tsx"
import type { Player } from "./player.ts"

interface Line {
  readonly field: LimitField
  readonly value: number | null
  readonly used: number
  readonly remaining: number | null
  readonly resetsAt: string | null
  readonly pending: Data<"player.limits">["pending_changes"][number] | undefined
}

const linesOf = ({ limits, pending_changes: pending, usage }: Data<"player.limits">): ReadonlyArray<Line> =>
  limitFields.map((field) => ({
    field,
    value: limits[field],
    used: usage[field].used,
    remaining: usage[field].remaining,
    resetsAt: usage[field].resets_at,
    pending: pending.find((change) => change.field === field)
  }))

/** Session minutes, or an amount. */
function Value({ currency, field, value }: {
  readonly field: LimitField
  readonly value: number | null
  readonly currency: string
}) {
  if (value === null) return <>no limit</>
  return field === "max_session_minutes" ? <>{value} min</> : <Money amount={value} currency={currency} />
}

function Used({ currency, line }: { readonly line: Line; readonly currency: string }) {
  const { field, used, value } = line
  const percent = value === null ? 0 : value === 0 ? 100 : Math.round(Math.max(0, used) / value * 100)
  return (
    <Stack gap={2}>
      <span>
        <Value field={field} value={used} currency={currency} />
        {value !== null && ` (${percent} %)`}
      </span>
      {value !== null && (
        <Progress value={Math.min(100, percent)} size="sm" aria-label={`Used of ${asHeading(field)}: ${percent} %`} />
      )}
    </Stack>
  )
}

export function PlayerLimits({ player }: { readonly player: Player }) {
  const query = useAnswer("player.limits", { params: { player: player.id } })
  const limits = query.data?.data
  if (limits === undefined) return <Waiting query={query} />
  const { currency } = limits
  const columns: ReadonlyArray<Column<Line>> = [
    { id: "limit", header: "Limit", cell: ({ field }) => limitName(field) },
    {
      id: "value",
      header: "Value",
      align: "right",
      cell: ({ field, value }) => <Value field={field} value={value} currency={currency} />
    },
    { id: "used", header: "Used", cell: (line) => <Used line={line} currency={currency} /> },
    {
      id: "left",
      header: "Left",
      align: "right",
      cell: ({ field, remaining }) =>
        remaining === null ? "–" : <Value field={field} value={remaining} currency={currency} />
    },
    { id: "resets", header: "Resets", cell: ({ resetsAt }) => <Instant at={resetsAt} seconds={false} isBrief /> },
    {
      id: "pending",
      header: "Will change",
      cell: ({ field, pending }) =>
        pending === undefined ? "–" : (
          <>
            to <Value field={field} value={pending.requested_value} currency={currency} />,{" "}
            <Instant at={pending.effective_at} seconds={false} isBrief />
            {pending.confirm_until !== undefined && ", once the player confirms it"}
          </>
        )
    },
    buttonColumn(({ field }) => <SetLimit player={player} field={field} />)
  ]
  const lines = linesOf(limits)
  const isSet = ({ pending, value }: Line) => value !== null || pending !== undefined
  return (
    <Stack>
      {!lines.some(isSet) && <Text size="sm">The player has set no limit. What counts towards each is shown.</Text>}
      <DataTable
        label="Limits"
        columns={columns}
        rows={[...lines.filter(isSet), ...lines.filter((line) => !isSet(line))]}
        rowKey={({ field }) => field}
      />
    </Stack>
  )
}

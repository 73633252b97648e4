/** Changes made by a version of a jurisdiction profile, side by side. */
import { differenceInWords } from "../../domain/jurisdiction/ProfileText.ts"
import type { Data } from "../app/api.ts"
import { type Column, DataTable } from "../parts/DataTable.tsx"
import { moneyText, Status } from "../parts/Values.tsx"

type Difference = Data<"profile.show">["differences"][number]

interface Row {
  readonly path: string
  readonly effect: Difference["effect"]
  readonly label: string
  readonly before: string | undefined
  readonly after: string | undefined
}

const columns: ReadonlyArray<Column<Row>> = [
  { id: "rule", header: "Rule", cell: ({ label }) => label },
  { id: "before", header: "Before", cell: ({ before }) => <div className="whole-text">{before ?? "no rule"}</div> },
  { id: "after", header: "After", cell: ({ after }) => <div className="whole-text">{after ?? "no rule"}</div> },
  { id: "effect", header: "For players", cell: ({ effect }) => <Status of={effect} /> }
]

export function Differences({ currency, differences }: {
  readonly currency: string
  readonly differences: ReadonlyArray<Difference>
}) {
  const rows = differences.map((difference): Row => ({
    path: difference.path,
    effect: difference.effect,
    ...differenceInWords(difference, (amount) => moneyText(amount, currency))
  }))
  return <DataTable label="Differences" columns={columns} rows={rows} rowKey={({ path }) => path} />
}

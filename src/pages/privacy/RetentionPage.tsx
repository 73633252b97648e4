/** Personal data: what is due for erasure, what is kept and until when, and data subject requests. */
import { Stack } from "@mantine/core"
import { useAnswer } from "../app/queries.ts"
import { usePermission } from "../app/session.tsx"
import { PageHead } from "../parts/PageHead.tsx"
import { TableSection } from "../parts/Section.tsx"
import { columnsOfList } from "../parts/shown.tsx"
import { Clip, words } from "../parts/Values.tsx"
import { Requests } from "./Requests.tsx"

const columns = columnsOfList(
  "data.retention",
  "classes",
  ["class", { label: "Data", cell: ({ class: name }) => words(name) }],
  ["due", { label: "Due, players" }],
  ["kept", { label: "Kept, players" }],
  ["next_at", { label: "Next due" }],
  ["columns", { label: "Where", cell: ({ columns }) => <Clip width={420}>{columns.join(", ")}</Clip> }]
)

function Classes() {
  const query = useAnswer("data.retention", {})
  const found = query.data?.data
  return (
    <TableSection
      heading="By class"
      note={found?.is_complete === false
        ? `Of the first ${found.examined} players under a profile with periods.`
        : "Players under a profile with periods. What is due is erased in the coming night."}
      query={query}
      columns={columns}
      rows={found?.classes}
      rowKey={({ class: name }) => name}
    />
  )
}

export default function RetentionPage() {
  const may = usePermission()
  return (
    <Stack>
      <PageHead heading="Retention" />
      <Classes />
      {may("data.requests") && <Requests />}
    </Stack>
  )
}

/** The audit log: who did what, with what it was before and after. */
import { Button, Modal, Stack, Text } from "@mantine/core"
import { useState } from "react"
import type { Row } from "../app/api.ts"
import { useOperatorOf } from "../app/session.tsx"
import { Changes } from "../parts/Changes.tsx"
import type { Column } from "../parts/DataTable.tsx"
import { Facts } from "../parts/Facts.tsx"
import { type Filter, ListPage } from "../parts/ListPage.tsx"
import { Cut, Instant, PageLink } from "../parts/Values.tsx"

type Line = Row<"audit.list">

const filters: ReadonlyArray<Filter> = [
  { name: "action", label: "Action", kind: "text", width: 180 },
  { name: "staff", label: "Staff id", kind: "text", width: 100 },
  { name: "player", label: "Player id", kind: "text", width: 120 },
  { name: "operator", label: "Operator", kind: "operator" },
  { name: "from", label: "From", kind: "date", width: 140 },
  { name: "to", label: "Before", kind: "date", width: 140 }
]

export default function AuditPage() {
  const [shown, show] = useState<Line>()
  const operatorOf = useOperatorOf()
  const columns: ReadonlyArray<Column<Line>> = [
    { id: "at", header: "At", cell: ({ at }) => <Instant at={at} /> },
    { id: "actor", header: "Actor", cell: ({ actor }) => actor },
    { id: "action", header: "Action", cell: ({ action }) => action },
    { id: "subject", header: "Subject", cell: ({ subject }) => <Cut width={200}>{subject}</Cut> },
    {
      id: "player",
      header: "Player",
      cell: ({ player_id: id }) => id === null ? "–" : <PageLink to={`/players/${id}`}>{String(id)}</PageLink>
    },
    {
      id: "operator",
      header: "Operator",
      cell: ({ operator_id: id }) => id === null ? "–" : operatorOf(id).name
    },
    { id: "reason", header: "Reason", cell: ({ reason }) => reason === null ? "–" : <Cut width={200}>{reason}</Cut> },
    {
      id: "changes",
      header: "",
      cell: (line) => (
        <Button
          size="compact-xs"
          variant="default"
          aria-label={`Before and after of line ${line.id}`}
          onClick={() => show(line)}
        >
          Before and after
        </Button>
      )
    }
  ]
  return (
    <>
      <ListPage
        heading="Audit log"
        action="audit.list"
        paging="walk"
        filters={filters}
        columns={columns}
        empty="Nothing yet. Every change that staff make, and every reading of personal data, leaves a line here."
      />
      <Modal
        opened={shown !== undefined}
        onClose={() => show(undefined)}
        size="xl"
        title={shown?.action ?? ""}
        closeButtonProps={{ "aria-label": "Close" }}
      >
        {shown !== undefined && (
          <Stack>
            <Facts
              facts={[["At", <Instant key="at" at={shown.at} />], ["Actor", shown.actor], ["Subject", shown.subject]]}
            />
            {shown.reason !== null && <Text size="sm">{shown.reason}</Text>}
            <Changes before={shown.before} after={shown.after} />
          </Stack>
        )}
      </Modal>
    </>
  )
}

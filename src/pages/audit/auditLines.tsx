/** Audit log lines as a table, with a dialog of a line's changes. */
import { Modal, Stack, Text } from "@mantine/core"
import { useState } from "react"
import type { Row } from "../app/api.ts"
import { useOperatorOf } from "../app/session.tsx"
import { Changes } from "../parts/Changes.tsx"
import type { Column } from "../parts/DataTable.tsx"
import { Facts } from "../parts/Facts.tsx"
import { RowButton } from "../parts/RowMenu.tsx"
import { Clip, Instant, PageLink } from "../parts/Values.tsx"

type Line = Row<"audit.list">

function Details({ close, line }: { readonly line: Line | undefined; readonly close: () => void }) {
  return (
    <Modal opened={line !== undefined} onClose={close} size="xl" title={line?.action ?? ""}>
      {line !== undefined && (
        <Stack>
          <Facts
            facts={[["At", <Instant key="at" at={line.at} />], ["Actor", line.actor], ["Subject", line.subject]]}
          />
          {line.reason !== null && <Text size="sm">{line.reason}</Text>}
          <Changes before={line.before} after={line.after} />
        </Stack>
      )}
    </Modal>
  )
}

/** Columns of audit log lines, and the dialog. `ofPlayer`: all lines are of one player. */
export const useAuditLines = (
  { ofPlayer }: { readonly ofPlayer: boolean }
): { readonly columns: ReadonlyArray<Column<Line>>; readonly details: React.ReactNode } => {
  const [shown, show] = useState<Line>()
  const operatorOf = useOperatorOf()
  const whose: ReadonlyArray<Column<Line>> = [
    {
      id: "player",
      header: "Player",
      cell: ({ player_id: id }) => id === null ? "–" : <PageLink to={`/players/${id}`}>{String(id)}</PageLink>
    },
    {
      id: "operator",
      header: "Operator",
      cell: ({ operator_id: id }) => id === null ? "–" : <Clip width={90}>{operatorOf(id).name}</Clip>
    }
  ]
  return {
    details: <Details line={shown} close={() => show(undefined)} />,
    columns: [
      { id: "at", header: "At", cell: ({ at }) => <Instant at={at} /> },
      { id: "actor", header: "Actor", cell: ({ actor }) => <Clip width={110}>{actor}</Clip> },
      { id: "action", header: "Action", cell: ({ action }) => <Clip width={150}>{action}</Clip> },
      { id: "subject", header: "Subject", cell: ({ subject }) => <Clip width={120}>{subject}</Clip> },
      ...(ofPlayer ? [] : whose),
      {
        id: "reason",
        header: "Reason",
        cell: ({ reason }) => reason === null ? "–" : <Clip width={90}>{reason}</Clip>
      },
      {
        id: "changes",
        header: "",
        cell: (line) => (
          <RowButton aria-label={`Before and after of line ${line.id}`} onClick={() => show(line)}>
            Before and after
          </RowButton>
        )
      }
    ]
  }
}

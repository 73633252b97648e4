/** Audit log lines as a table, with a dialog of a line's changes. */
import { Modal, Stack, Text } from "@mantine/core"
import { useState } from "react"
import type { Row } from "../app/api.ts"
import { Changes } from "../parts/Changes.tsx"
import type { Column } from "../parts/DataTable.tsx"
import { Facts } from "../parts/Facts.tsx"
import { RowButton } from "../parts/RowMenu.tsx"
import { columnsOf, factsOf } from "../parts/shown.tsx"

type Line = Row<"audit.list">

function Details({ close, line }: { readonly line: Line | undefined; readonly close: () => void }) {
  return (
    <Modal opened={line !== undefined} onClose={close} size="xl" title={line?.action ?? ""}>
      {line !== undefined && (
        <Stack>
          <Facts
            facts={factsOf("audit.list", line, ["at", { seconds: true }], "actor", "subject")}
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
  return {
    details: <Details line={shown} close={() => show(undefined)} />,
    columns: columnsOf(
      "audit.list",
      ["at", { seconds: true }],
      ["actor", { width: 110 }],
      ["action", { width: 150 }],
      ["subject", { width: 120 }],
      ...(ofPlayer ? [] : ["player_id", "operator_id"] as const),
      ["reason", { width: 90 }],
      {
        id: "changes",
        header: "",
        cell: (line) => (
          <RowButton aria-label={`Before and after of line ${line.id}`} onClick={() => show(line)}>
            Before and after
          </RowButton>
        )
      }
    )
  }
}

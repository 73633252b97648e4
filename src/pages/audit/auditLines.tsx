/** Table of audit log lines, with a dialog that shows the changes of a line. */
import { Modal, Stack, Text } from "@mantine/core"
import { useMemo, useState } from "react"
import type { Row } from "../app/api.ts"
import { useColleagues } from "../app/colleagues.ts"
import { Changes } from "../parts/Changes.tsx"
import type { Column } from "../parts/DataTable.tsx"
import { Facts } from "../parts/Facts.tsx"
import { RowButton } from "../parts/RowMenu.tsx"
import { columnsOf, factsOf } from "../parts/shown.tsx"
import { Clip } from "../parts/Values.tsx"

type Line = Row<"audit.list">

function Details({ close, line }: { readonly line: Line | undefined; readonly close: () => void }) {
  const { actorOf } = useColleagues()
  return (
    <Modal opened={line !== undefined} onClose={close} size="xl" title={line?.action ?? ""}>
      {line !== undefined && (
        <Stack>
          <Facts
            facts={factsOf("audit.list", line, ["at", { seconds: true }], [
              "actor",
              { cell: ({ actor }) => actorOf(actor) }
            ], "subject")}
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
  const { actorOf } = useColleagues()
  const columns = useMemo(() =>
    columnsOf(
      "audit.list",
      ["at", { seconds: true }],
      ["actor", { cell: ({ actor }) => <Clip width={140}>{actorOf(actor)}</Clip> }],
      ["action", { width: 150 }],
      ["subject", { width: 120 }],
      ...(ofPlayer ? [] : ["player_id", "operator_id"] as const),
      ["reason", { cell: ({ reason }) => reason === null ? "–" : <div className="whole-text">{reason}</div> }],
      {
        id: "changes",
        header: "",
        cell: (line) => (
          <RowButton aria-label={`Before and after of line ${line.id}`} onClick={() => show(line)}>
            Before and after
          </RowButton>
        )
      }
    ), [actorOf, ofPlayer])
  return { columns, details: <Details line={shown} close={() => show(undefined)} /> }
}

/** Background jobs, nodes and encrypted columns: health of the installation. */
import { Stack } from "@mantine/core"
import type { Row } from "../app/api.ts"
import { ActionButton } from "../parts/ActionButton.tsx"
import { buttonColumn } from "../parts/columns.tsx"
import type { Column } from "../parts/DataTable.tsx"
import { List, ListSection, PageHead } from "../parts/ListPage.tsx"
import { Clip, Instant, Status } from "../parts/Values.tsx"

const jobColumns: ReadonlyArray<Column<Row<"job.list">>> = [
  { id: "name", header: "Job", value: ({ name }) => name, cell: ({ name }) => name },
  {
    id: "state",
    header: "State",
    cell: ({ failures, is_running: runs }) => <Status of={runs ? "running" : failures > 0 ? "failed" : "waiting"} />
  },
  { id: "next", header: "Next run", value: (job) => job.next_run_at, cell: (job) => <Instant at={job.next_run_at} /> },
  { id: "last", header: "Last ended", cell: ({ last_ended_at: at }) => <Instant at={at} /> },
  { id: "done", header: "Items", align: "right", cell: ({ last_done: done }) => done ?? "–" },
  {
    id: "failures",
    header: "Failures",
    align: "right",
    value: ({ failures }) => failures,
    cell: ({ failures }) => failures
  },
  { id: "error", header: "Last error", cell: ({ last_error: error }) => error === null ? "–" : <Clip>{error}</Clip> }
]

const nodeColumns: ReadonlyArray<Column<Row<"node.list">>> = [
  { id: "id", header: "Node", cell: ({ id }) => id },
  { id: "address", header: "Address", cell: ({ address }) => address },
  { id: "version", header: "Version", cell: ({ version }) => version },
  { id: "shards", header: "Shards", align: "right", cell: ({ shards }) => shards },
  { id: "since", header: "Since", cell: ({ since }) => <Instant at={since} /> },
  {
    id: "lease",
    header: "Lease left",
    align: "right",
    cell: ({ lease_ms_left: left }) => left === null ? "–" : `${(left / 1000).toFixed(1)} s`
  },
  { id: "state", header: "State", cell: ({ draining }) => <Status of={draining ? "draining" : "active"} /> },
  buttonColumn(({ draining, id }) =>
    !draining && (
      <ActionButton
        action="node.drain"
        label="Drain node"
        params={{ node: id }}
        explanation="It hands its players over to the other nodes and takes no more. Starting the process again brings it back."
        typed={id}
        danger
      />
    )
  )
]

const secretColumns: ReadonlyArray<Column<Row<"secret.list">>> = [
  { id: "kind", header: "Table", cell: ({ kind }) => kind },
  { id: "total", header: "Encrypted", align: "right", cell: ({ total }) => total },
  { id: "current", header: "Under this key", align: "right", cell: ({ current }) => current },
  { id: "previous", header: "Under the key before", align: "right", cell: ({ previous }) => previous },
  { id: "unreadable", header: "Unreadable", align: "right", cell: ({ unreadable }) => unreadable }
]

export default function JobsPage() {
  return (
    <Stack>
      <PageHead heading="Jobs" />
      <List
        heading="Jobs"
        action="job.list"
        paging="whole"
        columns={jobColumns}
        rowKey={({ name }) => name}
        empty="No jobs."
      />
      <ListSection
        heading="Nodes"
        action="node.list"
        paging="whole"
        columns={nodeColumns}
        empty="One process, not a cluster. docs/running-several-nodes.md says how to run more."
      />
      <ListSection
        heading="Encrypted columns"
        actions={
          <ActionButton
            action="secret.reseal"
            label="Encrypt under the present key"
            explanation="Reads everything that is encrypted under the key before this one, and writes it again under MASTER_KEY."
          />
        }
        action="secret.list"
        paging="whole"
        columns={secretColumns}
        rowKey={({ kind }) => kind}
        empty="None."
      />
    </Stack>
  )
}

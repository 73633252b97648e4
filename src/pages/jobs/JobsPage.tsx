/** Health of the installation: background jobs, nodes, and which encrypted columns still wait to be re-encrypted under the current master key. */
import { Button, Group, Stack, Text } from "@mantine/core"
import { useState } from "react"
import { usePermission } from "../app/session.tsx"
import { ActionButton } from "../parts/ActionButton.tsx"
import { buttonColumn } from "../parts/columns.tsx"
import { List, ListSection } from "../parts/ListPage.tsx"
import { PageHead } from "../parts/PageHead.tsx"
import { Section } from "../parts/Section.tsx"
import { columnsOf } from "../parts/shown.tsx"
import { Status } from "../parts/Values.tsx"

const jobColumns = columnsOf(
  "job.list",
  ["name", { label: "Job" }],
  {
    id: "state",
    header: "State",
    cell: ({ failures, is_running: runs }) => <Status of={runs ? "running" : failures > 0 ? "failed" : "waiting"} />
  },
  ["next_run_at", { seconds: true }],
  ["last_ended_at", { seconds: true }],
  ["last_done", { label: "Items" }],
  "failures",
  ["last_error", { width: 280 }]
)

const nodeColumns = columnsOf(
  "node.list",
  ["id", { label: "Node" }],
  "address",
  "version",
  "shards",
  ["since", { seconds: true }],
  ["lease_ms_left", {
    label: "Lease left",
    cell: ({ lease_ms_left: left }) => left === null ? "–" : `${(left / 1000).toFixed(1)} s`
  }],
  ["draining", { label: "State", cell: ({ draining }) => <Status of={draining ? "draining" : "active"} /> }],
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
)

const secretColumns = columnsOf(
  "secret.list",
  ["kind", { label: "Table", cell: ({ kind }) => kind }],
  ["total", { label: "Encrypted" }],
  ["current", { label: "Under this key" }],
  ["previous", { label: "Under the key before" }],
  "unreadable"
)

/** What is encrypted, and under which key. All of it is opened for that, a million players' numbers among it: only when it is asked for. */
function EncryptedColumns() {
  const may = usePermission()
  const [isCounted, setCounted] = useState(false)
  return may("secret.list") && (
    <Section
      heading="Encrypted columns"
      actions={
        <Group gap="xs">
          <Button size="compact-sm" variant="default" aria-expanded={isCounted} onClick={() => setCounted(!isCounted)}>
            {isCounted ? "Hide" : "Count"}
          </Button>
          <ActionButton
            action="secret.reseal"
            label="Encrypt under the present key"
            explanation="Reads everything that is encrypted under the key before this one, and writes it again under MASTER_KEY."
          />
        </Group>
      }
    >
      {isCounted
        ? (
          <List
            heading="Encrypted columns"
            action="secret.list"
            paging="whole"
            columns={secretColumns}
            rowKey={({ kind }) => kind}
            empty="None."
          />
        )
        : <Text size="sm">How much is encrypted, and under which key: everything is read for that.</Text>}
    </Section>
  )
}

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
      <EncryptedColumns />
    </Stack>
  )
}

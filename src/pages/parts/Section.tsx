/** Page sections: a heading with buttons above content or a table. */
import { Group, Stack, Text, Title } from "@mantine/core"
import { type Column, DataTable } from "./DataTable.tsx"
import { Waiting } from "./Refusal.tsx"

/** Section with its heading and buttons. */
export function Section(
  { actions, children, heading }: {
    readonly heading: string
    readonly actions?: React.ReactNode
    readonly children: React.ReactNode
  }
) {
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Title order={2} size="h4">{heading}</Title>
        {actions}
      </Group>
      {children}
    </Stack>
  )
}

/** Section with a table of `rows`. They are undefined until the query is answered; `empty` is the text of none, `note` what holds for all of them. */
export function TableSection<R extends object>(
  { actions, columns, empty, heading, note, query, rowKey, rows }: {
    readonly heading: string
    readonly note?: React.ReactNode
    readonly actions?: React.ReactNode
    readonly query?: React.ComponentProps<typeof Waiting>["query"]
    readonly columns: ReadonlyArray<Column<R>>
    readonly rows: ReadonlyArray<R> | undefined
    readonly rowKey: (row: R) => string | number
    readonly empty?: string
  }
) {
  return (
    <Section heading={heading} actions={actions}>
      {note !== undefined && <Text size="sm" c="dimmed" component="div">{note}</Text>}
      {rows === undefined ? query !== undefined && <Waiting query={query} /> : rows.length === 0
        ? <Text size="sm">{empty}</Text>
        : <DataTable label={heading} columns={columns} rows={rows} rowKey={rowKey} />}
    </Section>
  )
}

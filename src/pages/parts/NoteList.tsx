/** Staff notes on a record, each with its author and the record's status when it was written. */
import { Group, Paper, Stack, Text } from "@mantine/core"
import { useColleagues } from "../app/colleagues.ts"
import { Instant, Status } from "./Values.tsx"

interface Note {
  readonly at: string
  readonly by: string
  readonly note: string
  readonly status: string
}

export function NoteList({ notes }: { readonly notes: ReadonlyArray<Note> }) {
  const { actorOf } = useColleagues()
  return (
    <Stack component="ol" gap="xs" m={0} p={0} style={{ listStyle: "none" }} aria-label="Notes">
      {notes.map(({ at, by, note, status }, index) => (
        <Paper component="li" withBorder p="sm" key={index}>
          <Group gap="xs">
            <Text size="xs" fw={600}>{actorOf(by)}</Text>
            <Text size="xs" c="dimmed" component="span">
              <Instant at={at} />
            </Text>
            <Status of={status} />
          </Group>
          <Text size="sm" mt={4} style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>{note}</Text>
        </Paper>
      ))}
    </Stack>
  )
}

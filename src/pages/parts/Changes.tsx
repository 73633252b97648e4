/** Two states side by side, with differences marked. */
import { Code, Table } from "@mantine/core"

const entriesOf = (value: unknown): ReadonlyMap<string, unknown> =>
  new Map(
    typeof value === "object" && value !== null
      ? Object.entries(value)
      : value === undefined || value === null
      ? []
      : [["", value]]
  )

const textOf = (value: unknown): string => value === undefined ? "" : JSON.stringify(value)

/** Before and after, field by field. `onlyChanged` omits unchanged fields. */
export function Changes(
  { after, before, onlyChanged = false }: {
    readonly before: unknown
    readonly after: unknown
    readonly onlyChanged?: boolean
  }
) {
  const left = entriesOf(before)
  const right = entriesOf(after)
  const names = [...new Set([...left.keys(), ...right.keys()])]
    .filter((name) => !onlyChanged || textOf(left.get(name)) !== textOf(right.get(name)))
  return (
    <Table fz="xs" aria-label="Before and after" layout="fixed">
      <Table.Thead>
        <Table.Tr>
          <Table.Th w="26%">Field</Table.Th>
          <Table.Th>Before</Table.Th>
          <Table.Th>After</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {names.map((name) => {
          const [one, other] = [textOf(left.get(name)), textOf(right.get(name))]
          const differs = one !== other
          return (
            <Table.Tr key={name} {...(differs ? { fw: 600 } : {})}>
              <Table.Td>{name} {differs && <span className="visually-hidden">(changed)</span>}</Table.Td>
              {[one, other].map((text, side) => (
                <Table.Td key={side} style={{ wordBreak: "break-all" }}>
                  {text === ""
                    ? "–"
                    : differs
                    ? <Code {...{ c: side === 0 ? "var(--pitboss-negative)" : "var(--pitboss-positive)" }}>{text}</Code>
                    : text}
                </Table.Td>
              ))}
            </Table.Tr>
          )
        })}
      </Table.Tbody>
    </Table>
  )
}

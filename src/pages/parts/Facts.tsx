/** Facts about a resource, as pairs of name and value. */
import { SimpleGrid, Text } from "@mantine/core"

export type Fact = readonly [name: string, value: React.ReactNode]

/** List of facts in columns. `false` is left out. */
export function Facts(
  { columns = 3, facts }: { readonly facts: ReadonlyArray<Fact | false>; readonly columns?: number }
) {
  return (
    <SimpleGrid component="dl" cols={{ base: 2, md: columns }} spacing="sm" verticalSpacing="xs" m={0}>
      {facts.filter((fact) => fact !== false).map(([name, value]) => (
        <div key={name}>
          <Text component="dt" size="xs" c="dimmed">{name}</Text>
          <Text component="dd" size="sm" m={0} style={{ overflowWrap: "anywhere" }}>{value}</Text>
        </div>
      ))}
    </SimpleGrid>
  )
}

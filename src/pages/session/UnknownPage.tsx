/** Not-found page for unknown addresses. */
import { List, Stack, Text } from "@mantine/core"
import { useLocation } from "@tanstack/react-router"
import { useVisiblePages } from "../app/visiblePages.ts"
import { PageHead } from "../parts/PageHead.tsx"
import { PageLink } from "../parts/Values.tsx"

export default function UnknownPage() {
  const { pathname } = useLocation()
  const visible = useVisiblePages()
  return (
    <Stack>
      <PageHead heading="Page not found" />
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        No page has the address{" "}
        {pathname}. Players, rounds, payments and transactions are found by their id: press Find, or Ctrl K.
      </Text>
      <List size="sm" spacing="xs">
        {visible.map(({ heading, path }) => (
          <List.Item key={path}>
            <PageLink to={path}>{heading}</PageLink>
          </List.Item>
        ))}
      </List>
    </Stack>
  )
}

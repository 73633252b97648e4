/** Page heading with its buttons. Sets the title of the document. */
import { Group, Title } from "@mantine/core"
import { useEffect } from "react"

/** Heading of a page, with its buttons. */
export function PageHead({ children, heading }: { readonly heading: string; readonly children?: React.ReactNode }) {
  useEffect(() => {
    document.title = `${heading} · Pitboss`
  }, [heading])
  return (
    <Group justify="space-between" align="center">
      <Title order={1} size="h2">{heading}</Title>
      <Group gap="xs">{children}</Group>
    </Group>
  )
}

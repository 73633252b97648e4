/** Home. */
import { Stack } from "@mantine/core"
import { PageHead } from "../parts/ListPage.tsx"

export default function HomePage() {
  return (
    <Stack>
      <PageHead heading="Home" />
    </Stack>
  )
}

/** One's own account. */
import { Stack } from "@mantine/core"
import { PageHead } from "../parts/ListPage.tsx"

export default function AccountPage() {
  return (
    <Stack>
      <PageHead heading="Account" />
    </Stack>
  )
}

/** A player. */
import { Stack } from "@mantine/core"
import { usePathPart } from "../app/address.ts"
import { useAnswer } from "../app/queries.ts"
import { PageHead } from "../parts/ListPage.tsx"
import { Waiting } from "../parts/Refusal.tsx"

export default function PlayerPage() {
  const player = usePathPart("player")
  const query = useAnswer("player.show", { params: { player: Number(player) } })
  return query.data === undefined ? <Waiting query={query} /> : (
    <Stack>
      <PageHead heading={query.data.data.username} />
    </Stack>
  )
}

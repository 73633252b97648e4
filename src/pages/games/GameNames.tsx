/** Names of games by id, and a game search by name. */
import { Select } from "@mantine/core"
import { useDebouncedValue } from "@mantine/hooks"
import { useState } from "react"
import { useAnswer } from "../app/queries.ts"
import { usePermission } from "../app/session.tsx"

/** Maximum games looked up or offered at once. */
const maximum = 100

/** Names of games by id; `Game 7` for an unknown one, or beyond the first 100. */
export const useGameNames = (ids: ReadonlyArray<string>): (id: string) => string => {
  const may = usePermission()
  const query = useAnswer("game.list", { query: { ids: ids.slice(0, maximum).join(","), per_page: maximum } }, {
    enabled: ids.length > 0 && may("game.list")
  })
  const names = new Map((query.data?.data ?? []).map(({ id, name }) => [String(id), name]))
  return (id) => names.get(id) ?? `Game ${id}`
}

/** Searches a game by part of its name. `without`: excluded ids. */
export function GameChoice(
  { label, onChoose, without }: {
    readonly label: string
    readonly without: ReadonlyArray<string>
    readonly onChoose: (id: string) => void
  }
) {
  const [text, setText] = useState("")
  const [asked] = useDebouncedValue(text.trim(), 150)
  const query = useAnswer("game.list", { query: { ...(asked === "" ? {} : { name: asked }), per_page: maximum } })
  const data = (query.data?.data ?? []).filter(({ id }) => !without.includes(String(id))).map((
    { id, name, provider }
  ) => ({ value: String(id), label: `${name} (${provider.name})` }))
  return (
    <Select
      label={label}
      placeholder="Type a part of its name"
      data={data}
      searchable
      searchValue={text}
      onSearchChange={setText}
      value={null}
      // filtered by the service
      filter={({ options }) => options}
      nothingFoundMessage="No such game."
      onChange={(id) => {
        if (id === null) return
        onChoose(id)
        setText("")
      }}
    />
  )
}

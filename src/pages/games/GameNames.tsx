/** Names of games for what knows their ids alone, and a choice of a game by a part of its name. */
import { Select } from "@mantine/core"
import { useDebouncedValue } from "@mantine/hooks"
import { useState } from "react"
import { useAnswer } from "../app/queries.ts"
import { useMay } from "../app/session.tsx"

/** How many games are looked up, or offered, at a time. */
const maximum = 100

/** Names of games by id; `Game 7` for one that is not known, or beyond the first 100. */
export const useGameNames = (ids: ReadonlyArray<string>): (id: string) => string => {
  const may = useMay()
  const query = useAnswer("game.list", { query: { ids: ids.slice(0, maximum).join(","), per_page: maximum } }, {
    enabled: ids.length > 0 && may("game.list")
  })
  const names = new Map((query.data?.data ?? []).map(({ id, name }) => [String(id), name]))
  return (id) => names.get(id) ?? `Game ${id}`
}

/** Finds a game by a part of its name. `without`: ids that are not offered. */
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
      // the service has found them: nothing is filtered here
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

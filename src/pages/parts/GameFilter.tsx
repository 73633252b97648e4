/** Filter by a game, chosen by its name. Its value is the game's id. */
import { Select } from "@mantine/core"
import { useDebouncedValue } from "@mantine/hooks"
import { useState } from "react"
import { useAnswer } from "../app/queries.ts"
import { usePermission } from "../app/session.tsx"

/** Maximum games offered at once. */
const maximum = 50

export function GameFilter({ label, onChange, value, width }: {
  readonly label: string
  readonly width: number
  readonly value: string
  readonly onChange: (value: string) => void
}) {
  const may = usePermission()
  const [text, setText] = useState("")
  const [isOpen, setOpen] = useState(false)
  const [asked] = useDebouncedValue(text.trim(), 150)
  const chosen = useAnswer("game.list", { query: { ids: value } }, { enabled: /^\d+$/.test(value) && may("game.list") })
  const name = value === "" ? undefined : chosen.data?.data.find(({ id }) => String(id) === value)?.name ?? value
  const found = useAnswer(
    "game.list",
    { query: { ...(asked === "" || asked === name ? {} : { name: asked }), per_page: maximum } },
    { enabled: isOpen && may("game.list") }
  )
  const games = new Map([
    ...(name === undefined ? [] : [[value, name] as const]),
    ...(found.data?.data ?? []).map(({ id, name: own, provider }) => [String(id), `${own} (${provider.name})`] as const)
  ])
  return (
    <Select
      size="xs"
      w={width}
      label={label}
      placeholder="Any"
      clearable
      searchable
      data={[...games].map(([id, own]) => ({ value: id, label: id === value ? name ?? own : own }))}
      value={value === "" ? null : value}
      searchValue={text}
      onSearchChange={setText}
      onDropdownOpen={() => setOpen(true)}
      // filtered by the service
      filter={({ options }) => options}
      nothingFoundMessage="No such game."
      onChange={(id) => onChange(id ?? "")}
    />
  )
}

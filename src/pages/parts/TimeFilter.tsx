/** Time filter, in the time zone shown: a named range such as yesterday, two times, or half an hour before and after a time. */
import { Select, TextInput } from "@mantine/core"
import { useDebouncedCallback } from "@mantine/hooks"
import { useEffect, useState } from "react"
import { instantOf, type NamedRange, namedRanges, rangeAround, rangeNamed, wallTime } from "../../domain/ZonedTime.ts"
import { useAddress } from "../app/address.ts"
import { useTimeZone } from "../app/preferences.tsx"
import { asHeading } from "./Values.tsx"

const isoOf = (at: number): string => new Date(at).toISOString()

/** A time of the address as its input shows it. */
const wallOf = (text: string | undefined, zone: string): string => {
  const at = Date.parse(text ?? "")
  return Number.isNaN(at) ? "" : wallTime(at, zone)
}

/** Time typed in the zone shown. `onChange`: epoch milliseconds, or undefined where it was cleared. */
function TimeInput({ label, onChange, title, value }: {
  readonly label: string
  readonly value: string
  readonly title?: string
  readonly onChange: (at: number | undefined) => void
}) {
  const [zone] = useTimeZone()
  const [text, setText] = useState(value)
  const changed = useDebouncedCallback(onChange, 250)
  useEffect(() => setText(value), [value])
  return (
    <TextInput
      size="xs"
      w={190}
      type="datetime-local"
      label={label}
      {...(title === undefined ? {} : { title })}
      value={text}
      onChange={({ currentTarget: { value: entered } }) => {
        setText(entered)
        const at = instantOf(entered, zone)
        // a partly typed year is not a time yet
        if (entered === "" || at !== undefined) changed(at)
      }}
    />
  )
}

const isNamed = (name: string | null): name is NamedRange => namedRanges.some((range) => range === name)

/** `from` and `to`: names of the fields of the query, which are the address's too. */
export function TimeFilter({ from, to }: { readonly from: string; readonly to: string }) {
  const [search, setSearch] = useAddress()
  const [zone] = useTimeZone()
  const [chosen, setChosen] = useState<NamedRange | "between">()
  const [jump, setJump] = useState("")
  const isSet = search[from] !== undefined || search[to] !== undefined
  const now = Date.now()
  const named = namedRanges.find((name) => {
    const range = rangeNamed(name, now, zone)
    return isoOf(range.from) === search[from] && isoOf(range.to) === search[to]
  })
  const shown = named ??
    (chosen === "last_24_hours" && isSet ? chosen : isSet || chosen === "between" ? "between" : null)
  return (
    <>
      <Select
        size="xs"
        w={140}
        label="Time"
        placeholder="Any"
        clearable
        data={[
          ...namedRanges.map((value) => ({ value, label: asHeading(value) })),
          { value: "between", label: "Between" }
        ]}
        value={shown}
        onChange={(name) => {
          setJump("")
          setChosen(isNamed(name) ? name : name === null ? undefined : "between")
          if (name === null) return setSearch({ [from]: undefined, [to]: undefined })
          if (!isNamed(name)) return
          const range = rangeNamed(name, Date.now(), zone)
          setSearch({ [from]: isoOf(range.from), [to]: isoOf(range.to) })
        }}
      />
      {shown === "between" && ([[from, "From"], [to, "Until"]] as const).map(([name, label]) => (
        <TimeInput
          key={name}
          label={label}
          value={wallOf(search[name], zone)}
          onChange={(at) => {
            setChosen("between")
            setSearch({ [name]: at === undefined ? undefined : isoOf(at) })
          }}
        />
      ))}
      <TimeInput
        label="Jump to"
        title={`Half an hour before and after, in ${zone}`}
        value={jump}
        onChange={(at) => {
          const range = at === undefined ? undefined : rangeAround(at)
          setJump(at === undefined ? "" : wallTime(at, zone))
          setChosen(range && "between")
          setSearch({ [from]: range && isoOf(range.from), [to]: range && isoOf(range.to) })
        }}
      />
    </>
  )
}

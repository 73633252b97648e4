/** Filter inputs, stored in the URL: some always shown, the others added by the user. */
import { Button, createTheme, Group, MantineThemeProvider, Popover, Select, TextInput } from "@mantine/core"
import { useDebouncedCallback } from "@mantine/hooks"
import { useEffect, useRef, useState } from "react"
import { useAddress } from "../app/address.ts"
import { useTimeZone } from "../app/preferences.tsx"
import { useOperators } from "../app/session.tsx"
import { type Option, optionsOf } from "./Fields.tsx"
import { operatorOptions } from "./operatorOptions.ts"
import { GameFilter } from "./GameFilter.tsx"
import { moneyForm, NumberField, typedNumber, unitsIn } from "./NumberField.tsx"
import { TimeFilter } from "./TimeFilter.tsx"
import { instantText, moneyText } from "./Values.tsx"

/** Filter, named like its query field. `operator`: the operators visible to the user, if several. */
export interface Filter {
  readonly name: string
  readonly label: string
  readonly kind: "text" | "choice" | "operator" | "game" | "date" | "money"
  readonly options?: ReadonlyArray<Option>
  readonly width?: number
  /** What may be typed. */
  readonly placeholder?: string
  /** Stands beside the search; the others are added when they are wanted. */
  readonly isShown?: boolean
}

/** Amount in the currency of the list: the one filtered by, or that of the operators shown. The service compares amounts of a named currency alone. */
function MoneyFilter({ filter, value }: { readonly filter: Filter; readonly value: string }) {
  const [{ currency, operator }] = useAddress()
  const operators = useOperators().filter(({ slug }) => operator === undefined || slug === operator)
  const currencies = new Set(currency === undefined ? operators.map((one) => one.currency) : [currency.toUpperCase()])
  const [only] = currencies.size === 1 ? currencies : []
  const { label, width = widths.money } = filter
  return only === undefined
    ? <TextInput size="xs" w={width} label={label} placeholder="Choose a currency" disabled />
    : <MoneyOf key={only} currency={only} filter={filter} value={value} />
}

function MoneyOf(
  { currency, filter: { label, name, width = widths.money }, value }: {
    readonly currency: string
    readonly filter: Filter
    readonly value: string
  }
) {
  const [, setSearch] = useAddress()
  const form = moneyForm(currency)
  const [text, setText] = useState(value === "" ? "" : typedNumber(Number(value), form))
  const search = useDebouncedCallback((units: number | undefined) => {
    setSearch(units === undefined ? { [name]: "" } : { [name]: String(units), currency })
  }, 250)
  return (
    <NumberField
      size="xs"
      w={width}
      label={label}
      form={form}
      value={text}
      onChange={(typed) => {
        setText(typed)
        // what is no amount filters by none, and says so
        search(unitsIn(typed, form))
      }}
    />
  )
}

/** Widths of filters, pixels. */
const widths: Readonly<Record<Filter["kind"], number>> = {
  text: 140,
  choice: 150,
  operator: 170,
  game: 190,
  date: 140,
  money: 140
}

export function FilterInput(
  { filter, isAdded = false, onChange, value }: {
    readonly filter: Filter
    readonly value: string
    readonly onChange: (value: string) => void
    /** In the box of the filters that are added, which a list of options outside of it would close. */
    readonly isAdded?: boolean
  }
) {
  const operators = useOperators()
  const typed = useDebouncedCallback(onChange, { delay: 250, flushOnUnmount: true })
  const [text, setText] = useState(value)
  const input = useRef<HTMLInputElement>(null)
  // options are rendered on focus: a list has several selects
  const [hasOptions, setOptions] = useState(false)
  useEffect(() => {
    // changed from elsewhere: the address lags behind what is typed
    if (document.activeElement !== input.current) setText(value)
  }, [value])
  const { kind, label, width = widths[kind] } = filter
  if (kind === "choice" || kind === "operator") {
    const data = kind === "operator"
      ? operatorOptions(operators)
      : optionsOf(filter.options)
    if (kind === "operator" && data.length < 2) return null
    return (
      <Select
        size="xs"
        w={width}
        label={label}
        placeholder="Any"
        clearable
        searchable={data.length > 12}
        comboboxProps={{ keepMounted: hasOptions, withinPortal: !isAdded }}
        onFocus={() => setOptions(true)}
        data={data}
        value={value === "" ? null : value}
        onChange={(chosen) => onChange(chosen ?? "")}
      />
    )
  }
  if (kind === "date") {
    // the end of a range is drawn with its beginning
    const { name } = filter
    return name.endsWith("from") ? <TimeFilter from={name} to={name.replace(/from$/u, "to")} /> : null
  }
  if (kind === "game") return <GameFilter label={label} width={width} value={value} onChange={onChange} />
  if (kind === "money") return <MoneyFilter filter={filter} value={value} />
  return (
    <TextInput
      size="xs"
      w={width}
      label={label}
      type="search"
      {...(filter.placeholder === undefined ? {} : { placeholder: filter.placeholder })}
      ref={input}
      value={text}
      onChange={({ currentTarget: { value: entered } }) => {
        setText(entered)
        typed(entered)
      }}
    />
  )
}

/** Words of a chosen filter. */
const useChosenText = (): (filter: Filter, value: string) => string => {
  const operators = useOperators()
  const [{ currency = "EUR" }] = useAddress()
  const [zone] = useTimeZone()
  return ({ kind, options }, value) =>
    kind === "operator"
      ? operators.find(({ id, slug }) => slug === value || String(id) === value)?.name ?? value
      : kind === "money"
      ? moneyText(Number(value), currency)
      : kind === "date"
      ? instantText(value, zone)
      : optionsOf(options).find((option) => option.value === value)?.label ?? value
}

/** A list of options outside of a box closes the box when one is chosen. */
const optionsInside = createTheme({
  components: { Select: Select.extend({ defaultProps: { comboboxProps: { withinPortal: false } } }) }
})

/** Filters that do not stand on the page: those with a value as chips, which take it away, and a box to add the others. */
export function MoreFilters({ filters }: { readonly filters: ReadonlyArray<Filter> }) {
  const [search, setSearch] = useAddress()
  const [isOpen, setOpen] = useState(false)
  const textOf = useChosenText()
  const adding = useRef<HTMLButtonElement>(null)
  return (
    <>
      <Popover
        opened={isOpen}
        onChange={setOpen}
        position="bottom-start"
        trapFocus
        returnFocus
        hideDetached={false}
        withinPortal={false}
        // Escape clears an input that is still there while the box fades
        transitionProps={{ duration: 0 }}
      >
        <Popover.Target>
          <Button ref={adding} size="xs" variant="default" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            Add filter
          </Button>
        </Popover.Target>
        <Popover.Dropdown maw="min(26rem, 94vw)">
          <MantineThemeProvider theme={optionsInside}>
            <Group align="flex-start" gap="xs">
              {filters.map((filter) => (
                <FilterInput
                  key={filter.name}
                  filter={filter}
                  isAdded
                  value={search[filter.name] ?? ""}
                  onChange={(value) => setSearch({ [filter.name]: value })}
                />
              ))}
            </Group>
          </MantineThemeProvider>
        </Popover.Dropdown>
      </Popover>
      {filters.map((filter) => {
        const value = search[filter.name]
        if (value === undefined) return null
        const text = `${filter.label}: ${textOf(filter, value)}`
        return (
          <button
            key={filter.name}
            type="button"
            className="chip mantine-focus-auto"
            onClick={() => {
              // the chip goes, with the focus that it has
              adding.current?.focus({ preventScroll: true })
              setSearch({ [filter.name]: undefined })
            }}
          >
            <span className="visually-hidden">Remove filter</span> {text} <span aria-hidden>×</span>
          </button>
        )
      })}
    </>
  )
}

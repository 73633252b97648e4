/** Lists: filtered and sorted by the address, loaded part by part, exportable as CSV. */
import { Button, Group, Select, Stack, Text, TextInput, Title } from "@mantine/core"
import { useDebouncedCallback, useIntersection } from "@mantine/hooks"
import { useEffect, useMemo, useRef, useState } from "react"
import { queries } from "virtual:staff-api"
import { useAddress } from "../app/address.ts"
import { type Action, addressOf, asRows, type Request, type Row } from "../app/api.ts"
import { type Paging, useRows } from "../app/queries.ts"
import { useOperators, usePermission } from "../app/session.tsx"
import { type Column, DataTable } from "./DataTable.tsx"
import { Refusal } from "./Refusal.tsx"
import type { RowActions } from "./RowMenu.tsx"
import { moneyForm, NumberField, typedNumber, unitsIn } from "./NumberField.tsx"
import { labelOf } from "./labels.ts"
import { Section } from "./Section.tsx"
import { GameFilter } from "./GameFilter.tsx"
import { TimeFilter } from "./TimeFilter.tsx"
import { operatorOptions, type Option, optionsOf } from "./Fields.tsx"

/** Filter, named like its query field. `operator`: the operators visible to the user, if several. */
export interface Filter {
  readonly name: string
  readonly label: string
  readonly kind: "text" | "choice" | "operator" | "game" | "date" | "money"
  readonly options?: ReadonlyArray<Option>
  readonly width?: number
  /** What may be typed. */
  readonly placeholder?: string
}

/** Query fields that page through a list or order it. */
const paging: ReadonlySet<string> = new Set(["page", "per_page", "limit", "cursor", "sort"])

/** Labels of filters that are not their names. */
const filterLabels: Readonly<Record<string, string>> = {
  active: "State",
  player: "Player id",
  staff: "Staff id",
  transaction: "Message or entry id"
}

type QueryName<A extends Action> = Extract<keyof NonNullable<Request<A>["query"]>, string>

/**
 * Filters of a list: every field of its query in the contract's order, but those of its pages and order. `changes`: another label, options that are
 * known to the page, or false for a field that the list fixes or has no use for.
 */
export const filtersOf = <A extends Action>(
  action: A,
  changes: { readonly [name in QueryName<A>]?: Partial<Filter> | false } = {}
): ReadonlyArray<Filter> => {
  const changed = new Map<string, Partial<Filter> | false>(Object.entries(changes))
  return (queries[action] ?? []).flatMap(({ kind, name, options }): ReadonlyArray<Filter> => {
    const change = changed.get(name) ?? {}
    if (change === false || paging.has(name)) return []
    return [{
      name,
      label: filterLabels[name] ?? labelOf(name),
      kind: name === "operator" || name === "game"
        ? name
        : kind === "amount"
        ? "money"
        : kind === "instant"
        ? "date"
        : kind === "choice"
        ? "choice"
        : "text",
      ...(options.length === 0 ? {} : { options }),
      ...change
    }]
  })
}

/** Props of a list, for actions that return one. */
export interface ListProps<A extends Action> {
  readonly heading: string
  readonly action: A
  readonly paging: Paging
  readonly params?: Request<A>["params"]
  /** Query fields in addition to the filters. */
  readonly query?: Readonly<Record<string, unknown>>
  readonly filters?: ReadonlyArray<Filter>
  readonly columns: ReadonlyArray<Column<Row<A>>>
  readonly rowActions?: RowActions<Row<A>>
  readonly rowKey?: (row: Row<A>) => string | number
  /** Columns sorted by the service, with the values of `sort`. */
  readonly sorts?: Readonly<Record<string, { readonly ascending?: string; readonly descending?: string }>>
  /** Text of an empty list, with the next step. */
  readonly empty: string
  readonly csv?: boolean
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

function FilterInput(
  { filter, onChange, value }: {
    readonly filter: Filter
    readonly value: string
    readonly onChange: (value: string) => void
  }
) {
  const operators = useOperators()
  const typed = useDebouncedCallback(onChange, 250)
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
        comboboxProps={{ keepMounted: hasOptions }}
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

const none = {}

const idOf = (row: object): string => "id" in row ? String(row.id) : JSON.stringify(row)

/** Forms of an export. */
const exportForms = [["For spreadsheets", "spreadsheet"], ["Export CSV", "csv"]] as const

/** Links to the exports of a list. `of`: what is exported, where a page has several. */
export function ExportLinks<A extends Action>({ action, of, params, query, size = "xs" }: {
  readonly action: A
  readonly params?: Request<A>["params"]
  readonly query: object
  readonly of?: string
  readonly size?: "xs" | "compact-xs"
}) {
  return (
    <Group gap="xs">
      {exportForms.map(([label, format]) => (
        <Button
          key={format}
          size={size}
          variant="default"
          component="a"
          href={addressOf(action, params, { ...query, format })}
          download
          {...(of === undefined ? {} : { "aria-label": `${label}: ${of}` })}
        >
          {label}
        </Button>
      ))}
    </Group>
  )
}

/** Filters of a list, stored in the address, and the links to its exports. */
export function Filters<A extends Action>(
  { action, csv, filters, heading, params, query }: {
    readonly heading: string
    readonly action: A
    readonly params?: Request<A>["params"]
    readonly query: object
    readonly filters: ReadonlyArray<Filter>
    readonly csv?: boolean
  }
) {
  const [search, setSearch] = useAddress()
  // inputs keep their own text: they are remounted when cleared
  const [clearings, setClearings] = useState(0)
  const isFiltered = filters.some(({ name }) => search[name] !== undefined)
  const clear = () => {
    setSearch(Object.fromEntries(filters.map(({ name }) => [name, undefined])))
    setClearings((count) => count + 1)
  }
  return (
    <Group
      component="form"
      role="search"
      aria-label={`Filters of ${heading}`}
      align="flex-start"
      gap="xs"
      onSubmit={(event: React.FormEvent) => event.preventDefault()}
    >
      {filters.map((filter) => (
        <FilterInput
          key={`${filter.name}-${clearings}`}
          filter={filter}
          value={search[filter.name] ?? ""}
          onChange={(value) => setSearch({ [filter.name]: value })}
        />
      ))}
      {/* beside the inputs, below the labels */}
      <Group gap="xs" mt={20}>
        {isFiltered && <Button size="xs" variant="default" onClick={clear}>Clear</Button>}
        {csv !== false && <ExportLinks action={action} params={params} query={query} />}
      </Group>
    </Group>
  )
}

/** Distance from the end of a list at which the next part is loaded. */
const nearPx = 600

/** List without a heading, as part of a page. */
export function List<A extends Action>(props: ListProps<A>) {
  const { action, columns, filters = [], heading, paging, rowKey, sorts } = props
  const [search, setSearch] = useAddress()
  const query = useMemo(() => {
    const named = new Set([...filters.map(({ name }) => name), ...(sorts === undefined ? [] : ["sort"])])
    return { ...props.query, ...Object.fromEntries(Object.entries(search).filter(([name]) => named.has(name))) }
  }, [filters, props.query, search, sorts])
  const list = useRows(action, { params: props.params, query }, paging)
  const rows = useMemo(() => asRows(action, (list.data?.pages ?? []).flatMap(({ data }) => data)), [action, list.data])
  const { entry, ref } = useIntersection({ root: null, rootMargin: `${nearPx}px` })
  const { fetchNextPage, hasNextPage, isFetchingNextPage } = list
  const isNearEnd = entry?.isIntersecting === true
  useEffect(() => {
    if (!isNearEnd || !hasNextPage || isFetchingNextPage) return
    // newly rendered rows may have moved the end away before the observer fires
    if ((entry?.target.getBoundingClientRect().top ?? 0) <= window.innerHeight + nearPx) void fetchNextPage()
  }, [entry, isNearEnd, hasNextPage, isFetchingNextPage, fetchNextPage])
  const keyOf = rowKey ?? idOf
  const isFiltered = filters.some(({ name }) => search[name] !== undefined)

  return (
    <Stack gap="sm">
      {filters.length > 0
        ? <Filters {...props} filters={filters} query={query} />
        : props.csv !== false && (
          <Group>
            <ExportLinks action={action} params={props.params} query={query} of={heading} />
          </Group>
        )}
      {list.error !== null && <Refusal error={list.error} again={() => void list.refetch()} />}
      <DataTable
        label={heading}
        columns={columns}
        rows={rows}
        rowActions={props.rowActions}
        rowKey={keyOf}
        {
          // a list of which only a part is loaded is sorted by the service, or not at all
          ...(paging === "whole" && sorts === undefined ? {} : { sorts: sorts ?? none })
        }
        sort={search["sort"]}
        onSort={(sort) => setSearch({ sort })}
      />
      {list.isLoading && <Text size="sm">Loading …</Text>}
      {!list.isLoading && list.error === null && rows.length === 0 && !hasNextPage && (
        <Text size="sm" py="md">{isFiltered ? "Nothing matches the filters." : props.empty}</Text>
      )}
      <Group ref={ref} justify="center" mih={1}>
        {hasNextPage && (
          <Button
            size="xs"
            variant="default"
            loading={isFetchingNextPage}
            onClick={() => void fetchNextPage()}
          >
            Show more
          </Button>
        )}
      </Group>
    </Stack>
  )
}

/** Page with a list. `actions`: buttons beside the heading. */
export function ListPage<A extends Action>(
  { actions, children, ...list }: ListProps<A> & {
    readonly actions?: React.ReactNode
    readonly children?: React.ReactNode
  }
) {
  const may = usePermission()
  return (
    <Stack>
      <PageHead heading={list.heading}>{actions}</PageHead>
      {children}
      {may(list.action) ? <List {...list} /> : <Text size="sm">Your role may not see this list.</Text>}
    </Stack>
  )
}

/** List under a heading of its own, as a section of a page. Hidden without permission. */
export function ListSection<A extends Action>(
  { actions, ...list }: ListProps<A> & { readonly actions?: React.ReactNode }
) {
  const may = usePermission()
  return may(list.action) && (
    <Section heading={list.heading} actions={actions}>
      <List {...list} />
    </Section>
  )
}

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

/** List pages: filters and order in the URL, rows loaded in parts, export as CSV. */
import { Button, Group, Stack, Text } from "@mantine/core"
import { useIntersection } from "@mantine/hooks"
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react"
import { queries } from "virtual:staff-api"
import { useAddress } from "../app/address.ts"
import { type Action, addressOf, asRows, type Request, type Row } from "../app/api.ts"
import { type Paging, useRows } from "../app/queries.ts"
import { useOperators, usePermission } from "../app/session.tsx"
import { grouped } from "../../domain/Grouped.ts"
import { Beside, type Details, onStepKey, type Steps } from "./Beside.tsx"
import { type Bulk, BulkBar, mostAtOnce } from "./Bulk.tsx"
import { type Column, DataTable } from "./DataTable.tsx"
import { type Filter, FilterInput, MoreFilters } from "./FilterInputs.tsx"
import { Refusal } from "./Refusal.tsx"
import type { RowActions } from "./RowMenu.tsx"
import { labelOf } from "./labels.ts"
import { PageHead } from "./PageHead.tsx"
import { type RowKey, type Selection, useIsMarked, useSelection } from "./selection.ts"
import { Section } from "./Section.tsx"

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

/** Filters that stand beside each other, a search and two more; others are added one by one. */
const shownAtMost = 3
const shownFirst = 2

/** The field of a range's beginning, which draws both ends. */
const beginningOf = ({ kind, name }: Filter): string => kind === "date" ? name.replace(/to$/u, "from") : name

/**
 * Filters of a list: every field of its query in the contract's order, but those of its pages and order. `changes`: another label, options that are
 * known to the page, or false for a field that the list fixes or has no use for. `first`: those that stand on the page, where there are too many for
 * all; otherwise the first two of the contract, and the time.
 */
export const filtersOf = <A extends Action>(
  action: A,
  changes: { readonly [name in QueryName<A>]?: Partial<Filter> | false } = {},
  first: ReadonlyArray<QueryName<A>> = []
): ReadonlyArray<Filter> => {
  const all = allFiltersOf(action, changes)
  const fields = all.filter((filter) => beginningOf(filter) === filter.name)
  if (fields.length <= shownAtMost) return all.map((filter) => ({ ...filter, isShown: true }))
  const times = fields.filter(({ kind }) => kind === "date")
  const shown = first.length > 0
    ? first
    : [...fields.filter(({ kind }) => kind !== "date").slice(0, shownFirst), ...times].map(({ name }) => name)
  const places = new Map<string, number>(shown.map((name, place) => [name, place]))
  const placeOf = (filter: Filter) => places.get(beginningOf(filter)) ?? places.size
  return all.map((filter) => ({ ...filter, isShown: places.has(beginningOf(filter)) }))
    .toSorted((one, other) => placeOf(one) - placeOf(other))
}

const allFiltersOf = <A extends Action>(
  action: A,
  changes: { readonly [name in QueryName<A>]?: Partial<Filter> | false }
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
  /** Actions on several rows. */
  readonly bulk?: Bulk<Row<A>>
  /** Details of a row beside the list. */
  readonly details?: Details<Row<A>>
  /** Rows of one group stand beside each other, unless the list is sorted by hand. */
  readonly groupOf?: (row: Row<A>) => string | number
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
  readonly size?: "xs" | "compact-sm"
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
  { action, filters, heading, params, query }: {
    readonly heading: string
    readonly action: A
    readonly params?: Request<A>["params"]
    readonly query: object
    readonly filters: ReadonlyArray<Filter>
  }
) {
  const [search, setSearch] = useAddress()
  // inputs keep their own text: they are remounted when cleared
  const [clearings, setClearings] = useState(0)
  const isFiltered = filters.some(({ name }) => search[name] !== undefined)
  const operators = useOperators()
  const more = filters.filter(({ isShown, kind }) => isShown === false && (kind !== "operator" || operators.length > 1))
  const form = useRef<HTMLDivElement>(null)
  const clear = () => {
    setSearch(Object.fromEntries(filters.map(({ name }) => [name, undefined])))
    setClearings((count) => count + 1)
  }
  // the button that had the focus goes with the last filter
  useEffect(() => {
    if (clearings > 0) form.current?.querySelector<HTMLElement>("input, button")?.focus({ preventScroll: true })
  }, [clearings])
  return (
    <Group
      component="form"
      ref={form}
      className="filters"
      role="search"
      aria-label={`Filters of ${heading}`}
      align="flex-start"
      gap="xs"
      onSubmit={(event: React.FormEvent) => event.preventDefault()}
    >
      {filters.filter(({ isShown }) => isShown !== false).map((filter) => (
        <FilterInput
          key={`${filter.name}-${clearings}`}
          filter={filter}
          value={search[filter.name] ?? ""}
          onChange={(value) => setSearch({ [filter.name]: value })}
        />
      ))}
      {/* beside the inputs, below the labels */}
      <Group gap="xs" mt={20}>
        {more.length > 0 && <MoreFilters filters={more} />}
        {isFiltered && <Button size="xs" variant="default" onClick={clear}>Clear</Button>}
        <ExportLinks action={action} params={params} query={query} />
      </Group>
    </Group>
  )
}

/** Distance from the end of a list at which the next part is loaded. */
const nearPx = 600

/** Focus of the button that loads more rows: once the last are there it is gone, and the focus goes to the first row that it brought. */
const useMoreButton = (count: number, hasMore: boolean) => {
  const frame = useRef<HTMLDivElement>(null)
  const focused = useRef<number>(undefined)
  useLayoutEffect(() => {
    const { current } = focused
    if (hasMore || current === undefined) return
    focused.current = undefined
    const row = frame.current?.querySelector<HTMLTableRowElement>(`tr[aria-rowindex="${current + 2}"]`)
    if (row === null || row === undefined || document.activeElement !== document.body) return
    row.tabIndex = -1
    row.focus()
  }, [count, hasMore])
  const focus = useMemo(() => ({
    onFocus: () => {
      focused.current = count
    },
    onBlur: () => {
      focused.current = undefined
    }
  }), [count])
  return { frame, focus }
}

/** List without a heading, as part of a page. */
export function List<A extends Action>(props: ListProps<A>) {
  const may = usePermission()
  const { action, columns, filters = [], heading, paging, rowKey, sorts } = props
  const [search, setSearch] = useAddress()
  const query = useMemo(() => {
    const named = new Set([...filters.map(({ name }) => name), ...(sorts === undefined ? [] : ["sort"])])
    return { ...props.query, ...Object.fromEntries(Object.entries(search).filter(([name]) => named.has(name))) }
  }, [filters, props.query, search, sorts])
  const list = useRows(action, { params: props.params, query }, paging)
  const sort = search["sort"]
  const { bulk, details, groupOf } = props
  const rows = useMemo(() => {
    const loaded = asRows(action, (list.data?.pages ?? []).flatMap(({ data }) => data))
    return groupOf === undefined || sort !== undefined ? loaded : grouped(loaded, groupOf)
  }, [action, groupOf, list.data, sort])
  const more = useMoreButton(rows.length, list.hasNextPage)
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

  const selection = useSelection(JSON.stringify([action, query]))
  const hasBulk = bulk !== undefined && bulk.actions.some((one) => may(one.action))
  const marking = useMemo(
    () => hasBulk && bulk !== undefined ? { selection, nameOf: bulk.nameOf } : undefined,
    [bulk, hasBulk, selection]
  )
  const markFirst = async (): Promise<void> => {
    let loaded: ReadonlyArray<Row<A>> = rows
    let hasMore = hasNextPage
    while (loaded.length < mostAtOnce && hasMore) {
      const { data, hasNextPage: goesOn } = await fetchNextPage()
      loaded = asRows(action, (data?.pages ?? []).flatMap((part) => part.data))
      hasMore = goesOn
    }
    selection.mark(loaded.slice(0, mostAtOnce).map(keyOf), true)
  }

  const param = details?.param ?? ""
  const opened = details === undefined ? undefined : search[param]
  const open = useCallback((row: Row<A>) => setSearch({ [param]: String(keyOf(row)) }), [keyOf, param, setSearch])
  const opening = useMemo(
    () => details === undefined ? undefined : { open, current: opened },
    [details, open, opened]
  )
  const frame = useRef<HTMLDivElement>(null)
  const openedWithPage = useRef(opened)
  useEffect(() => {
    if (opened !== openedWithPage.current) openedWithPage.current = undefined
  }, [opened])
  const place = opened === undefined ? -1 : rows.findIndex((row) => String(keyOf(row)) === opened)
  const here = place === -1 ? undefined : rows[place]
  // a row that has left the list was there: the next is the one now in its place
  const last = useRef(0)
  useEffect(() => {
    if (place !== -1) last.current = place
  }, [place])
  useEffect(() => {
    if (opened !== undefined && place > rows.length - 10 && hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [fetchNextPage, hasNextPage, isFetchingNextPage, opened, place, rows.length])

  const stepsOf = (): Steps => {
    const stepTo = (row: Row<A> | undefined) => row === undefined ? undefined : () => open(row)
    const next = stepTo(place === -1 ? rows[last.current] : rows[place + 1])
    const isMarked = here !== undefined && selection.has(keyOf(here))
    return {
      close: () => {
        setSearch({ [param]: undefined })
        frame.current?.querySelector<HTMLElement>("tr[data-current] a, tbody a")?.focus({ preventScroll: true })
      },
      next,
      previous: stepTo(place === -1 ? rows[last.current - 1] : rows[place - 1]),
      mark: marking === undefined || here === undefined
        ? undefined
        : () => {
          selection.toggle(keyOf(here))
          if (!isMarked) next?.()
        },
      isMarked
    }
  }

  const listed = (
    <Stack gap="sm">
      {filters.length > 0
        ? <Filters {...props} filters={filters} query={query} />
        : (
          <Group>
            <ExportLinks action={action} params={props.params} query={query} of={heading} />
          </Group>
        )}
      {list.error !== null && <Refusal error={list.error} again={() => void list.refetch()} />}
      {marking !== undefined && bulk !== undefined && (
        <BulkBar
          bulk={bulk}
          rows={rows}
          keyOf={keyOf}
          selection={selection}
          hasMore={hasNextPage}
          more={() => void markFirst()}
        />
      )}
      <DataTable
        ref={more.frame}
        label={heading}
        columns={columns}
        rows={rows}
        rowActions={props.rowActions}
        rowKey={keyOf}
        marking={marking}
        opening={opening}
        {
          // a list of which only a part is loaded is sorted by the service, or not at all
          ...(paging === "whole" && sorts === undefined ? {} : { sorts: sorts ?? none })
        }
        sort={sort ?? sortIn(props.query)}
        onSort={(next) => setSearch({ sort: next })}
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
            {...more.focus}
            // not disabled meanwhile, which would take the focus from it
            aria-busy={isFetchingNextPage}
            onClick={() => isFetchingNextPage || void fetchNextPage()}
          >
            Show more
          </Button>
        )}
      </Group>
    </Stack>
  )
  if (details === undefined) return listed
  return (
    <div
      className="beside"
      ref={frame}
      onKeyDown={(event) => opened !== undefined && onStepKey(event, stepsOf())}
    >
      <div className="listed">{listed}</div>
      {opened !== undefined && (
        <MarkedBeside
          heading={details.headingOf(opened, here)}
          takesFocus={() => opened !== openedWithPage.current}
          stepsOf={stepsOf}
          selection={selection}
          rowKey={here === undefined ? "" : keyOf(here)}
        >
          {details.draw(opened, here)}
        </MarkedBeside>
      )}
    </div>
  )
}

/** Details beside the list, drawn again when their row is marked. */
function MarkedBeside({ children, heading, rowKey, selection, stepsOf, takesFocus }: {
  readonly takesFocus: () => boolean
  readonly heading: string
  readonly stepsOf: () => Steps
  readonly selection: Selection
  readonly rowKey: RowKey
  readonly children: React.ReactNode
}) {
  useIsMarked(selection, rowKey)
  return <Beside heading={heading} steps={stepsOf()} takesFocus={takesFocus}>{children}</Beside>
}

/** Order that a list has before it is sorted by hand. */
const sortIn = (query: Readonly<Record<string, unknown>> | undefined): string | undefined => {
  const sort = query?.["sort"]
  return typeof sort === "string" ? sort : undefined
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

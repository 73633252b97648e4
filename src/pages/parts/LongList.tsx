/** Lists of any known length: random access by scrolling, with only the rows near the viewport loaded and rendered. */
import { Stack, Table, Text } from "@mantine/core"
import { useDebouncedValue, useMediaQuery } from "@mantine/hooks"
import { useWindowVirtualizer } from "@tanstack/react-virtual"
import { useLayoutEffect, useMemo, useRef, useState } from "react"
import { useAddress } from "../app/address.ts"
import { type Action, asRows, type Request, type Row } from "../app/api.ts"
import { locale } from "../app/locale.ts"
import { useRowWindow } from "../app/queries.ts"
import { type Column, useRowDrawing, useTellingColumns } from "./DataTable.tsx"
import type { Filter } from "./FilterInputs.tsx"
import { Filters } from "./ListPage.tsx"
import { Refusal } from "./Refusal.tsx"
import { useScrollRegion } from "./scrolling.ts"

const rowHeight = 33

/** Heights of a card on a narrow page: a line, its frame, and the gap to the next. */
const cardLineHeight = 24
const cardFrameHeight = 14
const cardGap = 8

const linesOf = <R extends object>({ lines, width }: Column<R>): number => lines ?? (width === undefined ? 3 : 1)

/** Maximum rows; browsers limit the height of an element. */
const maxRows = 400_000

/** Rows rendered above and below the viewport: few, since each jump renders them all again. */
const overscan = 8

/** Delay before loading, so that dragging the scroll bar loads nothing. */
const restMs = 80

/** Width below which the list scrolls: of the column without a width, what a link to a round needs. */
const widthOf = <R extends object>(columns: ReadonlyArray<Column<R>>): number =>
  columns.reduce((sum, { width = 180 }) => sum + width, 0)

/** List that the service pages with its length known. Every column but one has a width. */
export function LongList<A extends Action>(
  { action, columns: given, empty, filters, heading, params }: {
    readonly heading: string
    readonly action: A
    readonly params?: Request<A>["params"]
    readonly filters: ReadonlyArray<Filter>
    readonly columns: ReadonlyArray<Column<Row<A>>>
    readonly empty: string
  }
) {
  const [search] = useAddress()
  const columns = useTellingColumns(given)
  const query = useMemo(
    () => Object.fromEntries(filters.flatMap(({ name }) => search[name] === undefined ? [] : [[name, search[name]]])),
    [filters, search]
  )
  const isFiltered = Object.keys(query).length > 0
  const [window, setWindow] = useState<readonly [number, number]>([0, 0])
  const [[from, to]] = useDebouncedValue(window, restMs, { leading: true })
  const list = useRowWindow(action, { params, query }, from, to)
  const total = Math.min(list.total ?? 0, maxRows)

  // as in the style sheet
  const isNarrow = useMediaQuery("(max-width: 48em)", false, { getInitialValueInEffect: false })
  const height = isNarrow
    ? columns.reduce((sum, column) => sum + linesOf(column), 0) * cardLineHeight + cardFrameHeight + cardGap
    : rowHeight

  const body = useRef<HTMLTableSectionElement>(null)
  const scroll = useScrollRegion(`Rows of ${heading}`)
  const [offset, setOffset] = useState(0)
  useLayoutEffect(() => {
    if (body.current !== null) setOffset(body.current.getBoundingClientRect().top + globalThis.scrollY)
  }, [isNarrow, list.total])
  const virtualizer = useWindowVirtualizer({
    count: total,
    estimateSize: () => height,
    overscan,
    scrollMargin: offset
  })
  useLayoutEffect(() => virtualizer.measure(), [height, virtualizer])
  const items = virtualizer.getVirtualItems()
  const [first, last] = [items[0], items.at(-1)]
  const [firstIndex, lastIndex] = [first?.index ?? 0, last?.index ?? 0]
  useLayoutEffect(() => setWindow([firstIndex, lastIndex]), [firstIndex, lastIndex])
  const before = (first?.start ?? offset) - offset
  const after = virtualizer.getTotalSize() - ((last?.end ?? offset) - offset)

  // memoised: more expensive than the rows, and the list is rendered on every scroll step
  const above = useMemo(
    () => (
      <Filters
        action={action}
        heading={heading}
        filters={filters}
        query={query}
        {...(params === undefined ? {} : { params })}
      />
    ),
    [action, filters, heading, params, query]
  )
  const head = useMemo(() => (
    <Table.Thead>
      <Table.Tr h={rowHeight}>
        {columns.map(({ align, header, id, width }) => (
          <Table.Th key={id} ta={align ?? "left"} {...(width === undefined ? {} : { w: width })}>{header}</Table.Th>
        ))}
      </Table.Tr>
    </Table.Thead>
  ), [columns])
  const draw = useRowDrawing(columns, isNarrow ? height - cardGap : height)

  return (
    <Stack gap="sm">
      {above}
      {list.error !== null && <Refusal error={list.error} again={list.refetch} />}
      <div className="table-frame long-list" ref={scroll}>
        <Table
          role="table"
          className="cards"
          miw={widthOf(columns)}
          aria-label={heading}
          aria-rowcount={total + 1}
          layout="fixed"
          stickyHeader
          highlightOnHover
          verticalSpacing={0}
          fz="sm"
        >
          {head}
          <Table.Tbody ref={body}>
            {before > 0 && <tr aria-hidden style={{ height: before }} />}
            {items.map(({ index }) => {
              const [row] = asRows(action, [list.rowAt(index)].filter((read) => read !== undefined))
              // keyed by index: a loaded row replaces its placeholder
              return draw(index, index, row)
            })}
            {after > 0 && <tr aria-hidden style={{ height: after }} />}
          </Table.Tbody>
        </Table>
      </div>
      {list.total === 0 && <Text size="sm" py="md">{isFiltered ? "Nothing matches the filters." : empty}</Text>}
      {(list.total ?? 0) > maxRows && (
        <Text size="sm">
          Only the newest {maxRows.toLocaleString(locale)} are listed. Earlier ones are found by their time.
        </Text>
      )}
    </Stack>
  )
}

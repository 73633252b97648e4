/** Tables: sortable, and virtualised when long. */
import { Table, UnstyledButton } from "@mantine/core"
import {
  type ColumnDef,
  createSortedRowModel,
  rowSortingFeature,
  type SortingState,
  sortFns,
  tableFeatures,
  useTable
} from "@tanstack/react-table"
import { useWindowVirtualizer } from "@tanstack/react-virtual"
import { createContext, useLayoutEffect, useMemo, useRef, useState } from "react"
import { useSeveralOperators } from "../app/session.tsx"
import { useKeptFocus } from "./keptFocus.ts"
import { useScrollRegion } from "./scrolling.ts"
import { type RowActions, useRowMenu } from "./RowMenu.tsx"
import { type RowKey, type Selection, useIsMarked, useMarked } from "./selection.ts"

const features = tableFeatures({ rowSortingFeature, sortedRowModel: createSortedRowModel(), sortFns })

/** Column. `value` is the sort key where the whole list is loaded; `cell` renders it. */
export interface Column<R> {
  readonly id: string
  readonly header: string
  readonly cell: (row: R) => React.ReactNode
  readonly value?: (row: R) => string | number
  readonly align?: "right"
  readonly width?: number
  /** Lines of its text on a card of a long list, at most: one, or three in a column without a width. */
  readonly lines?: number
  /** Left out for a user with one operator. */
  readonly isOfOperator?: boolean
  /** Left out while the details of a row are open beside the list. */
  readonly isAside?: boolean
}

/** Rows that can be marked. `nameOf`: accessible name of a row. */
export interface Marking<R> {
  readonly selection: Selection
  readonly nameOf: (row: R) => string
}

/** Rows whose details open beside the table. */
export interface Opening<R> {
  readonly open: (row: R) => void
  /** Key of the row that is open, as text. */
  readonly current: string | undefined
}

/** Box that marks a row. */
function RowCheck({ name, rowKey, selection }: {
  readonly name: string
  readonly rowKey: RowKey
  readonly selection: Selection
}) {
  const isMarked = useIsMarked(selection, rowKey)
  return (
    <label className="row-check">
      <input
        type="checkbox"
        checked={isMarked}
        aria-label={`Select ${name}`}
        onChange={(event) => selection.mark([rowKey], event.currentTarget.checked)}
      />
    </label>
  )
}

/** Box that marks all rows that are loaded. */
function AllCheck({ keys, label, selection }: {
  readonly keys: ReadonlyArray<RowKey>
  readonly label: string
  readonly selection: Selection
}) {
  const marked = useMarked(selection)
  const count = keys.filter((key) => marked.has(key)).length
  const isWhole = keys.length > 0 && count === keys.length
  return (
    <label className="row-check">
      <input
        type="checkbox"
        checked={isWhole}
        ref={(input) => {
          if (input !== null) input.indeterminate = count > 0 && !isWhole
        }}
        aria-label={`Select all ${label.toLowerCase()} shown`}
        onChange={() => selection.mark(keys, !isWhole)}
      />
    </label>
  )
}

/** Columns as far as they tell the user something. */
export const useTellingColumns = <R extends object>(columns: ReadonlyArray<Column<R>>): ReadonlyArray<Column<R>> => {
  const hasSeveral = useSeveralOperators()
  return useMemo(() => hasSeveral ? columns : columns.filter(({ isOfOperator }) => isOfOperator !== true), [
    columns,
    hasSeveral
  ])
}

/** True inside a table, where buttons are small. */
export const InTable = createContext(false)

/** Number of rows above which only those near the viewport are rendered. */
const drawnWhole = 60
/** Height of a row before any is drawn, pixels. */
const rowHeight = 41

/** Class names of the table. Rows are plain elements with these classes: a list renders hundreds of them. */
const classes: Readonly<Record<string, string>> = Table.classes

/**
 * Renders rows, memoised by row, index and columns: React skips elements that are identical. `height`: height of single-line rows, in pixels. A row
 * still loading is rendered as one cell.
 */
export const useRowDrawing = <R extends object>(columns: ReadonlyArray<Column<R>>, height?: number) => {
  const drawn = useMemo(() => new WeakMap<R, { readonly index: number; readonly element: React.ReactElement }>(), [
    columns,
    height
  ])
  const rowProps = { className: classes["tr"], "data-with-row-border": true, "data-hover": true, style: { height } }
  const cell = height === undefined ? classes["td"] : `${classes["td"]} one-line`
  return (key: string | number, index: number, row: R | undefined): React.ReactElement => {
    const known = row && drawn.get(row)
    if (known?.index === index && known.element.key === String(key)) return known.element
    const element = (
      <tr key={key} {...rowProps} aria-rowindex={index + 2}>
        {row === undefined ? <td className={cell} colSpan={columns.length}>…</td> : columns.map((column) => (
          <td
            key={column.id}
            className={cell}
            data-label={column.header}
            {...(column.align === undefined ? {} : { style: { textAlign: column.align } })}
          >
            {column.cell(row)}
          </td>
        ))}
      </tr>
    )
    if (row !== undefined) drawn.set(row, { index, element })
    return element
  }
}

/** Sort indicator, drawn: not every font has arrows. */
function Arrows({ sorted }: { readonly sorted: "ascending" | "descending" | undefined }) {
  return (
    <svg width="8" height="12" viewBox="0 0 8 12" fill="currentColor" aria-hidden>
      {sorted !== "descending" && <path d="M4 0 8 5H0z" opacity={sorted === undefined ? 0.45 : 1} />}
      {sorted !== "ascending" && <path d="M4 12 0 7h8z" opacity={sorted === undefined ? 0.45 : 1} />}
    </svg>
  )
}

/** Sort column; prefixed by `-` for descending. */
export type Sort = string

/** Rows of a table that are rows of data. */
const rowsIn = (body: HTMLTableSectionElement | null): ReadonlyArray<HTMLTableRowElement> =>
  [...body?.rows ?? []].filter(({ ariaHidden }) => ariaHidden !== "true")

/** The row that an event is in; null for one of a dialog or a menu, which React takes for a part of the table. */
const rowOf = (target: EventTarget, body: HTMLTableSectionElement | null): HTMLTableRowElement | null =>
  target instanceof Element && body?.contains(target) === true ? target.closest("tr") : null

/**
 * Table. `label`: accessible name. `sorts`: columns sorted by the service, with its values for ascending and descending; without it, columns with a
 * `value` are sorted locally.
 */
export function DataTable<R extends object>(
  { columns: given, label, marking, minWidth = 640, onSort, opening, ref, rowActions, rowKey, rows, sort, sorts }: {
    readonly ref?: React.Ref<HTMLDivElement>
    readonly label: string
    /** In pixels. In a narrower space the table scrolls horizontally. */
    readonly minWidth?: number
    readonly columns: ReadonlyArray<Column<R>>
    readonly rows: ReadonlyArray<R>
    /** Actions of a row, as a menu in a last column. */
    readonly rowActions?: RowActions<R> | undefined
    readonly rowKey: (row: R) => RowKey
    readonly marking?: Marking<R> | undefined
    readonly opening?: Opening<R> | undefined
    readonly sorts?: Readonly<Record<string, { readonly ascending?: string; readonly descending?: string }>>
    readonly sort?: Sort | undefined
    readonly onSort?: (sort: string | undefined) => void
  }
) {
  const { buttons, menu } = useRowMenu(rowActions)
  const telling = useTellingColumns(given)
  const isBeside = opening?.current !== undefined
  const columns = useMemo(
    (): ReadonlyArray<Column<R>> => [
      ...(marking === undefined ? [] : [{
        id: "check",
        header: "",
        width: 36,
        cell: (row: R) => <RowCheck name={marking.nameOf(row)} rowKey={rowKey(row)} selection={marking.selection} />
      }]),
      ...(isBeside ? telling.filter(({ isAside }) => isAside !== true) : telling),
      ...(buttons === undefined ? [] : [{ id: "actions", header: "", align: "right" as const, cell: buttons }])
    ],
    [buttons, isBeside, marking, rowKey, telling]
  )
  const [sorting, setSorting] = useState<SortingState>([])
  const definitions = useMemo(
    () =>
      columns.map((column): ColumnDef<typeof features, R> => ({
        id: column.id,
        header: column.header,
        accessorFn: (row) => column.value?.(row) ?? "",
        enableSorting: sorts === undefined && column.value !== undefined
      })),
    [columns, sorts]
  )
  const table = useTable({
    features,
    columns: definitions,
    data: rows,
    state: { sorting },
    onSortingChange: setSorting,
    getRowId: (row) => String(rowKey(row))
  })
  // an unsorted list is rendered directly: the row model of a very long list is rebuilt with every part loaded
  const drawn: ReadonlyArray<{ readonly id: string; readonly index: number; readonly original: R }> = useMemo(
    () =>
      sorting.length === 0
        ? rows.map((original, index) => ({ id: String(rowKey(original)), index, original }))
        : table.getRowModel().rows,
    [rowKey, rows, sorting, table]
  )
  const draw = useRowDrawing(columns)
  const body = useRef<HTMLTableSectionElement>(null)
  const keptFocus = useKeptFocus(body)
  const scroll = useScrollRegion(`Rows of ${label}`)
  const [offset, setOffset] = useState(0)
  useLayoutEffect(() => {
    const top = body.current === null ? 0 : body.current.getBoundingClientRect().top + window.scrollY
    setOffset(top)
  }, [])
  const isLong = drawn.length > drawnWhole
  // rows of two lines, and cards on a narrow page, are higher: as high as those that are drawn, on average
  const [height, setHeight] = useState(rowHeight)
  const measured = useRef("")
  const virtualizer = useWindowVirtualizer({
    count: drawn.length,
    estimateSize: () => height,
    overscan: 20,
    scrollMargin: offset,
    enabled: isLong
  })
  const items = isLong ? virtualizer.getVirtualItems() : []
  const shown = isLong ? items.flatMap(({ index }) => drawn[index] ?? []) : drawn
  const before = isLong ? (items[0]?.start ?? offset) - offset : 0
  const after = isLong ? virtualizer.getTotalSize() - (items.at(-1)?.end ?? offset) + offset : 0

  const rowAt = (row: HTMLTableRowElement): R | undefined => drawn[Number(row.ariaRowIndex) - 2]?.original
  const keyAt = (row: HTMLTableRowElement): RowKey | undefined => {
    const original = rowAt(row)
    return original === undefined ? undefined : rowKey(original)
  }

  useLayoutEffect(() => {
    const own = rowsIn(body.current)
    for (const row of own) {
      row.toggleAttribute("data-current", opening?.current !== undefined && String(keyAt(row)) === opening.current)
    }
    const [first] = own
    const last = own.at(-1)
    // once for each shape of the table: rows of other heights would move the mean with every part that is drawn
    const shape = `${columns.length} ${window.innerWidth}`
    if (!isLong || first === undefined || last === undefined || measured.current === shape) return
    measured.current = shape
    const mean = Math.round((last.getBoundingClientRect().bottom - first.getBoundingClientRect().top) / own.length)
    if (mean > 0 && Math.abs(mean - height) > 2) {
      setHeight(mean)
      virtualizer.measure()
    }
  })

  /** Row that was marked last, from which a range is marked. */
  const marked = useRef<RowKey>(undefined)
  /** Notes the row that is marked, or not any more; of a range, does the same to all from the row before it, in the order of the list. */
  const extend = ({ selection }: Marking<R>, row: R, isMarked: boolean, isRange: boolean): void => {
    const key = rowKey(row)
    const keys = isRange && marked.current !== undefined ? drawn.map(({ original }) => rowKey(original)) : []
    const ends = [keys.indexOf(marked.current ?? key), keys.indexOf(key)]
    const [from, to] = [Math.min(...ends), Math.max(...ends)]
    if (from >= 0) selection.mark(keys.slice(from, to + 1), isMarked)
    marked.current = key
  }

  /** Keys of the row that has the focus: `x` marks it, with shift the rows up to it, the arrows go to its neighbours. Elsewhere than in the table they do nothing. */
  const onKeyDown = (event: React.KeyboardEvent): void => {
    const row = rowOf(event.target, body.current)
    if (row === null || event.altKey || event.ctrlKey || event.metaKey) return
    const original = rowAt(row)
    if (event.key.toLowerCase() === "x" && marking !== undefined && original !== undefined) {
      marking.selection.toggle(rowKey(original))
      extend(marking, original, marking.selection.has(rowKey(original)), event.shiftKey)
    } else if (event.key === "Enter" && event.target instanceof HTMLInputElement && original !== undefined) {
      opening?.open(original)
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const next = event.key === "ArrowDown" ? row.nextElementSibling : row.previousElementSibling
      const control = next?.querySelector<HTMLElement>("input, a, button")
      if (control === undefined || control === null) return
      control.focus()
    } else return
    event.preventDefault()
  }

  const onClick = (event: React.MouseEvent): void => {
    const row = rowOf(event.target, body.current)
    const original = row === null ? undefined : rowAt(row)
    if (marking !== undefined && original !== undefined && event.target instanceof HTMLInputElement) {
      extend(marking, original, event.target.checked, event.shiftKey)
    }
    if (opening === undefined || original === undefined || (window.getSelection()?.toString() ?? "") !== "") return
    if (event.target instanceof Element && event.target.closest("a, button, input, label") === null) {
      opening.open(original)
    }
  }

  const sortOf = (column: Column<R>): "ascending" | "descending" | undefined => {
    const own = sorts?.[column.id]
    if (own !== undefined) {
      return sort === undefined
        ? undefined
        : sort === own.ascending
        ? "ascending"
        : sort === own.descending
        ? "descending"
        : undefined
    }
    const state = sorting.find(({ id }) => id === column.id)
    return state === undefined ? undefined : state.desc ? "descending" : "ascending"
  }

  const turn = (column: Column<R>): void => {
    const own = sorts?.[column.id]
    if (own === undefined) {
      table.getColumn(column.id)?.toggleSorting()
      return
    }
    const now = sortOf(column)
    onSort?.(
      now === "descending"
        ? own.ascending ?? undefined
        : now === "ascending"
        ? undefined
        : own.descending ?? own.ascending
    )
  }

  const isSortable = (column: Column<R>) =>
    sorts === undefined ? column.value !== undefined && rows.length > 1 : sorts[column.id] !== undefined

  return (
    <InTable value={true}>
      <div className="table-frame" ref={ref} {...keptFocus} onKeyDown={onKeyDown} onClick={onClick}>
        <div className="table-scroll" ref={scroll}>
          <Table
            miw={minWidth}
            role="table"
            className={opening === undefined ? "cards" : "cards opens"}
            aria-label={label}
            aria-rowcount={rows.length + 1}
            highlightOnHover
            verticalSpacing={6}
            fz="sm"
          >
            <Table.Thead>
              <Table.Tr>
                {columns.map((column) => {
                  const sorted = sortOf(column)
                  return (
                    <Table.Th
                      key={column.id}
                      ta={column.align ?? "left"}
                      {...(column.width === undefined ? {} : { w: column.width })}
                      {...(sorted === undefined ? {} : { "aria-sort": sorted })}
                    >
                      {isSortable(column)
                        ? (
                          <UnstyledButton fz="sm" fw={600} onClick={() => turn(column)}>
                            {column.header} <Arrows sorted={sorted} />
                          </UnstyledButton>
                        )
                        : column.id === "check" && marking !== undefined
                        ? (
                          <AllCheck
                            keys={drawn.map(({ original }) => rowKey(original))}
                            label={label}
                            selection={marking.selection}
                          />
                        )
                        : column.header === ""
                        ? <span className="visually-hidden">Actions</span>
                        : column.header}
                    </Table.Th>
                  )
                })}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody ref={body}>
              {before > 0 && <tr aria-hidden style={{ height: before }} />}
              {shown.map(({ id, index, original }) => draw(id, index, original))}
              {after > 0 && <tr aria-hidden style={{ height: after }} />}
            </Table.Tbody>
          </Table>
        </div>
        {menu}
      </div>
    </InTable>
  )
}

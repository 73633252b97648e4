/** Rows of tables: elements of the browser with the classes of the table's own, for a list draws hundreds of them. */
import { Table } from "@mantine/core"
import { useMemo } from "react"
import type { Column } from "./DataTable.tsx"

const classes: Readonly<Record<string, string>> = Table.classes

/** The cells of a row. */
export const cellsOf = <R extends object>(columns: ReadonlyArray<Column<R>>, row: R | undefined, className = "") =>
  columns.map(({ align, cell, id }) => (
    <td
      key={id}
      className={`${classes["td"]} ${className}`}
      {...(align === undefined ? {} : { style: { textAlign: align } })}
    >
      {row === undefined ? "…" : cell(row)}
    </td>
  ))

/** What every row is drawn with. */
export const rowLook = { className: classes["tr"], "data-with-row-border": true, "data-hover": true }

/** Draws rows, each once while it, its place and the columns stay the same: React passes over an element that it has already drawn. */
export const useRowDrawing = <R extends object>(columns: ReadonlyArray<Column<R>>) => {
  const drawn = useMemo(() => new WeakMap<R, { readonly index: number; readonly element: React.ReactElement }>(), [
    columns
  ])
  return (key: string, index: number, row: R): React.ReactElement => {
    const known = drawn.get(row)
    if (known?.index === index && known.element.key === key) return known.element
    const element = <tr key={key} {...rowLook} aria-rowindex={index + 2}>{cellsOf(columns, row)}</tr>
    drawn.set(row, { index, element })
    return element
  }
}

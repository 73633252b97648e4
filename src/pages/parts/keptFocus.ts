/** Keeps the keyboard focus in a table when its rows change. */
import { type RefObject, useLayoutEffect, useRef } from "react"

/** Ancestors of elements from which the focus comes back. */
const passing = "[role=dialog], [role=menu]"

/**
 * Keeps the focus in a table when the element that has it, or had it before a dialog, is removed: it goes to the element's row, else to the row now in
 * its place, else to the heading. Returns the listeners of the table.
 */
export const useKeptFocus = (body: RefObject<HTMLTableSectionElement | null>) => {
  const last = useRef<{ readonly element: Element; readonly row: HTMLTableRowElement; readonly index: number }>(
    undefined
  )
  useLayoutEffect(() => {
    const { current } = last
    if (current === undefined || current.element.isConnected || document.activeElement !== document.body) return
    const rows = [...body.current?.rows ?? []].filter(({ ariaHidden }) => ariaHidden !== "true")
    const next = current.row.isConnected
      ? current.row
      : rows[Math.min(current.index, rows.length - 1)] ?? body.current?.closest("table")?.rows[0]
    last.current = undefined
    if (next === undefined) return
    next.tabIndex = -1
    next.focus({ preventScroll: true })
  })
  // focus events of a dialog reach the table as well: React takes it for a part of its row
  const isInside = (target: Element): boolean => body.current?.contains(target) === true
  return {
    onFocus: ({ target }: React.FocusEvent): void => {
      const row = isInside(target) ? target.closest("tr") : null
      if (row !== null) last.current = { element: target, row, index: row.sectionRowIndex }
    },
    onBlur: ({ relatedTarget, target }: React.FocusEvent): void => {
      if (isInside(target) && (relatedTarget === null || relatedTarget.closest(passing) === null)) {
        last.current = undefined
      }
    }
  }
}

/** Selected rows of a list, kept outside React's state, so that selecting a row renders no other row again. */
import { useMemo, useSyncExternalStore } from "react"

export type RowKey = string | number

export interface Selection {
  readonly has: (key: RowKey) => boolean
  /** Marks a row, or takes the mark away. */
  readonly toggle: (key: RowKey) => void
  /** Marks these rows, or takes their marks away, and leaves the others. */
  readonly mark: (keys: Iterable<RowKey>, isMarked: boolean) => void
  /** Takes all marks away. */
  readonly clear: () => void
  /** The marked rows; another set after each change. */
  readonly keys: () => ReadonlySet<RowKey>
  readonly subscribe: (listener: () => void) => () => void
}

const makeSelection = (): Selection => {
  let marked: ReadonlySet<RowKey> = new Set()
  const listeners = new Set<() => void>()
  const set = (next: ReadonlySet<RowKey>): void => {
    marked = next
    for (const listener of listeners) listener()
  }
  const mark: Selection["mark"] = (keys, isMarked) => {
    const next = new Set(marked)
    for (const key of keys) {
      if (isMarked) next.add(key)
      else next.delete(key)
    }
    set(next)
  }
  return {
    has: (key) => marked.has(key),
    toggle: (key) => mark([key], !marked.has(key)),
    mark,
    clear: () => set(new Set()),
    keys: () => marked,
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    }
  }
}

/** Selection of a list; another one where `scope` is another: what is marked under one filter is not under the next. */
export const useSelection = (scope: string): Selection =>
  useMemo(() => {
    void scope
    return makeSelection()
  }, [scope])

export const useIsMarked = (selection: Selection, key: RowKey): boolean =>
  useSyncExternalStore(selection.subscribe, () => selection.has(key))

export const useMarked = (selection: Selection): ReadonlySet<RowKey> =>
  useSyncExternalStore(selection.subscribe, selection.keys)

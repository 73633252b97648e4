/** Pages that the user's role may open. */
import { type PageEntry, pages } from "./pages.ts"
import { usePermission } from "./session.tsx"

export const useVisiblePages = (): ReadonlyArray<PageEntry> => {
  const may = usePermission()
  return pages.filter(({ action }) => action === undefined || may(action))
}

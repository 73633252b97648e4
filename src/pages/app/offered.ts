/** Pages that the role may open. */
import { type PageEntry, pages } from "./pages.ts"
import { useMay } from "./session.tsx"

export const useOffered = (): ReadonlyArray<PageEntry> => {
  const may = useMay()
  return pages.filter(({ action }) => action === undefined || may(action))
}

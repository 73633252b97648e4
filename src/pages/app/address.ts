/** URL of a page: its path parameters and query, as plain text. */
import { useLocation, useParams, useRouter } from "@tanstack/react-router"
import { useMemo } from "react"

export type Search = Readonly<Record<string, string>>

/** Query of this page's address, and its setter: undefined and empty values remove a field. */
export const useAddress = (): readonly [Search, (changes: Readonly<Record<string, string | undefined>>) => void] => {
  const { pathname, searchStr } = useLocation()
  const { history } = useRouter()
  return useMemo(() => {
    const search: Search = Object.fromEntries(new URLSearchParams(searchStr))
    return [search, (changes) => {
      // the address of now: this page may not have been drawn since the last change
      const next = new URLSearchParams(history.location.search)
      for (const [name, value] of Object.entries(changes)) {
        if (value === undefined || value === "") next.delete(name)
        else next.set(name, value)
      }
      const text = next.toString()
      history.replace(text === "" ? pathname : `${pathname}?${text}`)
    }]
  }, [history, pathname, searchStr])
}

/** Path parameter of this page: `player` of `/players/$player`. */
export const usePathPart = (name: string): string => {
  const parts: unknown = useParams({ strict: false })
  return typeof parts === "object" && parts !== null ? String(Reflect.get(parts, name) ?? "") : ""
}

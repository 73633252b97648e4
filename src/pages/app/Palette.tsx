/** Command palette: finds players, rounds and payments by any id, and pages by name. */
import { Spotlight, spotlight, type SpotlightActionData } from "@mantine/spotlight"
import "@mantine/spotlight/styles.css"
import { useDebouncedValue } from "@mantine/hooks"
import { useRouter } from "@tanstack/react-router"
import { type RefObject, useEffect, useLayoutEffect, useState } from "react"
import { useVisiblePages } from "./visiblePages.ts"
import { useAnswer } from "./queries.ts"
import { usePermission } from "./session.tsx"

const kinds: Readonly<Record<string, string>> = {
  player: "Player",
  payment: "Payment",
  round: "Round",
  transaction: "Transaction",
  operator: "Operator",
  game: "Game"
}

export default function Palette({ opener }: { readonly opener: RefObject<(() => void) | undefined> }) {
  const [text, setText] = useState("")
  const [asked] = useDebouncedValue(text.trim(), 150)
  const router = useRouter()
  const visible = useVisiblePages()
  const may = usePermission()
  useEffect(() => {
    opener.current = spotlight.open
    spotlight.open()
  }, [opener])
  const found = useAnswer("search.find", { query: { q: asked } }, { enabled: asked !== "" && may("search.find") })
  // Enter opens the first: results come after the text, when the package has marked nothing
  useLayoutEffect(() => {
    if (document.querySelector("[data-action][data-selected]") !== null) return
    document.querySelector("[data-action]")?.setAttribute("data-selected", "true")
  }, [found.data])
  const go = (href: string) => () => router.history.push(href)
  const actions: ReadonlyArray<SpotlightActionData> = [
    ...(asked === "" ? [] : found.data?.data ?? []).map(({ detail, href, id, kind, label }) => ({
      id: `${kind}-${id}`,
      label: `${kinds[kind] ?? kind} ${label}`,
      description: detail ?? "",
      onClick: go(href)
    })),
    ...visible.filter(({ heading }) => heading.toLowerCase().includes(text.trim().toLowerCase())).map((
      { heading, path }
    ) => ({ id: `page-${path}`, label: heading, description: "Page", onClick: go(path) }))
  ]
  return (
    <Spotlight
      actions={[...actions]}
      query={text}
      onQueryChange={setText}
      // filtered by the service
      filter={(_, all) => all}
      nothingFound={asked === ""
        ? "Type a name, an e-mail, a phone number, an id or a reference."
        : "Nothing found. Ids are found whole, names by the beginnings of their words."}
      searchProps={{ placeholder: "Name, id, round, page …", "aria-label": "Find" }}
      shortcut={null}
      // a blurred page is repainted on every key: seconds without a graphics card
      overlayProps={{ backgroundOpacity: 0.5, blur: 0 }}
      attributes={{ content: { "aria-label": "Find" } }}
      scrollable
      maxHeight={420}
    />
  )
}

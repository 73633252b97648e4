/** Server-sent events: pages are updated without polling. */
import { useEffect } from "react"
import { addressOf } from "./api.ts"
import { queryClient, refetchNouns } from "./queries.ts"

/** Nouns of the actions whose answers an event invalidates. */
const nounsOf: Readonly<Record<string, ReadonlyArray<string>>> = {
  payments: ["payment", "correction"],
  alerts: ["alert"],
  deliveries: ["delivery", "webhook"],
  jobs: ["job"]
}

/** Minimum interval between refetches of lists caused by events, in ms. */
const refetchMs = 10_000

const parsed = (event: Event): unknown => {
  try {
    return event instanceof MessageEvent ? JSON.parse(String(event.data)) : undefined
  } catch {
    return undefined
  }
}

/** Subscribes while the page is visible. The browser reconnects when the stream breaks. */
export const useLive = (isAllowed: boolean): void => {
  useEffect(() => {
    if (!isAllowed) return
    const source = new EventSource(addressOf("figures.live", undefined, undefined))
    source.addEventListener("overview", (event) => {
      const data = parsed(event)
      if (data !== undefined) queryClient.setQueryData(["figures.overview", {}], { data })
    })
    const old = new Set<string>()
    let timer: ReturnType<typeof setTimeout> | undefined
    source.addEventListener("changed", (event) => {
      const data = parsed(event)
      if (typeof data !== "object" || data === null || !("kind" in data)) return
      for (const noun of nounsOf[String(data.kind)] ?? []) old.add(noun)
      // the first event takes effect at once, later ones together: a busy casino has one every two seconds
      if (timer !== undefined) return
      const read = () => {
        timer = old.size === 0 ? undefined : setTimeout(read, refetchMs)
        if (old.size > 0) refetchNouns(...old)
        old.clear()
      }
      read()
    })
    return () => {
      clearTimeout(timer)
      source.close()
    }
  }, [isAllowed])
}

/** Time zone preference of the user. Stored in the browser. */
import { useLocalStorage } from "@mantine/hooks"
import { createContext, useContext, useMemo } from "react"

const key = "pitboss.timeZone"

/** Time zone of the browser. */
export const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone

type Zone = readonly [zone: string, change: (zone: string) => void]

const ZoneContext = createContext<Zone>([ownZone, () => undefined])

/** Subscribes to the preference once per page: a list shows hundreds of times. */
export function ZoneProvider({ children }: { readonly children: React.ReactNode }) {
  const [zone, change] = useLocalStorage<string>({ key, defaultValue: ownZone, getInitialValueInEffect: false })
  const value: Zone = useMemo(() => [zone, change], [zone, change])
  return <ZoneContext value={value}>{children}</ZoneContext>
}

/** Time zone of displayed times, and its setter. */
export const useTimeZone = (): Zone => useContext(ZoneContext)

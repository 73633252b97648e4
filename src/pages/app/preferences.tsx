/** How the person wants times shown. Kept in the browser. */
import { useLocalStorage } from "@mantine/hooks"
import { createContext, useContext, useMemo } from "react"

const key = "pitboss.timeZone"

/** The browser's own zone. */
export const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone

type Zone = readonly [zone: string, change: (zone: string) => void]

const ZoneContext = createContext<Zone>([ownZone, () => undefined])

/** Watches the preference once for the whole page: a list shows hundreds of times. */
export function ZoneProvider({ children }: { readonly children: React.ReactNode }) {
  const [zone, change] = useLocalStorage<string>({ key, defaultValue: ownZone, getInitialValueInEffect: false })
  const value: Zone = useMemo(() => [zone, change], [zone, change])
  return <ZoneContext value={value}>{children}</ZoneContext>
}

/** Zone in which times are shown, and how to change it. */
export const useTimeZone = (): Zone => useContext(ZoneContext)

/** How the person wants times and amounts shown. Kept in the browser. */
import { useLocalStorage } from "@mantine/hooks"

const key = "pitboss.timeZone"

/** The browser's own zone. */
export const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** Zone in which times are shown, and how to change it. */
export const useTimeZone = () => useLocalStorage<string>({ key, defaultValue: ownZone, getInitialValueInEffect: false })

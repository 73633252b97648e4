/** Text codec of a player's days of activity, as stored in one column: eight day numbers in a fixed order, comma-separated; empty for none. */
import { type Activity, noActivity, noDay } from "../../domain/state/Activity.ts"

export const encodeActivity = (activity: Activity): string => {
  if (activity === noActivity) return ""
  const { deposit, live, rng, withdrawal } = activity
  return `${rng.last},${rng.before},${live.last},${live.before},${deposit.last},${deposit.before},${withdrawal.last},${withdrawal.before}`
}

export const decodeActivity = (text: string): Activity => {
  if (text === "") return noActivity
  const values = text.split(",").map(Number)
  const at = (index: number) => ({ last: values[index] ?? noDay, before: values[index + 1] ?? noDay })
  return { rng: at(0), live: at(2), deposit: at(4), withdrawal: at(6) }
}

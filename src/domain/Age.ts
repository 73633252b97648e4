/**
 * Time since an instant as text (`7 weeks`), such as how long a withdrawal has waited: in the largest unit that it contains at least twice, else in
 * days.
 */

const dayMs = 86_400_000

const units: ReadonlyArray<readonly [name: string, ms: number]> = [
  ["year", 365.25 * dayMs],
  ["month", 30.44 * dayMs],
  ["week", 7 * dayMs],
  ["day", dayMs]
]

/** Instants are epoch milliseconds. */
export const ageText = (since: number, now: number): string => {
  const age = Math.max(0, now - since)
  const [name, ms] = units.find(([, length]) => age >= 2 * length) ?? ["day", dayMs]
  const count = Math.floor(age / ms)
  return count === 0 ? "today" : `${count} ${name}${count === 1 ? "" : "s"}`
}

import type { CommitCounts } from "../targets/Target.ts"

/** A sample line without its labels and timestamp. */
const samplePattern = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{[^}]*\})? (\S+)/

/**
 * The number of group commits and of units in them, from the first histogram in a Prometheus text whose name speaks of
 * a group commit or a batch and is not about time. Undefined when there is none.
 */
export const parseCommitCounts = (text: string): CommitCounts | undefined => {
  const sums = new Map<string, number>()
  for (const line of text.split("\n")) {
    const match = samplePattern.exec(line)
    if (match === null) continue
    const [, name = "", value = ""] = match
    sums.set(name, (sums.get(name) ?? 0) + Number(value))
  }
  for (const [name, commits] of sums) {
    const base = name.endsWith("_count") ? name.slice(0, -"_count".length) : undefined
    if (base === undefined || !/commit|batch/.test(base) || /second|_ms|duration|latency/.test(base)) continue
    const units = sums.get(`${base}_sum`)
    if (units !== undefined) return { commits, units }
  }
  return undefined
}

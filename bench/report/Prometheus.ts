import type { CommitCounts, WaitName, Waits, Work } from "../targets/Target.ts"

/** A sample line without its labels and timestamp. */
const samplePattern = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{[^}]*\})? (\S+)/

/** The sum of each metric over its labels, by name, of a Prometheus text. */
const sumsOf = (text: string): ReadonlyMap<string, number> => {
  const sums = new Map<string, number>()
  for (const line of text.split("\n")) {
    const match = samplePattern.exec(line)
    if (match === null) continue
    const [, name = "", value = ""] = match
    sums.set(name, (sums.get(name) ?? 0) + Number(value))
  }
  return sums
}

/** Calls that a node has sent to others, and the messages they were in. */
export interface SentCounts {
  readonly calls: number
  readonly messages: number
}

export const parseSentCounts = (text: string): SentCounts => {
  const sums = sumsOf(text)
  return {
    calls: sums.get("pitboss_cluster_calls_sent_total") ?? 0,
    messages: sums.get("pitboss_cluster_messages_sent_total") ?? 0
  }
}

/**
 * The number of group commits and of units in them, from the first histogram in a Prometheus text whose name speaks of
 * a group commit or a batch and is not about time. Undefined when there is none.
 */
export const parseCommitCounts = (text: string): CommitCounts | undefined => {
  const sums = sumsOf(text)
  for (const [name, commits] of sums) {
    const base = name.endsWith("_count") ? name.slice(0, -"_count".length) : undefined
    if (base === undefined || !/commit|batch/.test(base) || /second|_ms|duration|latency/.test(base)) continue
    const units = sums.get(`${base}_sum`)
    if (units !== undefined) return { commits, units }
  }
  return undefined
}

/** Histogram of the service for each wait, with the labels that choose its series. */
const histograms: ReadonlyMap<WaitName, string> = new Map([
  ["commit before", "pitboss_journal_wait_seconds_bucket{"],
  ["commit", "pitboss_journal_commit_seconds_bucket{"],
  ["scavenge", "nodejs_gc_duration_seconds_bucket{kind=\"minor\","],
  ["mark-compact", "nodejs_gc_duration_seconds_bucket{kind=\"major\","]
])

const bucketPattern = /le="([^"]+)"[^}]*\} (\S+)/

const waitsOf = (lines: ReadonlyArray<string>, start: string): Waits =>
  lines.filter((line) => line.startsWith(start)).flatMap((line) => {
    const [, bound, count] = bucketPattern.exec(line) ?? []
    return bound === undefined ? [] : [[bound === "+Inf" ? Infinity : Number(bound), Number(count)] as const]
  })

/** Commits and waits so far, of a service's Prometheus text. Undefined when it has no commits. */
export const parseWork = (text: string): Work | undefined => {
  const counts = parseCommitCounts(text)
  if (counts === undefined) return undefined
  const lines = text.split("\n")
  return { ...counts, waits: new Map([...histograms].map(([name, start]) => [name, waitsOf(lines, start)])) }
}

/** Waits between two readings. */
export const waitsBetween = (before: Waits, after: Waits): Waits => {
  const counts = new Map(before)
  return after.map(([seconds, count]) => [seconds, count - (counts.get(seconds) ?? 0)] as const)
}

/** Milliseconds that a share of the waits took at most, interpolated within its bucket; undefined when nothing waited. */
export const waitOf = (waits: Waits, share: number): number | undefined => {
  const total = waits.at(-1)?.[1] ?? 0
  if (total === 0) return undefined
  const index = waits.findIndex(([, count]) => count >= share * total)
  const [upper, count] = waits[index] ?? [Infinity, total]
  const [lower, below] = waits[index - 1] ?? [0, 0]
  if (upper === Infinity) return 1000 * lower
  return 1000 * (lower + (upper - lower) * (share * total - below) / Math.max(1, count - below))
}

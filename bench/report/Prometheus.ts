import type { CommitCounts } from "../targets/Target.ts"

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

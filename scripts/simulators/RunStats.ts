/** Counts of a run: calls, answers, rounds, and everything that differed. */
import { Clock, Effect } from "effect"

/** Differences that are kept word for word; the others are only counted. */
const maxDifferencesKept = 100

/** Latencies that are kept, the latest ones. */
const maxLatencies = 1_000_000

export class RunStats {
  /** Calls that went out, repeats and those that were given up among them. */
  calls = 0
  differenceCount = 0
  readonly differences: Array<string> = []
  readonly answers = new Map<string, number>()
  readonly scenarios = new Map<string, number>()
  readonly #latencies_ms: Array<number> = []
  #answered = 0

  countLatency(latency_ms: number): void {
    this.#latencies_ms[this.#answered % maxLatencies] = latency_ms
    this.#answered++
  }

  countAnswer(...labels: ReadonlyArray<string>): void {
    for (const label of labels) this.answers.set(label, (this.answers.get(label) ?? 0) + 1)
  }

  countScenario(name: string): void {
    this.scenarios.set(name, (this.scenarios.get(name) ?? 0) + 1)
  }

  differ(text: string): void {
    this.differenceCount++
    if (this.differences.length < maxDifferencesKept) this.differences.push(text)
  }

  /** The latencies that these shares of the calls did not exceed, in milliseconds; 0 before the first answer. */
  latencies(...shares: ReadonlyArray<number>): ReadonlyArray<number> {
    const sorted = this.#latencies_ms.toSorted((a, b) => a - b)
    return shares.map((share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
  }
}

/** How far a run may fall behind its rate and still catch up, in milliseconds. */
const backlog_ms = 1000

/** Waits for one's turn: turns come at a fixed rate for all who share it, however long the answers take. */
export const makePace = (callsPerSecond: number): Effect.Effect<void> => {
  const interval_ms = 1000 / callsPerSecond
  let next_ms: number | undefined
  return Effect.flatMap(Clock.currentTimeMillis, (now_ms) => {
    const turn_ms = next_ms === undefined ? now_ms : Math.max(next_ms, now_ms - backlog_ms)
    next_ms = turn_ms + interval_ms
    return turn_ms > now_ms ? Effect.sleep(turn_ms - now_ms) : Effect.void
  })
}

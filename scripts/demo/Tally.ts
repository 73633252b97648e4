/** Counts of a run: requests, answers, rounds, and violations. */
import { Clock, Effect } from "effect"

export class Tally {
  /** Requests that went out, retries among them. */
  requests = 0
  readonly latencies_ms: Array<number> = []
  readonly answers = new Map<string, number>()
  readonly stories = new Map<string, number>()
  readonly violations: Array<string> = []

  countAnswers(labels: ReadonlyArray<string>): void {
    for (const label of labels) this.answers.set(label, (this.answers.get(label) ?? 0) + 1)
  }

  countStory(name: string): void {
    this.stories.set(name, (this.stories.get(name) ?? 0) + 1)
  }

  violate(complaint: string): void {
    this.violations.push(complaint)
  }

  /** The latencies that these shares of the requests did not exceed, in milliseconds; 0 before the first answer. */
  latencies(...shares: ReadonlyArray<number>): ReadonlyArray<number> {
    const sorted = this.latencies_ms.toSorted((a, b) => a - b)
    return shares.map((share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
  }
}

/** How far a run may fall behind its rate and still catch up, in milliseconds. */
const backlog_ms = 1000

/** Rate limiter: waits so that all users together proceed `ratePerSecond` times a second. */
export const makePace = (ratePerSecond: number): Effect.Effect<void> => {
  const interval_ms = 1000 / ratePerSecond
  let next_ms: number | undefined
  return Effect.flatMap(Clock.currentTimeMillis, (now_ms) => {
    const turn_ms = next_ms === undefined ? now_ms : Math.max(next_ms, now_ms - backlog_ms)
    next_ms = turn_ms + interval_ms
    return turn_ms > now_ms ? Effect.sleep(turn_ms - now_ms) : Effect.void
  })
}

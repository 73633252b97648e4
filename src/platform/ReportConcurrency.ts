import { Context, Effect, Layer, Semaphore } from "effect"
import * as Os from "node:os"
import { type ConcurrencyLimit, makeLimit } from "./ConcurrencyLimit.ts"

/** Half of the processors, since PostgreSQL may run on this machine; bets need the others. */
export const maxReading = Math.min(4, Math.max(1, Math.floor(Os.availableParallelism() / 2)))

/**
 * Concurrency of statements that read whole tables, of all kinds together: reports, key figures, verifications
 * (`docs/decisions/0038-bounded-background-work.md`).
 */
export class ReportConcurrency extends Context.Service<ReportConcurrency, {
  /** Waits for its turn, ten seconds and with fifty others at most; beyond that it fails with the refusal. */
  readonly limit: ConcurrencyLimit
  /** Waits for its turn as long as it takes: for the statements of a verification, between two of which those who wait have theirs. */
  readonly patiently: <A, E, R>(statement: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}>()("pitboss/platform/ReportConcurrency") {
  static readonly layer = Layer.effect(
    ReportConcurrency,
    Effect.map(Semaphore.make(maxReading), (semaphore) =>
      ReportConcurrency.of({
        limit: makeLimit(semaphore, { maxWaiting: 50, maxWait: "10 seconds" }),
        patiently: semaphore.withPermits(1)
      }))
  )
}

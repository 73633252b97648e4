/**
 * Concurrency limit of all reports and key figures together: half of the processors and at most four, since PostgreSQL may run on this machine and
 * bets need the others (`docs/decisions/0038-bounded-background-work.md`).
 */
import { Context, Effect, Layer } from "effect"
import * as Os from "node:os"
import { type ConcurrencyLimit, makeConcurrencyLimit } from "./ConcurrencyLimit.ts"

/** A report waits for its turn, ten seconds and with fifty others at most. */
export class ReportConcurrency extends Context.Service<ReportConcurrency, ConcurrencyLimit>()(
  "pitboss/platform/ReportConcurrency"
) {
  static readonly layer = Layer.effect(
    ReportConcurrency,
    Effect.suspend(() =>
      makeConcurrencyLimit({
        maxRunning: Math.min(4, Math.max(1, Math.floor(Os.availableParallelism() / 2))),
        maxWaiting: 50,
        maxWait: "10 seconds"
      })
    )
  )
}

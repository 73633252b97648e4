/** Jobs that go by an operator's clock: run by real time for most operators, and by its own clock for each sandbox (an operator for tests). */
import { Effect } from "effect"
import type { Refusal } from "../../domain/Refusal.ts"
import type { Job, JobResult } from "../../platform/Scheduler.ts"
import { Bonuses } from "../bonuses/Bonuses.ts"
import { DueObligations } from "../obligations/DueObligations.ts"
import { DueAccountChanges } from "../players/DueAccountChanges.ts"
import { DormantAccounts } from "../position/DormantAccounts.ts"
import { DueSessions } from "../position/DueSessions.ts"
import { Screenings } from "../screenings/Screenings.ts"
import { StaleRounds } from "../settlement/StaleRounds.ts"
import { rulesEveryMs } from "./DueInstants.ts"

interface ClockJob extends Job {
  readonly run: Effect.Effect<JobResult, Refusal<"TRY_AGAIN">>
}

/** Job by whose last run a starting service knows a settled time. */
export const settledJob = "accounts"

/** In the order in which they do what is due at an instant. */
export const makeClockJobs = Effect.gen(function*() {
  const bonuses = yield* Bonuses
  const jobs: ReadonlyArray<ClockJob> = [
    { name: settledJob, everySeconds: 60, needsSettledTime: true, run: (yield* DueAccountChanges).run },
    {
      name: "bonuses",
      everySeconds: 60,
      needsSettledTime: true,
      run: Effect.map(bonuses.applyDue, (done) => ({ done, hasMore: false }))
    },
    { name: "play-sessions", everySeconds: 20, needsSettledTime: true, run: (yield* DueSessions).run },
    {
      name: "obligations",
      everySeconds: rulesEveryMs / 1000,
      needsSettledTime: true,
      run: (yield* DueObligations).run
    },
    { name: "dormant-accounts", everySeconds: 60, needsSettledTime: true, run: (yield* DormantAccounts).run },
    { name: "stale-rounds", everySeconds: 300, needsSettledTime: true, run: (yield* StaleRounds).run },
    { name: "screenings", everySeconds: 5, run: (yield* Screenings).run }
  ]
  return jobs
})

/** Staff API handler for the status of background jobs. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { refuse } from "../../domain/Refusal.ts"
import { type JobStatus, Scheduler } from "../../platform/Scheduler.ts"
import { iso, isoOrNull } from "../../platform/Time.ts"

const jobFields = (job: JobStatus) => ({
  name: job.name,
  next_run_at: iso(job.nextRunAt),
  is_running: job.isRunning,
  last_started_at: isoOrNull(job.lastStartedAt),
  last_ended_at: isoOrNull(job.lastEndedAt),
  last_done: job.lastDone,
  failures: job.failures,
  last_error: job.lastError
})

export const JobHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "job",
  Effect.fnUntraced(function*(handlers) {
    const scheduler = yield* Scheduler
    return handlers.handle("list", () =>
      scheduler.list.pipe(
        Effect.map((jobs) => ({ data: jobs.map(jobFields) })),
        Effect.mapError(() =>
          refuse("TRY_AGAIN", "The database does not answer right now. Send the same request again.")
        )
      ))
  })
)

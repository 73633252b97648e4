/** Handlers of background jobs and stale rounds. */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi, CurrentStaff } from "../../contract/StaffApi.ts"
import { Operators } from "../operators/Operators.ts"
import { refuse } from "../../domain/Refusal.ts"
import { type JobStatus, Scheduler } from "../../platform/Scheduler.ts"
import { iso, isoOrNull } from "../../platform/Time.ts"
import { reconcileAfterMs, type StaleRound, StaleRounds } from "../settlement/StaleRounds.ts"
import { paginated } from "../../http/Page.ts"

const hourMs = 3_600_000

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

const roundFields = (round: StaleRound) => ({
  operator_id: round.operatorId,
  player_id: round.playerId,
  provider: round.provider,
  game_id: round.gameId,
  game: round.game,
  round_id: round.roundId,
  real_stake: round.realStake,
  bonus_stake: round.bonusStake,
  currency: round.currency,
  opened_at: iso(round.openedAt)
})

const JobHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "job",
  Effect.fnUntraced(function*(handlers) {
    const scheduler = yield* Scheduler
    return handlers.handle("list", () =>
      scheduler.list.pipe(
        Effect.map((jobs) => ({ data: jobs.map(jobFields) })),
        Effect.mapError(() => refuse("TRY_AGAIN", "The database does not answer right now. Ask again."))
      ))
  })
)

const RoundHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "round",
  Effect.fnUntraced(function*(handlers) {
    const rounds = yield* StaleRounds
    const operators = yield* Operators
    return handlers.handle("list", ({ query }) =>
      Effect.gen(function*() {
        const scope = yield* operators.scope(yield* CurrentStaff, query.operator)
        const { items, total } = yield* rounds.list(scope, {
          page: query.page,
          perPage: query.per_page,
          olderThanMs: query.older_than_hours === undefined ? reconcileAfterMs : query.older_than_hours * hourMs
        })
        return yield* paginated(query, total, items.map(roundFields))
      }))
  })
)

export const JobAndRoundHandlers = Layer.merge(JobHandlers, RoundHandlers)

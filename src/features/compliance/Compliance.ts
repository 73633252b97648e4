/**
 * Evaluates AML rules asynchronously, once per committed effect (a registration, a payment, a profile change and the like), so that bets never wait
 * for it (`docs/decisions/0023-compliance.md`).
 */
import { Cause, Clock, Context, Effect, Exit, Layer, Metric } from "effect"
import { type Refusal, temporarilyUnavailable } from "../../domain/Refusal.ts"
import type { JobResult } from "../../platform/Scheduler.ts"
import { afterCommits } from "../../store/Outbox.ts"
import { orTryAgain } from "../../store/Rows.ts"
import { Holds } from "./Holds.ts"
import { makeAutomaticCases } from "./internal/AutomaticCases.ts"
import { type ComplianceEffect, makeEffectQueue } from "./internal/EffectQueue.ts"
import { makeJudge } from "./internal/Judge.ts"

/** Maximum effects judged in one transaction, in a dozen statements. */
const batchSize = 250

const judged = Metric.counter("compliance_effects_total", {
  description: "Committed effects that were judged",
  incremental: true
})
const raisedTotal = Metric.counter("compliance_alerts_total", { description: "Alerts raised", incremental: true })
const lagSeconds = Metric.gauge("compliance_lag_seconds", {
  description: "Age of the oldest committed effect that was not judged yet"
})

export class Compliance extends Context.Service<Compliance, {
  /** Judges queued effects and places the resulting holds; bounded. Can be interrupted anywhere and is idempotent; of several processes one works. */
  readonly evaluate: Effect.Effect<JobResult, Refusal<"TRY_AGAIN">>
  /** As `evaluate`, and releases holds of closed alerts. A job. */
  readonly run: Effect.Effect<JobResult, Refusal<"TRY_AGAIN">>
}>()("pitboss/compliance/Compliance") {
  static readonly layer = Layer.effect(
    Compliance,
    Effect.gen(function*() {
      const queue = yield* makeEffectQueue
      const judge = yield* makeJudge
      const holds = yield* Holds
      const { openCritical } = yield* makeAutomaticCases

      /** One transaction; gives how many effects there were. */
      const evaluateBatch = (now: number, limit: number, note: (effect: ComplianceEffect | undefined) => void) =>
        Effect.suspend(() => {
          let raised = 0
          return queue.work({ now, limit }, (effects) => {
            note(effects[0])
            return Effect.map(judge(effects, now), (more) => {
              raised = more
            })
          }).pipe(
            Effect.tap((effects) =>
              Effect.andThen(Metric.update(judged, effects.length), Metric.update(raisedTotal, raised))
            ),
            Effect.map(({ length }) => length)
          )
        }).pipe(
          // passes by itself: no effect is to blame
          Effect.catchTag(
            "IdsUnavailable",
            ({ reason }) =>
              Effect.andThen(
                Effect.annotateLogs(Effect.logWarning("alert id allocation failed"), { reason }),
                Effect.fail(temporarilyUnavailable)
              )
          ),
          orTryAgain
        )

      /** One by one, past those that cannot be judged: they are postponed. */
      const evaluateOneByOne = Effect.fnUntraced(function*(now: number) {
        for (let done = 0; done < batchSize; done++) {
          let current: ComplianceEffect | undefined
          const exit = yield* Effect.exit(evaluateBatch(now, 1, (effect) => {
            current = effect
          }))
          if (Exit.isSuccess(exit)) {
            if (exit.value === 0) return done
            continue
          }
          if (current === undefined || !Cause.hasDies(exit.cause)) return yield* Effect.failCause(exit.cause)
          yield* Effect.annotateLogs(Effect.logError("alert evaluation failed", exit.cause), {
            effect: current.kind,
            player_id: current.playerId
          })
          yield* orTryAgain(queue.postpone(current, now))
        }
        return batchSize
      })

      const both = (one: JobResult, other: JobResult): JobResult => ({
        done: one.done + other.done,
        hasMore: one.hasMore || other.hasMore
      })

      const evaluate = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const oldest = yield* orTryAgain(queue.oldest)
        yield* Metric.update(lagSeconds, oldest === null ? 0 : Math.max(0, (now - oldest) / 1000))
        const done = yield* evaluateBatch(now, batchSize, () => {}).pipe(
          Effect.catchCause((cause) => Cause.hasDies(cause) ? evaluateOneByOne(now) : Effect.failCause(cause))
        )
        const placed = yield* holds.placeRequested
        yield* openCritical
        return both({ done, hasMore: done === batchSize }, placed)
      }).pipe(Effect.withSpan("Compliance.evaluate"))

      const run = Effect.zipWith(evaluate, holds.releaseClosed, both)

      return Compliance.of({ evaluate, run })
    })
  )

  /** Evaluates soon after commits that write events, until the scope closes. Effects that are not announced are found by the job. */
  static readonly layerWakes = Layer.effectDiscard(
    Effect.flatMap(Compliance, ({ evaluate }) =>
      afterCommits(
        Effect.repeat(evaluate, { while: ({ hasMore }) => hasMore }),
        {
          postponed: (cause) => Effect.logWarning("alert evaluation postponed", cause)
        }
      ))
  )
}

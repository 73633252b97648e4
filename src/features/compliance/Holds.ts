/** Reconciles withdrawal holds with alerts: places requested holds and releases those of closed alerts, each in the player's actor. */
import { Cause, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { alertRules } from "../../domain/compliance/AlertRules.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import { placeHoldStep, releaseHoldStep } from "../../domain/payment/WithdrawalHolds.ts"
import type { JobResult } from "../../platform/Scheduler.ts"
import { RemoteCommands } from "../../store/RemoteCommands.ts"
import { PlayerActors } from "../../store/PlayerActors.ts"
import { orTryAgain, rowsOf } from "../../store/Rows.ts"

/** Maximum holds placed, or released, in one run. */
const maxHolds = 200

/** Maximum players asked concurrently. */
const concurrency = 8

const WantedHold = Schema.Struct({
  alertId: Schema.Number,
  playerId: Schema.Number,
  rule: Schema.Literals(alertRules)
})
const wantedRows = rowsOf(WantedHold)
const leftRows = rowsOf(Schema.Struct({ alertId: Schema.Number, playerId: Schema.Number }))

export class Holds extends Context.Service<Holds, {
  /** Places the holds requested by alerts. Idempotent and interruptible, also with several services; so is the next. */
  readonly placeRequested: Effect.Effect<JobResult, Refusal<"TRY_AGAIN">>
  /** Releases holds of alerts that are closed or no longer request one: left behind by a failure, or placed late. */
  readonly releaseClosed: Effect.Effect<JobResult, Refusal<"TRY_AGAIN">>
  /** Places the hold of an alert by hand, also after staff have lifted it. */
  readonly placeOne: (alert: typeof WantedHold.Type, actor: string) => Effect.Effect<void, Refusal>
  /** Releases the hold of an alert that `actor` has closed or released. */
  readonly release: (
    alert: { readonly alertId: number; readonly playerId: number },
    actor: string
  ) => Effect.Effect<void, Refusal>
}>()("pitboss/compliance/Holds") {
  static readonly layer = Layer.effect(
    Holds,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actors = yield* PlayerActors

      const remoteCommands = yield* RemoteCommands
      const releaseHold = remoteCommands.define({
        name: "hold.release",
        payload: Schema.Struct({ alertId: Schema.Number, actor: Schema.String }),
        run: (playerId, hold) => Effect.asVoid(actors.ask(null, playerId, releaseHoldStep(hold)))
      })
      const placeHold = remoteCommands.define({
        name: "hold.place",
        payload: Schema.Struct({
          alertId: Schema.Number,
          rule: Schema.Literals(alertRules),
          actor: Schema.optionalKey(Schema.String)
        }),
        run: (playerId, hold) => Effect.asVoid(actors.ask(null, playerId, placeHoldStep(hold)))
      })

      const release: Holds["Service"]["release"] = Effect.fn("Holds.release")(({ alertId, playerId }, actor) =>
        releaseHold(playerId, { alertId, actor })
      )

      const place = Effect.fnUntraced(function*({ alertId, playerId, rule }: typeof WantedHold.Type, actor?: string) {
        yield* placeHold(playerId, { alertId, rule, ...(actor === undefined ? {} : { actor }) })
        // the actor's commit is authoritative: if this write fails, placing is retried and changes nothing
        yield* sql`UPDATE compliance_alerts SET hold = 'placed' WHERE id = ${alertId}::float8::bigint AND hold = 'wanted'`
      })

      /** A player that cannot be asked now is found again, and delays no other. */
      const count = <E>(effect: Effect.Effect<void, E>, { alertId }: { readonly alertId: number }) =>
        effect.pipe(
          Effect.as(1),
          Effect.catchCause((cause) =>
            Cause.hasInterrupts(cause)
              ? Effect.interrupt
              : Effect.as(
                Effect.annotateLogs(Effect.logWarning("withdrawal hold postponed", cause), { alert_id: alertId }),
                0
              )
          )
        )

      const resultOf = (outcomes: ReadonlyArray<number>): JobResult => {
        const done = outcomes.filter((one) => one === 1).length
        // a bound that was met without anything done would be met again at once, and again
        return { done, hasMore: done > 0 && outcomes.length === maxHolds }
      }

      const placeRequested = Effect.gen(function*() {
        const wanted = yield* wantedRows(
          sql`SELECT id AS "alertId", player_id AS "playerId", rule FROM compliance_alerts
            WHERE hold = 'wanted' AND status <> 'closed' ORDER BY compliance_alerts.id LIMIT ${maxHolds}`
        )
        return resultOf(yield* Effect.forEach(wanted, (alert) => count(place(alert), alert), { concurrency }))
      }).pipe(orTryAgain, Effect.withSpan("Holds.placeRequested"))

      const releaseClosed = Effect.gen(function*() {
        const left = yield* leftRows(
          sql`SELECT a.id AS "alertId", p.id AS "playerId" FROM players p
            CROSS JOIN LATERAL jsonb_array_elements(p.withdrawal_holds) AS h(hold)
            JOIN compliance_alerts a ON a.id = (h.hold ->> 'alertId')::bigint AND (a.status = 'closed' OR a.hold = 'none')
            WHERE p.withdrawal_holds <> '[]' LIMIT ${maxHolds}`
        )
        return resultOf(
          yield* Effect.forEach(left, (alert) => count(release(alert, "compliance"), alert), { concurrency })
        )
      }).pipe(orTryAgain, Effect.withSpan("Holds.releaseClosed"))

      const placeOne: Holds["Service"]["placeOne"] = Effect.fn("Holds.placeOne")((alert, actor) =>
        Effect.mapError(orTryAgain(place(alert, actor)), (error): Refusal => error)
      )

      return Holds.of({ placeRequested, releaseClosed, release, placeOne })
    })
  )
}

/** Webhook housekeeping: expires deliveries, removes old events and deliveries, and measures the lag of the outbox. */
import { Clock, Context, Effect, Layer, Metric, Schedule, Schema } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { describeSqlError } from "../../platform/Database.ts"
import type { JobResult } from "../../platform/Scheduler.ts"
import { toDate } from "../../platform/Time.ts"
import { eventRetentionMs } from "../../store/Outbox.ts"
import { rowsOf } from "../../store/Rows.ts"
import { makeDeliveryStore } from "./internal/DeliveryStore.ts"
import { deliveriesPending, deliveryLagSeconds, outboxLagSeconds, outboxPending } from "./internal/Metrics.ts"

/** Maximum number of pending deliveries of an endpoint. */
const maxBacklog = 100_000

/** Maximum delay of an attempt: a later one (the longest pause is 64 minutes) was scheduled by a clock since set back. */
const maxWaitMs = 2 * 60 * 60_000

/** Rows per statement, and statements of a kind per run. */
const batchRows = 2000
const maxBatches = 10

const doneRows = rowsOf(Schema.Struct({ done: Schema.Number }))

export class WebhookHousekeeping extends Context.Service<WebhookHousekeeping, {
  /** Background job: expires and removes old rows, and brings forward attempts delayed by a wrong clock. */
  readonly tidy: Effect.Effect<JobResult, SqlError.SqlError>
  /** Marks endpoints with a full backlog and measures the lag. Scheduled every fifteen seconds. */
  readonly watch: Effect.Effect<void, SqlError.SqlError>
}>()("pitboss/webhooks/WebhookHousekeeping") {
  static readonly layerWith = (options: { readonly maxBacklog?: number } = {}) =>
    Layer.effect(
      WebhookHousekeeping,
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const store = yield* makeDeliveryStore
        const backlogLimit = options.maxBacklog ?? maxBacklog

        /** Repeats a statement that changes a limited number of rows until none is left. */
        const inBatches = Effect.fnUntraced(function*(
          change: (rows: number) => Statement.Fragment,
          andThen: Statement.Fragment = sql``,
          changed: Statement.Fragment = sql`1`
        ) {
          let total = 0
          for (let batch = 0; batch < maxBatches; batch++) {
            const [row] = yield* doneRows(
              sql`WITH done AS (${change(batchRows)} RETURNING ${changed})${andThen} SELECT count(*) AS done FROM done`
            )
            const done = row?.done ?? 0
            total += done
            if (done < batchRows) return { done: total, hasMore: false }
          }
          return { done: total, hasMore: true }
        })

        const tidy = Effect.gen(function*() {
          const now = yield* Clock.currentTimeMillis
          const before = toDate(now - eventRetentionMs)
          const late = toDate(now + maxWaitMs)
          const hurried = yield* inBatches((rows) =>
            sql`UPDATE webhook_deliveries SET next_attempt_at = ${toDate(now)} WHERE id IN (
              SELECT d.id FROM webhook_endpoints e CROSS JOIN LATERAL (
                SELECT id FROM webhook_deliveries
                WHERE endpoint_id = e.id AND status = 'pending' AND next_attempt_at > ${late} LIMIT ${rows}
                FOR NO KEY UPDATE SKIP LOCKED) d
              LIMIT ${rows})`
          )
          const ended = yield* inBatches((rows) =>
            sql`UPDATE webhook_deliveries SET status = 'failed', error = 'expired', next_attempt_at = NULL,
                updated_at = ${toDate(now)}
              WHERE id IN (
                SELECT id FROM webhook_deliveries
                WHERE created_at < ${before} AND status = 'pending' AND next_attempt_at < ${before}
                ORDER BY created_at, id LIMIT ${rows} FOR NO KEY UPDATE SKIP LOCKED)`
          )
          const deliveries = yield* inBatches((rows) =>
            sql`DELETE FROM webhook_deliveries WHERE id IN (
              SELECT id FROM webhook_deliveries
              WHERE created_at < ${before} AND status <> 'pending' AND updated_at < ${before}
              ORDER BY created_at, id LIMIT ${rows} FOR UPDATE SKIP LOCKED)`
          )
          // where the list of an operator's events begins, so that a cursor from before is refused and not served with a gap
          const removeEvents = (isOld: Statement.Fragment) =>
            inBatches(
              (rows) =>
                sql`DELETE FROM events WHERE id IN (
              SELECT e.id FROM events e WHERE ${isOld} AND e.fanned_out
                AND NOT EXISTS (SELECT FROM webhook_deliveries d WHERE d.event_id = e.id)
              LIMIT ${rows} FOR UPDATE SKIP LOCKED)`,
              sql`, expired AS (
              UPDATE event_positions p SET expired_position = greatest(p.expired_position, o.position),
                expired_id = greatest(p.expired_id, o.id)
              FROM (SELECT operator_id, max(position) AS position, max(id) AS id FROM done
                WHERE position IS NOT NULL GROUP BY operator_id) o
              WHERE p.operator_id = o.operator_id)`,
              sql`id, operator_id, position`
            )
          const events = yield* removeEvents(sql`e.created_at < ${before}`)
          // dated by an advanced clock
          const early = yield* removeEvents(sql`e.made_at < ${before}`)
          const kinds = [hurried, ended, deliveries, events, early]
          return {
            done: kinds.reduce((sum, { done }) => sum + done, 0),
            hasMore: kinds.some(({ hasMore }) => hasMore)
          }
        }).pipe(Effect.withSpan("WebhookHousekeeping.tidy"))

        const watch = Effect.gen(function*() {
          yield* sql`UPDATE webhook_endpoints e SET is_full = f.is_full
            FROM (
              SELECT id, (
                SELECT count(*) FROM (
                  SELECT FROM webhook_deliveries d WHERE d.endpoint_id = w.id AND d.status = 'pending' LIMIT ${backlogLimit}
                ) waiting
              ) >= ${backlogLimit} AS is_full
              FROM webhook_endpoints w
            ) f
            WHERE e.id = f.id AND e.is_full <> f.is_full`
          const { deliveries, events, oldestDueAt, oldestEventAt } = yield* store.lag()
          const now = yield* Clock.currentTimeMillis
          const secondsSince = (at: number | null) => at === null ? 0 : Math.max(0, (now - at) / 1000)
          yield* Metric.update(outboxLagSeconds, secondsSince(oldestEventAt))
          yield* Metric.update(deliveryLagSeconds, secondsSince(oldestDueAt))
          yield* Metric.update(outboxPending, events)
          yield* Metric.update(deliveriesPending, deliveries)
        }).pipe(Effect.withSpan("WebhookHousekeeping.watch"))

        const orWarn = <A>(effect: Effect.Effect<A, SqlError.SqlError>) =>
          effect.pipe(
            Effect.catch((error) =>
              Effect.annotateLogs(Effect.logWarning("webhook housekeeping failed"), { reason: describeSqlError(error) })
            )
          )
        yield* Effect.forkScoped(Effect.repeat(orWarn(watch), Schedule.spaced("15 seconds")))

        return WebhookHousekeeping.of({ tidy, watch })
      })
    )

  static readonly layer = WebhookHousekeeping.layerWith()
}

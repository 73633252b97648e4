/** Deliveries of webhook events as staff see them: lists, retries and redelivery. */
import { PgTypes } from "@effect/sql-pg"
import { Context, Effect, Layer, Result, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { envelope, type DeliveryStatus } from "../../domain/state/Events.ts"
import { Instant } from "../../domain/Instant.ts"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import { iso, parseIso, toDate } from "../../platform/Time.ts"
import { equalTo, recordsOf } from "../../store/Records.ts"
import { type Scope, within } from "../../store/OperatorScope.ts"
import { behind, type Part, type PartQuery, timedCursors } from "../../store/Cursors.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import type { Actor } from "../../office/Actor.ts"
import { makeReferences } from "../../office/References.ts"
import { plainHeaders } from "./Attempts.ts"
import {
  Delivery,
  type DeliveryAttempt,
  type Redelivered,
  type Redelivery,
  type Undelivered
} from "../../contract/webhooks/StaffApi.ts"

/** Filters; an absent one matches all. */
export interface DeliveryQuery extends PartQuery {
  readonly scope: Scope
  readonly webhookId?: number | undefined
  readonly status?: DeliveryStatus | undefined
}

type Delivery = typeof Delivery.Type

const attemptRows = rowsOf(Schema.Struct({
  playerSequence: Schema.NullOr(Schema.Number),
  url: Schema.String,
  body: Schema.NullOr(Schema.String),
  sentAt: Schema.NullOr(Schema.Date),
  durationMs: Schema.NullOr(Schema.Number),
  data: Schema.NullOr(Schema.String),
  createdAt: Schema.NullOr(Schema.Date)
}))
const webhookRows = rowsOf(Schema.Struct({ operatorId: Schema.Number }))
const queuedRows = rowsOf(Schema.Struct({ createdAt: Schema.Date }))

const undeliveredRows = rowsOf(
  Schema.Struct({ failed: Schema.Number, retrying: Schema.Number, since: Schema.NullOr(Schema.Date) })
)

const keyRows = rowsOf(Schema.Struct({ id: Schema.Number, created_at: Instant }))

/** Status as shown, of a row of `webhook_deliveries`: what is stored as pending is between two attempts after the first. */
const shownStatus = "CASE WHEN status = 'pending' AND attempts > 0 THEN 'retrying' ELSE status END"

/** Maximum deliveries scanned for one page of a list without a matching index. */
const maxScanned = 1000

/** Maximum deliveries made due by one redelivery. */
const maxRedelivered = 10_000

const noWebhook = refuse("NOT_FOUND", "There is no such webhook.")

const notFound = refuse("NOT_FOUND", "There is no such delivery.")

type Unavailable = Refusal<"TRY_AGAIN">

export class WebhookDeliveries extends Context.Service<WebhookDeliveries, {
  /** Deliveries, newest first. A page of delivered ones scans at most {@link maxScanned} and may be short. */
  readonly list: (query: DeliveryQuery) => Effect.Effect<Part<Delivery>, Refusal<"VALIDATION_FAILED"> | Unavailable>
  /** A delivery with its last request, without sealed fields, and the beginning of the answer. */
  readonly show: (id: number) => Effect.Effect<typeof DeliveryAttempt.Type, Refusal<"NOT_FOUND"> | Unavailable>
  /**
   * Makes the completed deliveries of a webhook in a period due at once, oldest first, at most {@link maxRedelivered} per call. `operator`: only when the
   * webhook is that operator's.
   */
  readonly redeliver: (
    actor: Actor,
    webhookId: number,
    query: Redelivery,
    operator?: string
  ) => Effect.Effect<Redelivered, Refusal<"NOT_FOUND" | "VALIDATION_FAILED"> | Unavailable>
  /** How many deliveries of a webhook, made since an instant, have not arrived: given up, or between two attempts. */
  readonly undelivered: (
    webhookId: number,
    since?: string
  ) => Effect.Effect<typeof Undelivered.Type, Unavailable>
  /** Makes those due at once, oldest first, at most {@link maxRedelivered} per call, with their number of attempts reset. */
  readonly redeliverLost: (
    actor: Actor,
    webhookId: number,
    since: string
  ) => Effect.Effect<Redelivered, Refusal<"NOT_FOUND" | "VALIDATION_FAILED"> | Unavailable>
  /** Makes a delivery due at once, whatever its status, with its number of attempts reset. */
  readonly retry: (actor: Actor, id: number) => Effect.Effect<Delivery, Refusal<"NOT_FOUND"> | Unavailable>
}>()("pitboss/webhooks/WebhookDeliveries") {
  static readonly layer = Layer.effect(
    WebhookDeliveries,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const references = yield* makeReferences
      const statusShown = sql.literal(shownStatus)
      const deliveries = yield* recordsOf("webhook_deliveries", Delivery, {
        columns: { webhook_id: "endpoint_id" },
        reads: {
          event_id: "event_id::text",
          status: shownStatus
        },
        computed: { type: "(SELECT e.type FROM events e WHERE e.id = webhook_deliveries.event_id)" }
      })

      const list = Effect.fn("WebhookDeliveries.list")(function*(query: DeliveryQuery) {
        const { cursor, limit, scope, status, webhookId } = query
        const position = yield* timedCursors.read(cursor)
        // most are delivered: there is no index of these, and the newest deliveries are scanned
        const wanted = status === "delivered" ? maxScanned : limit + 1
        const newest = (conditions: ReadonlyArray<Statement.Fragment>) =>
          sql`SELECT d.id, d.created_at FROM webhook_deliveries d
            WHERE ${sql.and([sql`true`, ...conditions, ...behind(sql, position, "d.created_at", "d.id")])}
            ORDER BY d.created_at DESC, d.id DESC LIMIT ${wanted}`
        const isUnfiltered = scope === null && webhookId === undefined &&
          (status === undefined || status === "delivered")
        const keys = yield* keyRows(
          isUnfiltered
            ? newest([])
            // an operator has few endpoints, each read through an index
            : sql`SELECT d.id, d.created_at FROM webhook_endpoints e CROSS JOIN LATERAL (${
              newest([
                sql`d.endpoint_id = e.id`,
                // a literal, to match the partial index; a further condition would make the planner expect too few rows
                ...(status === "pending" || status === "retrying" ? [sql`d.status = 'pending'`] : []),
                ...(status === "failed" ? [sql`d.status = 'failed'`] : [])
              ])
            }) d WHERE ${
              sql.and([sql`true`, ...within(sql, scope, "e.operator_id"), ...equalTo(sql, { "e.id": webhookId })])
            }
              ORDER BY d.created_at DESC, d.id DESC LIMIT ${wanted}`
        )
        const last = keys.at(-1)
        if (last === undefined) return { items: [], next: null }
        const ids = Result.getOrThrow(PgTypes.array(keys.map(({ id }) => id), PgTypes.OID.float8))
        const rows = yield* deliveries.all(
          sql`${
            sql.and([
              sql`id = ANY(${ids}::float8[]::bigint[])`,
              ...(status === undefined ? [] : [sql`${statusShown} = ${status}`])
            ])
          } ORDER BY created_at DESC, id DESC LIMIT ${limit + 1}`
        )
        return timedCursors.part(
          rows,
          limit,
          ({ created_at: at, id }) => ({ at: Date.parse(at), id }),
          keys.length < wanted ? undefined : { at: last.created_at, id: last.id }
        )
      }, orTryAgain)

      const retry = Effect.fn("WebhookDeliveries.retry")((actor: Actor, id: number) =>
        auditLog.change(actor, ({ now, recordChange }) =>
          Effect.gen(function*() {
            const before = yield* deliveries.find(sql`id = ${id} FOR NO KEY UPDATE`)
            if (before === undefined) return yield* Effect.fail(notFound)
            const after: Delivery = {
              ...before,
              status: "pending",
              attempts: 0,
              next_attempt_at: iso(now),
              response_status: null,
              error: null,
              updated_at: iso(now)
            }
            yield* deliveries.update(before, after, { claimed_by: null, claimed_until: null })
            return yield* recordChange("delivery.retry", before, after)
          }))
      )

      const show = Effect.fn("WebhookDeliveries.show")(function*(id: number) {
        const delivery = yield* deliveries.find(sql`id = ${id}::float8::bigint`)
        const row = yield* oneOf(attemptRows(
          sql`SELECT e.url, d.response_body AS body, d.sent_at AS "sentAt", d.duration_ms AS "durationMs",
              v.data::text AS data, v.created_at AS "createdAt", v.player_sequence AS "playerSequence"
            FROM webhook_deliveries d JOIN webhook_endpoints e ON e.id = d.endpoint_id LEFT JOIN events v ON v.id = d.event_id
            WHERE d.id = ${id}::float8::bigint`
        ))
        if (delivery === undefined || row === undefined) return yield* Effect.fail(notFound)
        const { body, createdAt, data, durationMs, playerSequence, sentAt, url } = row
        const eventId = Number(delivery.event_id)
        const timestamp = sentAt === null ? undefined : String(Math.floor(sentAt.getTime() / 1000))
        return {
          ...delivery,
          request: {
            url,
            headers: {
              "content-type": "application/json",
              ...plainHeaders({ deliveryId: id, eventId, type: delivery.type }),
              "webhook-id": delivery.event_id,
              ...(timestamp === undefined ? {} : {
                "x-service-timestamp": timestamp,
                "webhook-timestamp": timestamp
              })
            },
            body: data === null || createdAt === null
              ? null
              : envelope({
                id: eventId,
                type: delivery.type,
                createdAt: iso(createdAt.getTime()),
                playerSequence,
                data
              })
          },
          response: delivery.attempts === 0
            ? null
            : {
              status: delivery.response_status,
              body,
              error: delivery.error,
              sent_at: sentAt === null ? null : iso(sentAt.getTime()),
              duration_ms: durationMs
            }
        }
      }, orTryAgain)

      /** Deliveries of a webhook that have not arrived: given up, or between two attempts. The first condition is that of their index. */
      const isLost = sql`status <> 'delivered' AND ${statusShown} IN ('failed', 'retrying')`

      const undelivered = Effect.fn("WebhookDeliveries.undelivered")(function*(webhookId: number, since?: string) {
        const from = toDate((since === undefined ? undefined : parseIso(since)) ?? 0)
        const row = yield* oneOf(undeliveredRows(
          sql`SELECT count(*) FILTER (WHERE ${statusShown} = 'failed') AS failed,
              count(*) FILTER (WHERE ${statusShown} = 'retrying') AS retrying, min(created_at) AS since
            FROM webhook_deliveries WHERE endpoint_id = ${webhookId}::float8::bigint AND created_at >= ${from} AND ${isLost}`
        ))
        return {
          webhook_id: webhookId,
          failed: row?.failed ?? 0,
          retrying: row?.retrying ?? 0,
          since: row === undefined || row.since === null ? null : iso(row.since.getTime())
        }
      }, orTryAgain)

      /** Makes deliveries of a webhook due at once. `which`: a condition on those made in the period. */
      const makeDue = (
        actor: Actor,
        webhookId: number,
        { action, operator, until, which, ...asked }: {
          readonly action: "webhook.redeliver" | "delivery.redeliver"
          readonly since: string
          readonly until?: string | undefined
          readonly operator?: string | undefined
          readonly which: Statement.Fragment
          readonly logged: object
        }
      ) =>
        Effect.gen(function*() {
          const since = parseIso(asked.since)
          if (since === undefined) {
            return yield* Effect.fail(refuseFields({ since: ["must be a date and time like 2026-11-20T12:00:00Z"] }))
          }
          return yield* auditLog.change(actor, ({ now, record }) =>
            Effect.gen(function*() {
              const before = toDate((until === undefined ? undefined : parseIso(until)) ?? now + 1)
              const webhook = yield* oneOf(webhookRows(
                sql`SELECT operator_id AS "operatorId" FROM webhook_endpoints WHERE id = ${webhookId}::float8::bigint`
              ))
              if (webhook === undefined) return yield* Effect.fail(noWebhook)
              yield* references.refuseForeign(webhook.operatorId, operator, noWebhook)
              const queued = yield* queuedRows(
                sql`UPDATE webhook_deliveries SET status = 'pending', attempts = 0, next_attempt_at = ${toDate(now)},
                    response_status = NULL, error = NULL, response_body = NULL, duration_ms = NULL, sent_at = NULL,
                    claimed_by = NULL, claimed_until = NULL, updated_at = ${toDate(now)}
                  WHERE id IN (
                    SELECT id FROM webhook_deliveries WHERE endpoint_id = ${webhookId}::float8::bigint
                      AND created_at >= ${toDate(since)} AND created_at < ${before} AND ${which}
                    ORDER BY created_at, id LIMIT ${maxRedelivered} FOR NO KEY UPDATE)
                  RETURNING created_at AS "createdAt"`
              )
              const hasMore = queued.length === maxRedelivered
              const newest = Math.max(...queued.map(({ createdAt }) => createdAt.getTime()))
              const redelivered: Redelivered = {
                webhook_id: webhookId,
                queued: queued.length,
                has_more: hasMore,
                next_since: hasMore ? iso(newest) : null
              }
              if (queued.length > 0) {
                yield* record({
                  action,
                  operatorId: webhook.operatorId,
                  subject: `webhook:${webhookId}`,
                  before: null,
                  after: { ...asked.logged, queued: queued.length }
                })
              }
              return redelivered
            }))
        })

      const redeliver = Effect.fn("WebhookDeliveries.redeliver")(
        (actor: Actor, webhookId: number, query: Redelivery, operator?: string) =>
          makeDue(actor, webhookId, {
            action: "webhook.redeliver",
            since: query.since,
            until: query.until,
            operator,
            which: query.status === undefined ? sql`status <> 'pending'` : sql`status = ${query.status}`,
            logged: query
          })
      )

      const redeliverLost = Effect.fn("WebhookDeliveries.redeliverLost")(
        (actor: Actor, webhookId: number, since: string) =>
          makeDue(actor, webhookId, { action: "delivery.redeliver", since, which: isLost, logged: { since } })
      )

      return WebhookDeliveries.of({ list, show, undelivered, redeliver, redeliverLost, retry })
    })
  )
}

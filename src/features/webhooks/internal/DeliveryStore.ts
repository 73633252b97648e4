/** Fan-out of events, and leasing, recording and releasing of deliveries, in SQL. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { numbers, texts, times } from "../../../platform/ArrayParameters.ts"
import { Ids } from "../../../platform/Ids.ts"
import { inTransaction } from "../../../platform/InTransaction.ts"
import { PersonalData } from "../../../platform/PersonalData.ts"
import { iso, toDate } from "../../../platform/Time.ts"
import { withPersonal } from "../../../store/EventData.ts"
import { rowsOf } from "../../../store/Rows.ts"
import { detailsPurpose, numbersPurpose } from "../../../store/SealedFields.ts"
import type { AttemptedDelivery } from "../Attempts.ts"

/** Events per fan-out. Multiplied by the maximum endpoints of an operator, at most one block of ids. */
const fannedOutAtOnce = 200

/** Maximum lease in ms, clock differences included. A longer one was written by a clock since set back. */
const maxLeaseMs = 5 * 60_000

/** A delivery leased by this process for one attempt. */
export interface TakenDelivery extends AttemptedDelivery {
  /** Number of failed attempts. */
  readonly attempts: number
}

/** Result of an attempt. */
export interface AttemptResult {
  readonly id: number
  /** Number of failed attempts before it. */
  readonly attempts: number
  readonly status: "delivered" | "failed" | "pending"
  /** Epoch milliseconds; null when the delivery is completed. */
  readonly nextAttemptAt: number | null
  readonly responseStatus: number | null
  readonly error: string | null
  /** Beginning of the answer. */
  readonly body: string | null
  readonly sentAt: number
  readonly durationMs: number
  readonly endedAt: number
}

/** Free slots of an endpoint. */
export interface EndpointSlots {
  readonly endpointId: number
  readonly slots: number
}

const fannedOutRows = rowsOf(Schema.Struct({
  eventId: Schema.Number,
  endpointId: Schema.NullOr(Schema.Number),
  operatorId: Schema.Number,
  isFull: Schema.NullOr(Schema.Boolean)
}))

const endpointRows = rowsOf(Schema.Struct({ endpointId: Schema.Number }))

const TakenRow = Schema.Struct({
  id: Schema.Number,
  attempts: Schema.Number,
  endpointId: Schema.Number,
  url: Schema.String,
  secret: Schema.Uint8Array,
  previousSecret: Schema.NullOr(Schema.Uint8Array),
  previousUntil: Schema.NullOr(Schema.Date),
  eventId: Schema.Number,
  type: Schema.String,
  createdAt: Schema.Date,
  data: Schema.String,
  playerId: Schema.NullOr(Schema.Number),
  paymentId: Schema.NullOr(Schema.Number),
  numbers: Schema.NullOr(Schema.Uint8Array),
  details: Schema.NullOr(Schema.Uint8Array)
})
const takenRows = rowsOf(TakenRow)
const decodeData = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))

/** Upper bound of counted pending rows. */
const maxCounted = 100_000

const lagRows = rowsOf(Schema.Struct({
  oldestEvent: Schema.NullOr(Schema.Date),
  oldestDue: Schema.NullOr(Schema.Date),
  events: Schema.Number,
  deliveries: Schema.Number
}))

export const makeDeliveryStore = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const personal = yield* PersonalData
  const ids = yield* Ids

  /**
   * Fans committed events out into deliveries, one per subscribed endpoint, skipping events locked by another process. Returns the number of
   * events, and the endpoints.
   */
  const fanOut = Effect.fn("DeliveryStore.fanOut")((now: number) =>
    inTransaction(sql)(Effect.gen(function*() {
      const rows = yield* fannedOutRows(sql`
        WITH taken AS (
          UPDATE events SET fanned_out = true WHERE id IN (
            SELECT id FROM events WHERE NOT fanned_out ORDER BY id LIMIT ${fannedOutAtOnce} FOR UPDATE SKIP LOCKED
          ) RETURNING id, operator_id, type
        )
        SELECT t.id AS "eventId", e.id AS "endpointId", t.operator_id AS "operatorId",
          e.is_full AS "isFull"
        FROM taken t LEFT JOIN webhook_endpoints e
          ON e.operator_id = t.operator_id AND (e.events IS NULL OR t.type = ANY (e.events))
        ORDER BY t.id, e.id`)
      const deliveries = rows.flatMap(({ endpointId, ...row }) => endpointId === null ? [] : [{ ...row, endpointId }])
      if (deliveries.length > 0) {
        const first = yield* ids.reserve(deliveries.length)
        yield* sql`
          INSERT INTO webhook_deliveries (id, event_id, endpoint_id, operator_id, status, next_attempt_at, error,
            created_at, updated_at)
          SELECT u.id, u.event_id, u.endpoint_id, u.operator_id, u.status,
            CASE WHEN u.status = 'pending' THEN ${toDate(now)}::timestamptz END,
            CASE WHEN u.status = 'failed' THEN 'backlog_full' END, ${toDate(now)}, ${toDate(now)}
          FROM unnest(${numbers(deliveries.map((_, index) => first + index))}::float8[],
            ${numbers(deliveries.map(({ eventId }) => eventId))}::float8[],
            ${numbers(deliveries.map(({ endpointId }) => endpointId))}::float8[],
            ${numbers(deliveries.map(({ operatorId }) => operatorId))}::float8[],
            ${texts(deliveries.map(({ isFull }) => isFull === true ? "failed" : "pending"))}::text[])
            AS u(id, event_id, endpoint_id, operator_id, status)`
      }
      return {
        events: new Set(rows.map(({ eventId }) => eventId)).size,
        hasMore: new Set(rows.map(({ eventId }) => eventId)).size === fannedOutAtOnce,
        endpointIds: new Set(deliveries.map(({ endpointId }) => endpointId))
      }
    }))
  )

  /** Active endpoints with due deliveries. */
  const endpointsDue = Effect.fn("DeliveryStore.endpointsDue")(function*(now: number) {
    const found = yield* endpointRows(sql`
      SELECT e.id AS "endpointId" FROM webhook_endpoints e
      WHERE e.active AND EXISTS (
        SELECT FROM webhook_deliveries d
        WHERE d.endpoint_id = e.id AND d.status = 'pending' AND d.next_attempt_at <= ${toDate(now)}
          AND (d.claimed_until IS NULL OR d.claimed_until <= ${toDate(now)}
            OR d.claimed_until > ${toDate(now + maxLeaseMs)}))`)
    return found.map(({ endpointId }) => endpointId)
  })

  /** Data of an event with its sealed fields opened. */
  const dataOf = Effect.fnUntraced(function*(row: typeof TakenRow.Type) {
    if (row.numbers === null && row.details === null) return row.data
    const player = yield* personal.open(numbersPurpose(row.playerId ?? 0), row.numbers)
    const payment = yield* personal.open(detailsPurpose(row.paymentId ?? 0), row.details)
    return JSON.stringify(withPersonal(yield* Effect.orDie(decodeData(row.data)), { player, payment }))
  })

  /** Leases due deliveries until an instant, oldest first, per endpoint up to its free slots. */
  const take = Effect.fn("DeliveryStore.take")(
    function*(
      options: { readonly free: ReadonlyArray<EndpointSlots>; readonly sender: number; now: number; until: number }
    ) {
      const { now, free, sender, until } = options
      const rows = yield* takenRows(sql`
        WITH due AS MATERIALIZED (
          SELECT d.id FROM unnest(${numbers(free.map(({ endpointId }) => endpointId))}::float8[],
              ${numbers(free.map(({ slots }) => slots))}::float8[]) AS r(endpoint_id, slots)
            JOIN webhook_endpoints e ON e.id = r.endpoint_id::bigint AND e.active
            CROSS JOIN LATERAL (
              SELECT w.id FROM webhook_deliveries w
              WHERE w.endpoint_id = e.id AND w.status = 'pending' AND w.next_attempt_at <= ${toDate(now)}
                AND (w.claimed_until IS NULL OR w.claimed_until <= ${toDate(now)}
                  OR w.claimed_until > ${toDate(now + maxLeaseMs)})
              ORDER BY w.next_attempt_at, w.id LIMIT r.slots::bigint FOR NO KEY UPDATE SKIP LOCKED
            ) d
        ), taken AS (
          UPDATE webhook_deliveries d SET claimed_by = ${sender}, claimed_until = ${toDate(until)}
          FROM due WHERE d.id = due.id
          RETURNING d.id, d.attempts, d.endpoint_id, d.event_id
        )
        SELECT t.id, t.attempts, e.id AS "endpointId", e.url,
          e.secret_sealed AS secret, e.previous_secret_sealed AS "previousSecret",
          e.previous_secret_until AS "previousUntil", v.id AS "eventId", v.type, v.created_at AS "createdAt",
          v.data::text AS data, v.player_id AS "playerId", r.id AS "paymentId",
          CASE WHEN v.type = 'player.registered' THEN p.numbers_sealed END AS numbers, r.details_sealed AS details
        FROM taken t JOIN webhook_endpoints e ON e.id = t.endpoint_id JOIN events v ON v.id = t.event_id
          LEFT JOIN players p ON p.id = v.player_id
          LEFT JOIN payment_requests r ON r.id = (v.data -> 'payment' ->> 'id')::bigint AND r.player_id = v.player_id
        ORDER BY t.id`)
      return yield* Effect.forEach(rows, (row) =>
        Effect.map(dataOf(row), (data): TakenDelivery => ({
          id: row.id,
          attempts: row.attempts,
          endpoint: {
            id: row.endpointId,
            url: row.url,
            secret: row.secret,
            previous: row.previousSecret === null || row.previousUntil === null
              ? null
              : { secret: row.previousSecret, until: row.previousUntil.getTime() }
          },
          event: { id: row.eventId, type: row.type, createdAt: iso(row.createdAt.getTime()), data }
        })))
    }
  )

  /** Records results. Skips deliveries meanwhile leased by another process or reset by staff. */
  const record = Effect.fn("DeliveryStore.record")((sender: number, results: ReadonlyArray<AttemptResult>) =>
    Effect.asVoid(sql`
      UPDATE webhook_deliveries d SET status = u.status, attempts = u.attempts::integer + 1, next_attempt_at = u.next_attempt_at,
        response_status = u.response_status::integer, error = u.error, response_body = u.body,
        duration_ms = u.duration_ms::integer, sent_at = u.sent_at, claimed_by = NULL, claimed_until = NULL,
        updated_at = u.ended_at
      FROM unnest(${numbers(results.map(({ id }) => id))}::float8[],
        ${numbers(results.map(({ attempts }) => attempts))}::float8[],
        ${texts(results.map(({ status }) => status))}::text[],
        ${times(results.map(({ nextAttemptAt }) => nextAttemptAt))}::timestamptz[],
        ${numbers(results.map(({ responseStatus }) => responseStatus))}::float8[],
        ${texts(results.map(({ error }) => error))}::text[],
        ${times(results.map(({ endedAt }) => endedAt))}::timestamptz[],
        ${texts(results.map(({ body }) => body))}::text[],
        ${numbers(results.map(({ durationMs }) => durationMs))}::float8[],
        ${times(results.map(({ sentAt }) => sentAt))}::timestamptz[])
        AS u(id, attempts, status, next_attempt_at, response_status, error, ended_at, body, duration_ms, sent_at)
      WHERE d.id = u.id::bigint AND d.claimed_by = ${sender} AND d.status = 'pending' AND d.attempts = u.attempts::integer`)
  )

  /** Releases leased deliveries without a result; their due time is unchanged. */
  const release = Effect.fn("DeliveryStore.release")((sender: number, deliveryIds: ReadonlyArray<number>) =>
    Effect.asVoid(sql`
      UPDATE webhook_deliveries d SET claimed_by = NULL, claimed_until = NULL
      FROM unnest(${numbers(deliveryIds)}::float8[]) AS u(id)
      WHERE d.id = u.id::bigint AND d.claimed_by = ${sender} AND d.status = 'pending'`)
  )

  /** Time of the oldest event without deliveries, and due time of the oldest pending delivery. */
  const lag = Effect.fn("DeliveryStore.lag")(function*() {
    const [row] = yield* lagRows(sql`
      SELECT (SELECT created_at FROM events WHERE NOT fanned_out ORDER BY id LIMIT 1) AS "oldestEvent",
        (SELECT min(d.next_attempt_at) FROM webhook_endpoints e CROSS JOIN LATERAL (
          SELECT next_attempt_at FROM webhook_deliveries
          WHERE endpoint_id = e.id AND status = 'pending' ORDER BY next_attempt_at, id LIMIT 1) d
        WHERE e.active) AS "oldestDue",
        (SELECT count(*) FROM (SELECT FROM events WHERE NOT fanned_out LIMIT ${maxCounted}) e)::float8 AS events,
        (SELECT count(*) FROM (SELECT FROM webhook_deliveries WHERE status = 'pending' LIMIT ${maxCounted}) d)::float8
          AS deliveries`)
    return {
      events: row?.events ?? 0,
      deliveries: row?.deliveries ?? 0,
      oldestEventAt: row?.oldestEvent?.getTime() ?? null,
      oldestDueAt: row?.oldestDue?.getTime() ?? null
    }
  })

  return { fanOut, endpointsDue, take, record, release, lag }
})

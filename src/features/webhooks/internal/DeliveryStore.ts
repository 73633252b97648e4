/** SQL for webhook deliveries: fan-out of events, and leasing, recording and releasing of deliveries. */
import { Array as Arr, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { numbers, texts, times } from "../../../platform/ArrayParameters.ts"
import { Ids } from "../../../platform/Ids.ts"
import { inTransaction } from "../../../platform/InTransaction.ts"
import { toDate } from "../../../platform/Time.ts"
import { inOrderOfEffects } from "../../../domain/state/Events.ts"
import { eventColumns, EventRow, eventTables, makeReadEvent } from "../../../store/EventBodies.ts"
import { rowsOf } from "../../../store/Rows.ts"
import type { AttemptedDelivery } from "../Attempts.ts"

/** Events per fan-out, besides those of their players that come before them. */
const fannedOutAtOnce = 200

/** Deliveries per statement, at most one block of ids. */
const maxInserted = 4000

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

const subscribedRows = rowsOf(Schema.Struct({
  eventId: Schema.Number,
  endpointId: Schema.Number,
  operatorId: Schema.Number,
  isFull: Schema.Boolean
}))

const endpointRows = rowsOf(Schema.Struct({ endpointId: Schema.Number }))

const takenRows = rowsOf(Schema.Struct({
  id: Schema.Number,
  attempts: Schema.Number,
  endpointId: Schema.Number,
  url: Schema.String,
  secret: Schema.Uint8Array,
  previousSecret: Schema.NullOr(Schema.Uint8Array),
  previousUntil: Schema.NullOr(Schema.Date),
  ...EventRow.fields
}))

/** Transaction lock of who numbers events; an arbitrary number. */
const numberingLock = 720_455_105

/** An event that is dated further ahead than this has its time from the clock of a sandbox. */
const clocksDifferMs = 60_000

/** Longest time between two statements of a fan-out. */
const maxIdle = "5s"

const waitingRows = rowsOf(Schema.Struct({
  id: Schema.Number,
  operatorId: Schema.Number,
  playerId: Schema.NullOr(Schema.Number),
  playerVersion: Schema.Number,
  createdAt: Schema.Date
}))
const lastRows = rowsOf(Schema.Struct({ of: Schema.Number, last: Schema.Number }))

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
  const readEvent = yield* makeReadEvent
  const ids = yield* Ids

  /** Adds to the counters of a table, and returns their new values by owner. */
  const advance = Effect.fnUntraced(function*(
    table: "event_positions" | "event_sequences",
    owners: ReadonlyArray<number>
  ) {
    const [owner, counter] = table === "event_positions" ? ["operator_id", "position"] : ["player_id", "sequence"]
    const added = Map.groupBy(owners, (one) => one)
    if (added.size === 0) return new Map<number, number>()
    const rows = yield* lastRows(sql`
      INSERT INTO ${sql(table)} AS t (${sql(owner)}, ${sql(counter)})
      SELECT u.owner::bigint, u.added::bigint FROM unnest(${numbers([...added.keys()])}::float8[],
        ${numbers([...added.values()].map(({ length }) => length))}::float8[]) AS u(owner, added)
      ON CONFLICT (${sql(owner)}) DO UPDATE SET ${sql(counter)} = t.${sql(counter)} + EXCLUDED.${sql(counter)}
      RETURNING t.${sql(owner)}::float8 AS of, t.${sql(counter)}::float8 AS last`)
    return new Map(rows.map(({ last, of }) => [of, last - (added.get(of)?.length ?? 0)]))
  })

  /**
   * Numbers committed events, per operator and per player, and fans them out into deliveries, one per subscribed endpoint. One process at a time: numbers
   * are given in the order of commits, so that none appears behind one that was shown. Returns the number of events, and the endpoints.
   */
  const fanOut = Effect.fn("DeliveryStore.fanOut")((now: number) =>
    inTransaction(sql)(Effect.gen(function*() {
      // all others wait for the lock: a process that is frozen loses it with its session
      yield* sql`SELECT set_config('idle_in_transaction_session_timeout', ${maxIdle}, true),
        pg_advisory_xact_lock(${numberingLock}::bigint)`
      // the oldest, and with each event those of its player that come before it
      const waiting = yield* waitingRows(sql`
        WITH oldest AS MATERIALIZED (
          SELECT id, player_id, player_version, created_at FROM events WHERE NOT fanned_out ORDER BY id LIMIT ${fannedOutAtOnce}
        )
        SELECT e.id, e.operator_id AS "operatorId", e.player_id AS "playerId", e.player_version AS "playerVersion",
          e.created_at AS "createdAt"
        FROM events e WHERE NOT e.fanned_out AND (e.id IN (SELECT id FROM oldest) OR e.id IN (
          SELECT w.id FROM oldest o JOIN events w ON w.player_id = o.player_id AND NOT w.fanned_out
            AND (w.player_version, w.created_at) < (o.player_version, o.created_at)))`)
      if (waiting.length === 0) return { events: 0, hasMore: false, endpointIds: new Set<number>() }
      const ordered = inOrderOfEffects(waiting)
      const positions = yield* advance("event_positions", ordered.map(({ operatorId }) => operatorId))
      const sequences = yield* advance("event_sequences", ordered.flatMap(({ playerId }) => playerId ?? []))
      const next = (counters: Map<number, number>, owner: number): number => {
        const number = (counters.get(owner) ?? 0) + 1
        counters.set(owner, number)
        return number
      }
      const rows = yield* subscribedRows(sql`
        WITH numbered AS (
          UPDATE events e SET fanned_out = true, position = u.position::bigint, player_sequence = u.sequence::bigint,
            made_at = CASE WHEN e.created_at > ${toDate(now + clocksDifferMs)} THEN ${toDate(now)}::timestamptz END
          FROM unnest(${numbers(ordered.map(({ id }) => id))}::float8[],
            ${numbers(ordered.map(({ operatorId }) => next(positions, operatorId)))}::float8[],
            ${numbers(ordered.map(({ playerId }) => playerId === null ? null : next(sequences, playerId)))}::float8[])
            AS u(id, position, sequence)
          WHERE e.id = u.id::bigint
          RETURNING e.id, e.operator_id, e.type
        )
        SELECT t.id AS "eventId", e.id AS "endpointId", t.operator_id AS "operatorId", e.is_full AS "isFull"
        FROM numbered t JOIN webhook_endpoints e
          ON e.operator_id = t.operator_id AND (e.events IS NULL OR t.type = ANY (e.events))
        ORDER BY t.id, e.id`)
      // ids of deliveries rise as the events were numbered
      const places = new Map(ordered.map(({ id }, place) => [id, place]))
      const placeOf = ({ eventId }: typeof rows[number]) => places.get(eventId) ?? 0
      const deliveries = rows.toSorted((one, other) => placeOf(one) - placeOf(other))
      for (const some of Arr.chunksOf(deliveries, maxInserted)) {
        const first = yield* ids.reserve(some.length)
        yield* sql`
          INSERT INTO webhook_deliveries (id, event_id, endpoint_id, operator_id, status, next_attempt_at, error,
            created_at, updated_at)
          SELECT u.id, u.event_id, u.endpoint_id, u.operator_id, u.status,
            CASE WHEN u.status = 'pending' THEN ${toDate(now)}::timestamptz END,
            CASE WHEN u.status = 'failed' THEN 'backlog_full' END, ${toDate(now)}, ${toDate(now)}
          FROM unnest(${numbers(some.map((_, index) => first + index))}::float8[],
            ${numbers(some.map(({ eventId }) => eventId))}::float8[],
            ${numbers(some.map(({ endpointId }) => endpointId))}::float8[],
            ${numbers(some.map(({ operatorId }) => operatorId))}::float8[],
            ${texts(some.map(({ isFull }) => isFull ? "failed" : "pending"))}::text[])
            AS u(id, event_id, endpoint_id, operator_id, status)`
      }
      return {
        events: waiting.length,
        hasMore: waiting.length >= fannedOutAtOnce,
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
          e.previous_secret_until AS "previousUntil", ${sql.literal(eventColumns)}
        FROM taken t JOIN webhook_endpoints e ON e.id = t.endpoint_id JOIN events v ON v.id = t.event_id
          ${sql.literal(eventTables)}
        ORDER BY t.id`)
      return yield* Effect.forEach(rows, (row) =>
        Effect.map(readEvent(row), (event): TakenDelivery => ({
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
          event
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

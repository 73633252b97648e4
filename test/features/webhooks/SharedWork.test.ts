import { assert, layer } from "@effect/vitest"
import { Clock, Context, Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { layerBackoffice } from "../../../src/servers/Backoffice.ts"
import { WebhookDeliveries } from "../../../src/features/webhooks/WebhookDeliveries.ts"
import { WebhookEndpoints } from "../../../src/features/webhooks/WebhookEndpoints.ts"
import { toDate } from "../../../src/platform/Time.ts"
import { WebhookHousekeeping } from "../../../src/features/webhooks/WebhookHousekeeping.ts"
import { type SenderOptions, WebhookSender } from "../../../src/features/webhooks/WebhookSender.ts"
import { eventRetentionMs } from "../../../src/store/Outbox.ts"
import { layerTestService } from "../../kit/TestService.ts"
import { makeSink } from "../../kit/WebhookSink.ts"
import { addListener, someStaff } from "../../kit/Webhooks.ts"

// Goal: several senders share the work, take over from stopped ones, starve no endpoint, and keep memory and tables bounded.
// Method: senders that the test starts and stops, side by side on one database, with a test clock.

const noon = Date.UTC(2026, 10, 20, 12)

const base = layerBackoffice.pipe(
  Layer.provideMerge(layerTestService()),
  Layer.provideMerge(Layer.effectDiscard(TestClock.setTime(noon)))
)

/** A separate sender, until the scope closes. By default it takes every event at once, since the clock stands still. */
const startSender = (options: Partial<SenderOptions> = {}) =>
  Effect.map(
    Layer.build(Layer.fresh(WebhookSender.layerWith({ gatherMs: 0, ...options }))),
    (context) => Context.get(context, WebhookSender)
  )

const startHousekeeping = (options: { readonly maxBacklog?: number } = {}) =>
  Effect.map(
    Layer.build(Layer.fresh(WebhookHousekeeping.layerWith(options))),
    (context) => Context.get(context, WebhookHousekeeping)
  )

const all = { limit: 100, scope: null }

layer(base)("webhook senders on one database", (it) => {
  it.effect("two senders send every delivery exactly once", () =>
    Effect.gen(function*() {
      const { emitMany, listenAt } = yield* addListener("shared")
      const sinks = [yield* makeSink(), yield* makeSink(), yield* makeSink()]
      for (const { url } of sinks) yield* listenAt(url)
      const senders = [yield* startSender(), yield* startSender()]
      yield* Effect.forEach([0, 1, 2, 3], () => emitMany(30), { concurrency: 4 })
      yield* Effect.forEach(senders, ({ flush }) => flush, { concurrency: 2 })
      for (const { received } of sinks) {
        assert.strictEqual(received.length, 120)
        assert.strictEqual(new Set(received.map(({ headers }) => headers["x-service-delivery"])).size, 120)
      }
    }))

  it.effect("events committed within the pause after a fan-out are fanned out together", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { emit, listenAt } = yield* addListener("gathered")
      const sink = yield* makeSink()
      yield* listenAt(sink.url)
      const { flush } = yield* startSender({ gatherMs: 20, pollMs: 60_000 })
      yield* flush
      const first = yield* emit()
      yield* sink.arrived(1)
      const others = [yield* emit(), yield* emit(), yield* emit()]
      yield* TestClock.adjust(20)
      yield* sink.arrived(4)
      const rows = yield* sql<{ readonly id: number; readonly xmin: string }>`
        SELECT id, xmin::text AS xmin FROM events WHERE id >= ${first} AND fanned_out ORDER BY id`
      assert.deepStrictEqual(rows.map(({ id }) => id), [first, ...others])
      assert.strictEqual(new Set(rows.slice(1).map(({ xmin }) => xmin)).size, 1)
      assert.notStrictEqual(rows[0]?.xmin, rows[1]?.xmin)
    }))

  it.effect("an expired lease of a killed sender is taken over", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { emit, listenAt } = yield* addListener("orphan")
      const sink = yield* makeSink()
      const { id } = yield* listenAt(sink.url, { active: false })
      yield* emit()
      const { flush } = yield* startSender()
      yield* flush
      // as left by a sender that claimed it and died
      const now = yield* Clock.currentTimeMillis
      yield* sql`UPDATE webhook_deliveries SET claimed_by = 1, claimed_until = ${toDate(now + 30_000)}
        WHERE endpoint_id = ${id}`
      yield* sql`UPDATE webhook_endpoints SET active = true WHERE id = ${id}`
      yield* TestClock.adjust(29_999)
      yield* flush
      assert.strictEqual(sink.received.length, 0)
      yield* TestClock.adjust(1)
      yield* flush
      assert.strictEqual(sink.received.length, 1)
    }))

  it.effect("a stopping sender finishes or releases its leased deliveries", () =>
    Effect.gen(function*() {
      const deliveries = yield* WebhookDeliveries
      const { emitMany, listenAt } = yield* addListener("leaving")
      const ending = yield* makeSink(() => "hang")
      const { id: webhookId } = yield* listenAt(ending.url)
      const scope = yield* Scope.make()
      yield* Scope.provide(startSender({ drainMs: 1000 }), scope)
      yield* emitMany(5)
      yield* ending.arrived(5)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      yield* TestClock.adjust(999)
      assert.isUndefined(closing.pollUnsafe())
      yield* TestClock.adjust(1)
      yield* Fiber.join(closing)
      const { items } = yield* deliveries.list({ ...all, webhookId })
      assert.deepStrictEqual(
        items.map(({ attempts, status }) => [status, attempts]),
        Array.from({ length: 5 }, () => ["pending", 0])
      )
      ending.answer = () => 200
      const { flush } = yield* startSender()
      yield* flush
      assert.strictEqual(ending.received.length, 10)
    }))

  it.effect("an endpoint with many waiting deliveries does not delay an endpoint with few", () =>
    Effect.gen(function*() {
      const busy = yield* addListener("busy")
      const calm = yield* addListener("calm")
      const [much, little] = [yield* makeSink(), yield* makeSink()]
      const { id } = yield* busy.listenAt(much.url, { active: false })
      yield* calm.listenAt(little.url)
      yield* busy.emitMany(200)
      const idle = yield* Scope.make()
      const { flush } = yield* Scope.provide(startSender(), idle)
      yield* flush
      yield* Scope.close(idle, Exit.void)
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE webhook_endpoints SET active = true WHERE id = ${id}`
      // with minimal capacity
      const sender = yield* startSender({ maxInFlight: 4, maxInFlightPerEndpoint: 4 })
      yield* much.arrived(20)
      yield* calm.emit()
      yield* little.arrived(1)
      assert.isBelow(much.received.length, 200)
      yield* sender.flush
      assert.strictEqual(much.received.length, 200)
      assert.strictEqual(little.received.length, 1)
    }))

  it.effect("deliveries beyond the backlog limit fail, and staff can retry them", () =>
    Effect.gen(function*() {
      const deliveries = yield* WebhookDeliveries
      const endpoints = yield* WebhookEndpoints
      const { emit, emitMany, listenAt } = yield* addListener("full")
      const sink = yield* makeSink()
      const { id: webhookId } = yield* listenAt(sink.url, { active: false })
      const housekeeping = yield* startHousekeeping({ maxBacklog: 5 })
      const { flush } = yield* startSender()
      yield* emitMany(5)
      yield* flush
      yield* housekeeping.watch
      const late = yield* emit()
      yield* flush
      const { items: failed } = yield* deliveries.list({ ...all, webhookId, status: "failed" })
      assert.deepStrictEqual(failed.map(({ attempts, error, event_id }) => [event_id, attempts, error]), [
        [String(late), 0, "backlog_full"]
      ])
      yield* endpoints.update(someStaff, webhookId, { active: true })
      yield* flush
      assert.strictEqual(sink.received.length, 5)
      yield* housekeeping.watch
      yield* deliveries.retry(someStaff, failed[0]?.id ?? 0)
      yield* emit()
      yield* flush
      assert.strictEqual(sink.received.length, 7)
    }))

  it.effect("a lease with an impossibly late end is ignored, as a wrong clock wrote it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { emit, listenAt } = yield* addListener("taken-ahead")
      const sink = yield* makeSink()
      const { id } = yield* listenAt(sink.url, { active: false })
      yield* emit()
      const { flush } = yield* startSender()
      yield* flush
      // a day: claimed under a clock that ran ahead, by a process that died
      const now = yield* Clock.currentTimeMillis
      yield* sql`UPDATE webhook_deliveries SET claimed_by = 1, claimed_until = ${toDate(now + 86_400_000)}
        WHERE endpoint_id = ${id}`
      yield* sql`UPDATE webhook_endpoints SET active = true WHERE id = ${id}`
      yield* flush
      assert.strictEqual(sink.received.length, 1)
    }))

  it.effect("housekeeping skips rows that another transaction has locked", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { emit, listenAt } = yield* addListener("written-down")
      const sink = yield* makeSink(() => 500)
      const { id } = yield* listenAt(sink.url)
      const { tidy } = yield* startHousekeeping()
      const { flush } = yield* startSender()
      yield* emit()
      yield* flush
      yield* sql`UPDATE webhook_deliveries SET next_attempt_at = ${toDate(noon + 86_400_000)} WHERE endpoint_id = ${id}`
      const written = yield* Deferred.make<void>()
      const tidied = yield* Deferred.make<void>()
      const writing = yield* Effect.forkChild(sql.withTransaction(Effect.gen(function*() {
        yield* sql`UPDATE webhook_deliveries SET status = 'delivered', next_attempt_at = NULL WHERE endpoint_id = ${id}`
        yield* Deferred.succeed(written, undefined)
        yield* Deferred.await(tidied)
      })))
      yield* Deferred.await(written)
      yield* tidy
      yield* Deferred.succeed(tidied, undefined)
      yield* Fiber.join(writing)
    }))

  it.effect("a next attempt later than the longest delay is due at once, as a wrong clock wrote it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { emit, listenAt } = yield* addListener("put-off")
      const sink = yield* makeSink()
      const { id } = yield* listenAt(sink.url)
      const { tidy } = yield* startHousekeeping()
      const { flush } = yield* startSender()
      sink.answer = () => 500
      yield* emit()
      yield* flush
      const putOff = (ms: number) =>
        sql`UPDATE webhook_deliveries SET next_attempt_at = ${toDate(noon + ms)} WHERE endpoint_id = ${id}`
      sink.answer = () => 200
      // the longest delay before the last attempt
      yield* putOff(64 * 60_000)
      yield* tidy
      yield* flush
      assert.lengthOf(sink.received, 1)
      // a day: written under a clock that ran ahead
      yield* putOff(86_400_000)
      yield* tidy
      yield* flush
      assert.lengthOf(sink.received, 2)
    }))

  it.effect("old deliveries are deleted, and overdue ones expire", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const deliveries = yield* WebhookDeliveries
      const { emit, listenAt, operator } = yield* addListener("old")
      const sink = yield* makeSink()
      const { id: done } = yield* listenAt(sink.url)
      const { id: paused } = yield* listenAt(sink.url, { active: false })
      const { tidy } = yield* startHousekeeping()
      const { flush } = yield* startSender()
      yield* emit()
      yield* flush
      const count = Effect.map(
        sql<
          { readonly total: number }
        >`SELECT count(*)::float8 AS total FROM events WHERE operator_id = ${operator.id}`,
        ([row]) => row?.total
      )
      const age = (table: string) =>
        sql`UPDATE ${sql(table)} SET created_at = created_at - ${`${eventRetentionMs + 1} milliseconds`}::interval
          WHERE operator_id = ${operator.id}`
      yield* tidy
      assert.strictEqual(yield* count, 1)
      yield* age("events")
      yield* age("webhook_deliveries")
      yield* tidy
      // one delivery waits for a retry, the other ended just now: both keep the event
      assert.strictEqual(yield* count, 1)
      const old = toDate(noon - eventRetentionMs - 1)
      yield* sql`UPDATE webhook_deliveries SET updated_at = ${old} WHERE endpoint_id = ${done}`
      yield* sql`UPDATE webhook_deliveries SET next_attempt_at = ${old} WHERE endpoint_id = ${paused}`
      yield* tidy
      assert.deepStrictEqual((yield* deliveries.list({ ...all, webhookId: done })).items, [])
      const { items } = yield* deliveries.list({ ...all, webhookId: paused })
      assert.deepInclude(items[0], { status: "failed", error: "expired", next_attempt_at: null })
      yield* sql`UPDATE webhook_deliveries SET updated_at = ${old} WHERE endpoint_id = ${paused}`
      yield* tidy
      assert.deepStrictEqual((yield* deliveries.list({ ...all, webhookId: paused })).items, [])
      assert.strictEqual(yield* count, 0)
    }))
})

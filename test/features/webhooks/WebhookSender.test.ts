import { assert, layer } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Webhook as StandardWebhook } from "standardwebhooks"
import { Webhook as SvixWebhook } from "svix"
import { vi } from "vitest"
import { layerBackoffice } from "../../../src/servers/Backoffice.ts"
import { WebhookDeliveries } from "../../../src/features/webhooks/WebhookDeliveries.ts"
import { WebhookEndpoints } from "../../../src/features/webhooks/WebhookEndpoints.ts"
import { toDate } from "../../../src/platform/Time.ts"
import { Wallet } from "../../../src/features/wallet/Wallet.ts"
import { WebhookSender } from "../../../src/features/webhooks/WebhookSender.ts"
import { Calendar, minuteMs, pass } from "../../kit/Calendar.ts"
import { chanceOf, seedOfRun } from "../../kit/Chance.ts"
import { layerTestService, ServiceSql } from "../../kit/TestService.ts"
import { expectedSignature, makeSink } from "../../kit/WebhookSink.ts"
import { addListener, someStaff } from "../../kit/Webhooks.ts"

// Goal: every committed event reaches every subscribed endpoint, at least once and by the retry schedule, and uncommitted
// events reach none. Method: the sender on a database of its own, a test clock, and servers scripted by the test.

const noon = Date.UTC(2026, 10, 20, 12)

// polls once a minute: every poll takes real time when the clock is advanced
const sender = WebhookSender.layerWith({ pollMs: 60_000, gatherMs: 0 }).pipe(
  Layer.provideMerge(layerBackoffice),
  Layer.provideMerge(layerTestService())
)
const live = Layer.provideMerge(sender, Layer.effectDiscard(TestClock.setTime(noon)))
// hours pass at once, without all that is done each second of them
const byCalendar = Layer.provideMerge(sender, Calendar.layer)

const delays = [1, 2, 4, 8, 16, 32, 64]
const seed = seedOfRun()

const all = { limit: 100, scope: null }

layer(byCalendar, { excludeTestServices: true })("retrying webhooks", (it) => {
  it.effect("keeps the timetable: eight attempts, then failed, and eight more when staff retry", () =>
    Effect.gen(function*() {
      const { flush } = yield* WebhookSender
      const deliveries = yield* WebhookDeliveries
      const { emit, listenAt } = yield* addListener("patient")
      const sink = yield* makeSink(() => 500)
      const { id: webhookId } = yield* listenAt(sink.url)
      const eventId = yield* emit()
      const only = Effect.map(deliveries.list({ ...all, webhookId }), ({ items }) => {
        assert.strictEqual(items.length, 1)
        return items[0] ?? assert.fail("one delivery")
      })
      yield* flush
      assert.strictEqual(sink.received.length, 1)
      for (const [index, delay] of delays.entries()) {
        const { next_attempt_at: next, ...waiting } = yield* only
        assert.deepInclude(waiting, { status: "retrying", attempts: index + 1, response_status: 500, error: "status" })
        yield* pass(delay * minuteMs - 1)
        yield* flush
        assert.strictEqual(sink.received.length, index + 1, `not before ${delay} minutes`)
        yield* pass(1)
        assert.strictEqual(Date.parse(next ?? ""), yield* Clock.currentTimeMillis)
        yield* flush
        assert.strictEqual(sink.received.length, index + 2, `after ${delay} minutes`)
      }
      const failed = yield* only
      assert.deepInclude(failed, { status: "failed", attempts: 8, next_attempt_at: null, event_id: String(eventId) })
      yield* pass(130 * minuteMs)
      yield* flush
      assert.strictEqual(sink.received.length, 8)

      const retried = yield* deliveries.retry(someStaff, failed.id)
      assert.deepInclude(retried, { id: failed.id, status: "pending", attempts: 0, response_status: null, error: null })
      yield* flush
      assert.deepInclude(yield* only, { status: "retrying", attempts: 1 })
      sink.answer = () => 204
      yield* pass(minuteMs)
      yield* flush
      assert.deepInclude(yield* only, { status: "delivered", attempts: 2, next_attempt_at: null, response_status: 204 })
      // a delivered one can be sent again, too
      yield* deliveries.retry(someStaff, failed.id)
      yield* flush
      assert.deepInclude(yield* only, { status: "delivered", attempts: 1 })

      const heads = sink.received.map(({ headers }) => headers)
      assert.strictEqual(heads.length, 11)
      assert.deepStrictEqual(new Set(heads.map((head) => head["x-service-delivery"])), new Set([String(failed.id)]))
      assert.deepStrictEqual(new Set(heads.map((head) => head["x-service-event-id"])), new Set([String(eventId)]))
      assert.strictEqual(new Set(sink.received.map(({ body }) => body)).size, 1)
      assert.strictEqual(heads[0]?.["x-service-timestamp"], String(noon / 1000))
      assert.strictEqual(heads[1]?.["x-service-timestamp"], String(noon / 1000 + 60))
    }))

  it.effect(
    `loses no event at an endpoint that fails half of the time (E2E_SEED=${seed})`,
    Effect.fnUntraced(function*() {
      const sql = yield* ServiceSql
      const { flush } = yield* WebhookSender
      const deliveries = yield* WebhookDeliveries
      const wallet = yield* Wallet
      const { insert, listenAt, operator, playerId } = yield* addListener("flaky")
      const chance = chanceOf(seed)
      const good = new Set<number>()
      const sink = yield* makeSink(({ body }) => {
        if (chance.pick([true, false])) return chance.pick([500, 302, 404])
        good.add(JSON.parse(body).data.payment.id)
        return 200
      })
      yield* listenAt(sink.url)

      const answering = { claim: undefined, render: () => ({ status: 201, body: "" }) }
      const paid = new Set<number>()
      let refused = 0
      yield* Effect.forEach(Array.from({ length: 120 }), (_, index) =>
        Effect.gen(function*() {
          // every third reuses a reference with another amount; every fifth has an unknown payment method
          const paymentMethod = index % 5 === 4 ? "unknown" : null
          const externalReference = index % 3 === 2 ? "taken" : index === 0 ? "taken" : `d${index}`
          const request = { amount: 100 + index, externalReference, paymentMethod, info: null, notes: null }
          yield* wallet.deposit(operator, playerId, request, answering).pipe(
            Effect.match({ onFailure: () => void refused++, onSuccess: ({ payment }) => void paid.add(payment.id) })
          )
        }))
      assert.isAbove(refused, 20)
      assert.isAbove(paid.size, 60)
      // a rolled-back event never existed
      yield* Effect.ignore(sql.withTransaction(Effect.andThen(insert(), Effect.fail("rolled back"))))

      yield* flush
      for (const delay of delays) {
        yield* pass(delay * minuteMs)
        yield* flush
      }
      // one in 256 has failed eight times
      for (;;) {
        const { items } = yield* deliveries.list({ ...all, scope: [operator.id], status: "failed" })
        if (items.length === 0) break
        for (const { id } of items) yield* deliveries.retry(someStaff, id)
        yield* flush
        for (const delay of delays) {
          yield* pass(delay * minuteMs)
          yield* flush
        }
      }
      assert.deepStrictEqual(good, paid)
      // a receiver that stores event ids counts each once
      const ids = new Set(sink.received.map(({ headers }) => headers["x-service-event-id"]))
      assert.strictEqual(ids.size, paid.size)
      assert.isAbove(sink.received.length, ids.size)
    }),
    120_000
  )
})

layer(live)("sending webhooks", (it) => {
  it.effect("delivers events whose commit becomes visible late", () =>
    Effect.gen(function*() {
      const sql = yield* ServiceSql
      const { flush } = yield* WebhookSender
      const { emit, insert, listenAt } = yield* addListener("late")
      const sink = yield* makeSink()
      yield* listenAt(sink.url)
      const isOpen = yield* Deferred.make<number>()
      const mayCommit = yield* Deferred.make<void>()
      const slow = yield* Effect.forkChild(sql.withTransaction(Effect.gen(function*() {
        yield* Deferred.succeed(isOpen, yield* insert())
        yield* Deferred.await(mayCommit)
      })))
      const first = yield* Deferred.await(isOpen)
      const second = yield* emit()
      yield* flush
      const idsTold = () => sink.received.map(({ headers }) => Number(headers["x-service-event-id"]))
      assert.deepStrictEqual(idsTold(), [second])
      assert.isBelow(first, second)
      yield* Deferred.succeed(mayCommit, undefined)
      yield* Fiber.join(slow)
      yield* flush
      assert.deepStrictEqual(idsTold(), [second, first])
    }))

  it.effect("delivers to other endpoints while one does not answer", () =>
    Effect.gen(function*() {
      const { flush } = yield* WebhookSender
      const slow = yield* addListener("slow")
      const quick = yield* addListener("quick")
      const hanging = yield* makeSink(() => "hang")
      const prompt = yield* makeSink()
      yield* slow.listenAt(hanging.url)
      yield* quick.listenAt(prompt.url)
      yield* slow.emitMany(30)
      yield* quick.emitMany(30)
      yield* prompt.arrived(30)
      yield* hanging.arrived(8)
      // only the eight hanging requests are pending now
      assert.strictEqual(hanging.received.length, 8)
      yield* TestClock.adjust("5 seconds")
      // a silent endpoint gets fewer concurrent requests
      yield* hanging.arrived(10)
      yield* quick.emitMany(5)
      yield* prompt.arrived(35)
      assert.strictEqual(hanging.received.length, 10)
      // it recovers
      hanging.answer = () => 200
      yield* TestClock.adjust("5 seconds")
      yield* hanging.arrived(30)
      yield* flush
      yield* TestClock.adjust("1 minute")
      yield* flush
      assert.strictEqual(new Set(hanging.received.map(({ headers }) => headers["x-service-event-id"])).size, 30)
    }))

  it.effect("restarts a delivery with all attempts when staff retry it during an attempt", () =>
    Effect.gen(function*() {
      const { flush } = yield* WebhookSender
      const deliveries = yield* WebhookDeliveries
      const { emit, listenAt } = yield* addListener("set-back")
      const sink = yield* makeSink(() => 500)
      const { id: webhookId } = yield* listenAt(sink.url)
      yield* emit()
      yield* flush
      yield* TestClock.adjust("1 minute")
      yield* flush
      sink.answer = () => "hang"
      yield* TestClock.adjust("2 minutes")
      yield* Effect.forkChild(flush)
      yield* sink.arrived(3)
      const [inFlight] = (yield* deliveries.list({ ...all, webhookId })).items
      assert.deepInclude(inFlight, { status: "retrying", attempts: 2 })
      yield* deliveries.retry(someStaff, inFlight?.id ?? 0)
      // the attempt in flight fails, superseded by the retry of staff
      sink.answer = () => 500
      sink.cut()
      yield* flush
      yield* TestClock.adjust("30 seconds")
      yield* flush
      assert.deepInclude((yield* deliveries.list({ ...all, webhookId })).items[0], { status: "retrying", attempts: 1 })
    }))

  it.effect("delivers an event to its operator's active endpoints that subscribe to its type", () =>
    Effect.gen(function*() {
      const { flush } = yield* WebhookSender
      const endpoints = yield* WebhookEndpoints
      const one = yield* addListener("tenant-one")
      const two = yield* addListener("tenant-two")
      const [everything, some, others] = [yield* makeSink(), yield* makeSink(), yield* makeSink()]
      yield* one.listenAt(everything.url)
      const { id } = yield* one.listenAt(some.url, { events: ["bonus.granted", "kyc.status_changed"] })
      yield* two.listenAt(others.url)
      const types = (sink: typeof some) =>
        sink.received.map(({ headers }) => String(headers["x-service-event"])).toSorted()
      yield* one.emit("deposit.paid")
      yield* one.emit("bonus.granted")
      yield* flush
      assert.deepStrictEqual(types(everything), ["bonus.granted", "deposit.paid"])
      assert.deepStrictEqual(types(some), ["bonus.granted"])
      assert.deepStrictEqual(types(others), [])
      assert.include(everything.received[0]?.body, "tenant-one-player")

      yield* endpoints.update(someStaff, id, { active: false })
      yield* one.emit("kyc.status_changed")
      yield* flush
      assert.strictEqual(everything.received.length, 3)
      assert.strictEqual(some.received.length, 1)
      yield* endpoints.update(someStaff, id, { active: true, events: ["deposit.paid"] })
      yield* one.emit("bonus.granted")
      yield* flush
      assert.deepStrictEqual(types(some), ["bonus.granted", "kyc.status_changed"])
    }))

  it.effect("signs with the old and the new secret for a day after a rotation", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { flush } = yield* WebhookSender
      const endpoints = yield* WebhookEndpoints
      const { emit, listenAt } = yield* addListener("rotating")
      const sink = yield* makeSink()
      const { id, secret: first, standard_webhooks: isStandard } = yield* listenAt(sink.url)
      assert.isTrue(isStandard)
      const signatures = Effect.gen(function*() {
        const before = sink.received.length
        yield* emit()
        yield* flush
        const received = sink.received[before] ?? assert.fail("nothing came")
        const said = [received.headers["x-service-signature"], received.headers["x-service-signature-previous"]]
        return { said, expected: (...by: Array<string>) => by.map((one) => expectedSignature(one, received)) }
      })
      const plain = yield* signatures
      assert.deepStrictEqual(plain.said, [...plain.expected(first), undefined])
      assert.match(String(plain.said[0]), /^[0-9a-f]{64}$/)

      const { previous_secret_until: until, secret: second = "" } = yield* endpoints.rotate(someStaff, id)
      assert.strictEqual(Date.parse(until ?? "") - (yield* Clock.currentTimeMillis), 24 * 60 * 60_000)
      const both = yield* signatures
      assert.deepStrictEqual(both.said, both.expected(second, first))
      const { secret: third = "" } = yield* endpoints.rotate(someStaff, id)
      const later = yield* signatures
      assert.deepStrictEqual(later.said, later.expected(third, second))
      const now = yield* Clock.currentTimeMillis
      yield* sql`UPDATE webhook_endpoints SET previous_secret_until = ${toDate(now)} WHERE id = ${id}`
      const over = yield* signatures
      assert.deepStrictEqual(over.said, [...over.expected(third), undefined])
    }))

  // Goal: receivers verify with the libraries that they have. Method: deliveries as they came, before, during and after a rotation, and of a secret of an
  // older form, given to two libraries.
  it.effect("sends signatures that Standard Webhooks libraries verify with either secret during a rotation", () =>
    Effect.gen(function*() {
      const { flush } = yield* WebhookSender
      const endpoints = yield* WebhookEndpoints
      const { emit, listenAt } = yield* addListener("standard")
      const sink = yield* makeSink()
      const { id, secret: first, standard_webhooks: isStandard } = yield* listenAt(sink.url)
      assert.isTrue(isStandard)
      const verifiedBy = Effect.gen(function*() {
        const before = sink.received.length
        yield* emit()
        yield* flush
        const { body, headers } = sink.received[before] ?? assert.fail("nothing came")
        const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
        return (secret: string) => {
          // the libraries go by the time of the process
          vi.useFakeTimers({ toFake: ["Date"], now: 1000 * Number(given["webhook-timestamp"]) })
          const verified = [new StandardWebhook(secret), new SvixWebhook(secret)].map((library) => {
            try {
              library.verify(body, given)
              return true
            } catch {
              return false
            }
          })
          vi.useRealTimers()
          return verified
        }
      })
      assert.deepStrictEqual((yield* verifiedBy)(first), [true, true])
      const { secret: second = "" } = yield* endpoints.rotate(someStaff, id)
      const during = yield* verifiedBy
      assert.deepStrictEqual([first, second, `whsec_${btoa("another secret of 32 characters.")}`].map(during), [
        [true, true],
        [true, true],
        [false, false]
      ])
      yield* endpoints.rotate(someStaff, id, undefined, true)
      const after = yield* verifiedBy
      assert.deepStrictEqual([first, second].map(after), [[false, false], [true, true]])
    }))

  it.effect("signs only with the new secret after an immediate rotation", () =>
    Effect.gen(function*() {
      const { flush } = yield* WebhookSender
      const endpoints = yield* WebhookEndpoints
      const { emit, listenAt } = yield* addListener("now")
      const sink = yield* makeSink()
      const { id } = yield* listenAt(sink.url)
      const isSignedBy = Effect.fnUntraced(function*(secret: string) {
        const before = sink.received.length
        yield* emit()
        yield* flush
        const received = sink.received[before] ?? assert.fail("nothing came")
        assert.strictEqual(received.headers["x-service-signature"], expectedSignature(secret, received))
        assert.isUndefined(received.headers["x-service-signature-previous"])
      })
      const { secret: second = "" } = yield* endpoints.rotate(someStaff, id)
      const ended = yield* endpoints.rotate(someStaff, id, undefined, true)
      assert.deepStrictEqual([ended.previous_secret_until, ended.secret], [null, undefined])
      yield* isSignedBy(second)

      const { previous_secret_until: until, secret: third = "" } = yield* endpoints.rotate(
        someStaff,
        id,
        undefined,
        true
      )
      assert.isNull(until)
      yield* isSignedBy(third)
    }))

  it.effect("can rotate a secret that cannot be decrypted", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { flush } = yield* WebhookSender
      const endpoints = yield* WebhookEndpoints
      const deliveries = yield* WebhookDeliveries
      const { emit, listenAt } = yield* addListener("unreadable")
      const sink = yield* makeSink()
      const { id } = yield* listenAt(sink.url)
      yield* sql`UPDATE webhook_endpoints SET secret_sealed = decode('02', 'hex') WHERE id = ${id}`
      yield* emit()
      yield* flush
      const { items } = yield* deliveries.list({ ...all, webhookId: id })
      assert.deepInclude(items[0], { status: "retrying", attempts: 1, error: "secret_unreadable" })
      assert.lengthOf(sink.received, 0)

      const { previous_secret_until: until, secret = "" } = yield* endpoints.rotate(someStaff, id)
      assert.isNull(until, "nothing is kept of it")
      yield* TestClock.adjust("1 minute")
      yield* flush
      const [received] = sink.received
      assert(received !== undefined)
      assert.strictEqual(received.headers["x-service-signature"], expectedSignature(secret, received))

      // nor when it was stored
      yield* sql`UPDATE webhook_endpoints SET previous_secret_sealed = decode('02', 'hex'),
          previous_secret_until = ${toDate((yield* Clock.currentTimeMillis) + 60_000)} WHERE id = ${id}`
      yield* emit()
      yield* flush
      assert.lengthOf(sink.received, 2)
    }))

  it.effect("pings at once with a single attempt, and stores its result as a delivery", () =>
    Effect.gen(function*() {
      const { flush } = yield* WebhookSender
      const endpoints = yield* WebhookEndpoints
      const deliveries = yield* WebhookDeliveries
      const { listenAt } = yield* addListener("pinged")
      const sink = yield* makeSink(() => 503)
      const { id, secret } = yield* listenAt(sink.url, { active: false, events: ["deposit.paid"] })
      const failed = yield* endpoints.ping(someStaff, id)
      assert.deepInclude(failed, { type: "ping", status: "failed", attempts: 1, response_status: 503, error: "status" })
      const [received] = sink.received
      assert(received !== undefined)
      assert.strictEqual(received.headers["x-service-signature"], expectedSignature(secret, received))
      const { created_at, ...said } = JSON.parse(received.body)
      assert.match(created_at, /Z$/)
      assert.deepStrictEqual(said, {
        id: failed.event_id,
        type: "ping",
        api_version: "v1",
        data: { endpoint_id: id, message: "This is a test." }
      })
      yield* TestClock.adjust("2 minutes")
      yield* flush
      assert.strictEqual(sink.received.length, 1)
      assert.deepStrictEqual((yield* deliveries.list({ ...all, webhookId: id })).items, [failed])
      // also when staff retry it: one attempt
      yield* endpoints.update(someStaff, id, { active: true })
      yield* deliveries.retry(someStaff, failed.id)
      yield* flush
      const { items } = yield* deliveries.list({ ...all, webhookId: id })
      assert.deepInclude(items[0], { status: "failed", attempts: 1, next_attempt_at: null })
      sink.answer = () => 200
      assert.deepInclude(yield* endpoints.ping(someStaff, id), {
        status: "delivered",
        error: null,
        response_status: 200
      })
    }))
})

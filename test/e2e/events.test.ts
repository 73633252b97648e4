import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { makeDeliveryStore } from "../../src/features/webhooks/internal/DeliveryStore.ts"
import { WebhookHousekeeping } from "../../src/features/webhooks/WebhookHousekeeping.ts"
import { WebhookSender } from "../../src/features/webhooks/WebhookSender.ts"
import { Ids } from "../../src/platform/Ids.ts"
import { layerWebhooks } from "../../src/service.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import { layerBothServers } from "../kit/Backoffice.ts"
import { assertRefused, dataOf, fresh, made, registration, staff } from "../kit/Casino.ts"
import { operatorWith } from "../kit/HttpCalls.ts"
import { ServiceSql } from "../kit/TestService.ts"
import { makeSink } from "../kit/WebhookSink.ts"

// Goal: an operator who follows its events misses none and gets none twice, in the order of effects for each player. Method: the service over HTTP with its
// sender, the real clock; commits are held open by a transaction of the test's own.

/** An operator with a key, and its events behind a cursor. */
const openAccount = Effect.gen(function*() {
  const slug = fresh("feed-")
  const operator = yield* made("/operators", { slug, name: slug, currency: "EUR" })
  const key = yield* made("/keys", { operator: slug, rate_limit_per_minute: 10_000 })
  const api = operatorWith(key)
  const { flush } = yield* WebhookSender
  const events = (query = "") => api.get(`/events${query}`)
  const player = Effect.suspend(() =>
    Effect.map(api.post("/players", registration(fresh("p-"))), (reply) => dataOf(reply, 201))
  )
  return { ...api, operatorId: Number(operator.id), slug, flush, events, player }
})

const typesIn = (reply: { readonly data: ReadonlyArray<{ readonly type: string }> }) =>
  reply.data.map(({ type }) => type)

const metaOf = ({ text }: { readonly text: string }): { readonly per_page: number; readonly next_cursor: string } =>
  JSON.parse(text).meta

const layerWithSender = layerWebhooks.pipe(Layer.provideMerge(layerBothServers))

layer(layerWithSender, { excludeTestServices: true, timeout: 60_000 })("operator events", (it) => {
  it.effect("equal the bodies of the operator's webhooks, oldest first, and a cursor continues after the last page", () =>
    Effect.gen(function*() {
      const account = yield* openAccount
      const sink = yield* makeSink()
      const webhook = yield* made("/webhooks", { operator: account.slug, url: sink.url })
      const { id } = yield* account.player
      dataOf(yield* account.post(`/players/${id}/deposits`, { amount: 500, external_reference: fresh("d-") }), 201)
      yield* staff("POST", `/webhooks/${webhook.id}/ping`)
      yield* account.flush
      const sent = new Map(sink.received.map(({ body }) => {
        const event = JSON.parse(body)
        return [event.id, event]
      }))
      const reply = yield* account.events()
      assert.deepStrictEqual(typesIn(reply), ["player.registered", "deposit.paid"])
      assert.deepStrictEqual(reply.data, reply.data.map((event: { id: string }) => sent.get(event.id)))
      assert.deepStrictEqual(reply.data.map((event: { player_sequence: number }) => event.player_sequence), [1, 2])
      assert.deepStrictEqual(dataOf(yield* account.get(`/events/${reply.data[0].id}`)), reply.data[0])

      const { next_cursor: cursor } = metaOf(reply)
      const none = yield* account.events(`?cursor=${cursor}`)
      assert.deepStrictEqual([none.data, metaOf(none).next_cursor], [[], cursor])
      yield* account.player
      yield* account.flush
      assert.deepStrictEqual(typesIn(yield* account.events(`?cursor=${cursor}`)), ["player.registered"])

      const paged = yield* account.events("?per_page=1")
      assert.deepStrictEqual(metaOf(paged).per_page, 1)
      assert.deepStrictEqual(typesIn(yield* account.events(`?per_page=1&cursor=${metaOf(paged).next_cursor}`)), [
        "deposit.paid"
      ])
      // the cursor passes what a filter leaves out
      const filtered = yield* account.events(`?type=deposit.paid&player_id=${id}&cursor=${metaOf(paged).next_cursor}`)
      assert.deepStrictEqual(typesIn(filtered), ["deposit.paid"])
      const rest = yield* account.events(`?type=deposit.paid&cursor=${metaOf(filtered).next_cursor}`)
      assert.deepStrictEqual([rest.data, metaOf(rest).next_cursor], [[], metaOf(filtered).next_cursor])
    }))

  it.effect("cannot be listed with another operator's cursor, an invented cursor or an unknown type", () =>
    Effect.gen(function*() {
      const [account, other] = [yield* openAccount, yield* openAccount]
      const { id } = yield* account.player
      yield* account.flush
      const reply = yield* account.events()
      const [event] = reply.data
      const { next_cursor: cursor } = metaOf(reply)
      for (
        const query of [
          `?cursor=${cursor.replace(/\w$/, "z")}`,
          "?cursor=nothing",
          "?type=ping",
          "?wait=31",
          "?player_id=x"
        ]
      ) {
        const refused = yield* account.events(query)
        assert.deepInclude(refused, { status: 422, code: "VALIDATION_FAILED" }, query)
      }
      assert.deepInclude(yield* other.events(`?cursor=${cursor}`), { status: 422, code: "VALIDATION_FAILED" })
      assertRefused(yield* other.get(`/events/${event.id}`), 404, "NOT_FOUND")
      assert.deepStrictEqual((yield* other.events(`?player_id=${id}`)).data, [])
    }))

  // Goal: an id says nothing of when a commit became visible. Method: a commit with the lower id is held until a later one was shown.
  it.effect("never appear behind a returned cursor, whichever commit becomes visible first", () =>
    Effect.gen(function*() {
      const account = yield* openAccount
      const sql = yield* ServiceSql
      const [ids, outbox] = [yield* Ids, yield* Outbox]
      const [early, late] = [yield* account.player, yield* account.player]
      yield* account.flush
      const { next_cursor: start } = metaOf(yield* account.events())
      const first = yield* ids.reserve(2)
      const emit = (id: number, playerId: number) =>
        outbox.insert([{ id, operatorId: account.operatorId, playerId, type: "deposit.paid", data: {}, createdAt: 0 }])
      const [isWritten, mayCommit] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const held = yield* Effect.forkChild(sql.withTransaction(
        emit(first, early.id).pipe(
          Effect.andThen(Deferred.succeed(isWritten, undefined)),
          Effect.andThen(Deferred.await(mayCommit))
        )
      ))
      yield* Deferred.await(isWritten)
      yield* sql.withTransaction(emit(first + 1, late.id))
      yield* account.flush
      const shown = yield* account.events(`?cursor=${start}`)
      assert.deepStrictEqual(shown.data.map((event: { id: string }) => event.id), [String(first + 1)])
      yield* Deferred.succeed(mayCommit, undefined)
      yield* Fiber.join(held)
      yield* account.flush
      const after = yield* account.events(`?cursor=${metaOf(shown).next_cursor}`)
      assert.deepStrictEqual(after.data.map((event: { id: string }) => event.id), [String(first)])
    }))

  it.effect("of one player are numbered in the order of the changes that they report, whatever their ids", () =>
    Effect.gen(function*() {
      const account = yield* openAccount
      const sql = yield* SqlClient.SqlClient
      const ids = yield* Ids
      const { id: playerId } = yield* account.player
      yield* account.flush
      const { next_cursor: start } = metaOf(yield* account.events())
      const first = yield* ids.reserve(3)
      // as two nodes write them: the later effect has the lower id. One statement, since another node may number in between
      const [id, next, last] = [first, first + 1, first + 2]
      yield* sql`INSERT INTO events (id, operator_id, player_id, type, data, created_at, player_version)
        SELECT u.id, ${account.operatorId}, ${playerId}, 'deposit.paid', '{}', now(), u.version
        FROM (VALUES (${id}::bigint, 9), (${next}::bigint, 7), (${last}::bigint, 8)) AS u(id, version)`
      yield* account.flush
      const { data } = yield* account.events(`?cursor=${start}`)
      assert.deepStrictEqual(
        data.map((event: { id: string; player_sequence: number }) => [Number(event.id) - first, event.player_sequence]),
        [[1, 2], [2, 3], [0, 4]]
      )
    }))

  it.effect("can be waited for: a long poll ends with the first event", () =>
    Effect.gen(function*() {
      const account = yield* openAccount
      yield* account.player
      yield* account.flush
      const { next_cursor: cursor } = metaOf(yield* account.events())
      const held = yield* Effect.forkChild(account.events(`?wait=30&cursor=${cursor}`), { startImmediately: true })
      yield* account.player
      assert.deepStrictEqual(typesIn(yield* Fiber.join(held)), ["player.registered"])
    }))

  it.effect("are kept for 30 days: an older cursor is refused, and an older event is expired", () =>
    Effect.gen(function*() {
      const account = yield* openAccount
      const sql = yield* SqlClient.SqlClient
      const { tidy } = yield* WebhookHousekeeping
      yield* account.player
      yield* account.player
      yield* account.flush
      const first = yield* account.events("?per_page=1")
      const all = yield* account.events()
      yield* account.player
      yield* account.flush
      const [gone, last] = [all.data[0], all.data[1]]
      yield* sql`UPDATE events SET created_at = now() - interval '31 days' WHERE id IN (${Number(gone.id)}, ${
        Number(last.id)
      })`
      // hidden when its time is over, removed when the job comes round
      assert.deepInclude((yield* account.get(`/events/${gone.id}`)).details, { reason: "expired" })
      yield* tidy
      assert.deepInclude((yield* account.get(`/events/${gone.id}`)).details, { reason: "expired" })
      const refused = yield* account.events(`?cursor=${metaOf(first).next_cursor}`)
      assertRefused(refused, 422, "VALIDATION_FAILED")
      assert.match(String(refused.details.cursor), /30 days/)
      assert.lengthOf((yield* account.events(`?cursor=${metaOf(all).next_cursor}`)).data, 1)
      assert.lengthOf((yield* account.events()).data, 1)
    }))

  // Goal: a gap is never silent. Method: events are removed between the two looks of a page, which waits for their table.
  it.effect("that are deleted while a page is being read make that page fail instead of being missing from it", () =>
    Effect.gen(function*() {
      const account = yield* openAccount
      const sql = yield* ServiceSql
      yield* account.player
      yield* account.player
      yield* account.flush
      const { next_cursor: cursor } = metaOf(yield* account.events("?per_page=1"))
      yield* account.player
      yield* account.flush
      const [isLocked, mayCommit] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const removal = yield* Effect.forkChild(sql.withTransaction(Effect.gen(function*() {
        yield* sql`LOCK TABLE events IN ACCESS EXCLUSIVE MODE`
        yield* Deferred.succeed(isLocked, undefined)
        yield* Deferred.await(mayCommit)
        yield* sql`DELETE FROM events WHERE operator_id = ${account.operatorId} AND position = 2`
        yield* sql`UPDATE event_positions SET expired_position = 2 WHERE operator_id = ${account.operatorId}`
      })))
      yield* Deferred.await(isLocked)
      const page = yield* Effect.forkChild(account.events(`?cursor=${cursor}`), { startImmediately: true })
      yield* Effect.repeat(
        sql`SELECT FROM pg_locks WHERE relation = 'events'::regclass AND NOT granted`,
        { until: (waiting) => waiting.length > 0 }
      )
      yield* Deferred.succeed(mayCommit, undefined)
      yield* Fiber.join(removal)
      assertRefused(yield* Fiber.join(page), 422, "VALIDATION_FAILED")
    }))

  // Goal: numbering goes on without a process that is frozen in it. Method: its ids never come, so that its transaction stays open.
  it.effect("are numbered by other processes when the process that numbers them is frozen", () =>
    Effect.gen(function*() {
      const account = yield* openAccount
      const sink = yield* makeSink()
      yield* made("/webhooks", { operator: account.slug, url: sink.url })
      const isFrozen = yield* Deferred.make<void>()
      const ids = yield* Ids
      const frozen = yield* Effect.provideService(makeDeliveryStore, Ids, {
        ...ids,
        reserve: () => Effect.andThen(Deferred.succeed(isFrozen, undefined), Effect.never)
      })
      const sql = yield* ServiceSql
      const { id } = yield* account.player
      yield* account.flush
      let emitted = 0
      // until it is the one that numbers an event
      const numbering = yield* Effect.forkChild(Effect.forever(Effect.gen(function*() {
        const eventId = yield* ids.reserve(1)
        yield* sql`INSERT INTO events (id, operator_id, player_id, type, data, created_at)
          VALUES (${eventId}, ${account.operatorId}, ${id}, 'deposit.paid', '{}', now())`
        emitted++
        yield* frozen.fanOut(0)
      })))
      yield* Deferred.await(isFrozen)
      yield* account.flush
      assert.lengthOf((yield* account.events()).data, 1 + emitted)
      yield* Fiber.interrupt(numbering)
    }))
})

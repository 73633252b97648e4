import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { keptForDays, KeptCalls, type NotedCall } from "../../../src/features/integrations/KeptCalls.ts"
import { PlayerActors } from "../../../src/store/PlayerActors.ts"
import { fresh } from "../../kit/Casino.ts"
import { addOperator, addPlayer, layerTestService, ServiceSql } from "../../kit/TestService.ts"

// Goal: whatever providers send, what is kept of refused calls stays within its bounds of time, bytes and bytes a minute, the oldest goes first, one operator
// takes no room from another and bets none from wins, and a database that is away loses and doubles nothing. Method: calls noted at chosen times, on a
// database, with the rights of the service.

const minuteMs = 60_000
const dayMs = 86_400_000

const maxBytes = 20_000

/** A player in memory, of a new operator, and the calls about the player. */
const openPlayer = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const operator = yield* addOperator(fresh("kept-"))
  const playerId = yield* addPlayer(operator, fresh("kept_"))
  yield* (yield* PlayerActors).read(null, playerId)
  const call = (transactionId: string, at: number, more: Partial<NotedCall> = {}): NotedCall => ({
    providerId: 1,
    playerId,
    transactionId,
    targetTransactionId: "b",
    gameExternalId: "slots",
    roundId: "r",
    kind: "win",
    method: "win",
    amount: "5.00",
    currency: "EUR",
    result: "refused",
    code: "ROUND_CLOSED",
    reason: null,
    status: 409,
    answer: "x".repeat(500),
    at,
    ...more
  })
  const idsOf = (isBet = false) =>
    Effect.map(
      sql<{ readonly id: string }>`SELECT transaction_id AS id FROM kept_calls WHERE operator_id = ${operator.id}
        AND is_bet = ${isBet} ORDER BY at, id`,
      (rows) => rows.map(({ id }) => id)
    )
  return { operator, call, idsOf }
})

/** Kept and counted bytes of every operator, which must be the same. */
const sizes = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly kept: number; readonly counted: number }>`
    SELECT coalesce(k.bytes, 0)::float8 AS kept, coalesce(s.bytes, 0)::float8 AS counted
    FROM (SELECT operator_id, is_bet, sum(bytes) AS bytes FROM kept_calls GROUP BY 1, 2) k
    FULL JOIN kept_call_sizes s ON s.operator_id = k.operator_id AND s.is_bet = k.is_bet`
  for (const { counted, kept } of rows) assert.strictEqual(kept, counted)
  return rows.map(({ kept }) => kept)
})

const pruned = Effect.gen(function*() {
  const kept = yield* KeptCalls
  yield* kept.write
  let done = 0
  for (let run = 0; run < 100; run++) {
    const result = yield* kept.prune
    done += result.done
    if (!result.hasMore) return done
  }
  return assert.fail("the job does not end")
})

/** Notes calls over time, so that their rate is no matter: three a minute up to `until`. */
const noteSlowly = (
  kept: KeptCalls["Service"],
  until: number,
  count: number,
  make: (index: number, at: number) => NotedCall
) => {
  for (let index = 0; index < count; index++) kept.note(make(index, until - (count - index) * (minuteMs / 3)))
}

const layerKept = Layer.fresh(KeptCalls.layerOf({ maxBytes })).pipe(
  Layer.provide(Layer.effect(SqlClient.SqlClient, ServiceSql)),
  Layer.provideMerge(layerTestService())
)

layer(layerKept, { excludeTestServices: true, timeout: "1 minute" })("stored provider calls", (it) => {
  it.effect("are limited in bytes per operator, oldest deleted first, and bets do not displace wins", () =>
    Effect.gen(function*() {
      const kept = yield* KeptCalls
      const now = yield* Clock.currentTimeMillis
      const [one, other] = [yield* openPlayer, yield* openPlayer]
      noteSlowly(kept, now, 10, (index, at) => other.call(`o-${index}`, at))
      noteSlowly(kept, now, 60, (index, at) => one.call(`b-${index}`, at, { kind: "bet" }))
      noteSlowly(kept, now, 10, (index, at) => one.call(`w-${index}`, at))
      const removed = yield* pruned
      const bets = yield* one.idsOf(true)
      assert.isAbove(bets.length, 10)
      assert.deepStrictEqual(bets, Array.from({ length: bets.length }, (_, index) => `b-${60 - bets.length + index}`))
      assert.strictEqual(removed, 60 - bets.length)
      assert.strictEqual((yield* one.idsOf()).length, 10)
      assert.strictEqual((yield* other.idsOf()).length, 10)
      for (const bytes of yield* sizes) assert.isAtMost(bytes, maxBytes)
    }))

  it.effect("are deleted after their retention period", () =>
    Effect.gen(function*() {
      const kept = yield* KeptCalls
      const now = yield* Clock.currentTimeMillis
      const { call, idsOf } = yield* openPlayer
      kept.note(call("old", now - keptForDays * dayMs - minuteMs))
      kept.note(call("young", now - keptForDays * dayMs + 10 * minuteMs))
      assert.strictEqual(yield* pruned, 1)
      assert.deepStrictEqual(yield* idsOf(), ["young"])
      yield* sizes
    }))

  it.effect("are limited per operator and minute; a flood of one operator's calls displaces neither its bets nor other operators' calls", () =>
    Effect.gen(function*() {
      const kept = yield* KeptCalls
      const sql = yield* SqlClient.SqlClient
      const now = yield* Clock.currentTimeMillis
      const [flooded, other] = [yield* openPlayer, yield* openPlayer]
      for (let index = 0; index < 50_000; index++) kept.note(flooded.call(`f-${index}`, now))
      // ids without end push nobody's bound out of memory
      for (let index = 0; index < 50_000; index++) kept.note(flooded.call(`f-${index}`, now + 1))
      kept.note(flooded.call("bet", now, { kind: "bet" }))
      for (let index = 0; index < 1000; index++) kept.note(other.call("storm", now))
      kept.note(other.call("calm", now))
      yield* kept.write
      const [row] = yield* sql<{ readonly bytes: number }>`SELECT sum(bytes)::float8 AS bytes FROM kept_calls
        WHERE operator_id = ${flooded.operator.id} AND NOT is_bet`
      assert.isAtMost(row?.bytes ?? Infinity, 64 * 1024)
      assert.isAbove(row?.bytes ?? 0, 60 * 1024)
      assert.deepStrictEqual(yield* flooded.idsOf(true), ["bet"])
      const ofOther = yield* other.idsOf()
      assert.include(ofOther, "calm")
      assert.isAtMost(ofOther.length, 12)
    }))

  it.effect("wait in memory while the database is unavailable, and are then written once", () =>
    Effect.gen(function*() {
      const kept = yield* KeptCalls
      const sql = yield* SqlClient.SqlClient
      const now = yield* Clock.currentTimeMillis
      const { call, idsOf } = yield* openPlayer
      kept.note(call("first", now))
      yield* sql`ALTER TABLE kept_call_sizes RENAME TO away`
      yield* kept.write
      kept.note(call("second", now + 1))
      yield* sql`ALTER TABLE away RENAME TO kept_call_sizes`
      yield* kept.write
      yield* kept.write
      assert.deepStrictEqual(yield* idsOf(), ["first", "second"])
      yield* sizes
    }))

  it.effect("have characters replaced that the database cannot store, and long texts cut", () =>
    Effect.gen(function*() {
      const kept = yield* KeptCalls
      const now = yield* Clock.currentTimeMillis
      const { call } = yield* openPlayer
      const id = `t-\u0000-${"x".repeat(400)}`
      const { operator } = yield* openPlayer
      kept.note(call(id, now, { answer: `${"y".repeat(499)}\ud83d\ude00`, method: "\ud800" }))
      const found = yield* kept.about(null, { providerId: 1, ids: [id.replace("\u0000", "\ufffd").slice(0, 300)] })
      assert.deepStrictEqual(found.map(({ answer, method }) => [answer, method]), [[
        `${"y".repeat(499)}\ufffd`,
        "\ufffd"
      ]])
      const elsewhere = yield* kept.about([operator.id], { providerId: 1, ids: [found[0]?.transactionId ?? ""] })
      assert.deepStrictEqual(elsewhere, [])
    }))
})

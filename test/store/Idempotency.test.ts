import { assert, layer } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { layerPersonal } from "../kit/Personal.ts"
import type { IdempotencyClaim } from "../../src/domain/state/Idempotency.ts"
import type { RefusalCode } from "../../src/domain/Refusal.ts"
import { type Answer, type Guarded, Idempotency, StoredReplies } from "../../src/store/Idempotency.ts"
import { Secrets, sha256 } from "../../src/platform/Secrets.ts"
import { Settings } from "../../src/platform/Settings.ts"
import { layerNoon } from "../kit/Noon.ts"
import { TestDatabase } from "../kit/TestDatabase.ts"

// Goal: a request under one key takes effect once, for any number of concurrent retries from any process, and every
// retry gets the first answer. Method: requests that count their runs, on one database, in one process or in two.

const Sealing = layerPersonal
const Live = Idempotency.layer.pipe(
  Layer.provideMerge(Sealing),
  Layer.provideMerge(TestDatabase.layer),
  Layer.provideMerge(layerNoon)
)

let count = 0

const newClaim = (request = "pay 5"): IdempotencyClaim => ({
  scope: "operator:1",
  key: `key-${count++}`,
  fingerprint: sha256(request)
})

/** A request that counts its runs and answers with their number. */
const makeRequest = (status = 201, code?: RefusalCode) => {
  const request = {
    runs: 0,
    run: Effect.sync((): Answer => {
      request.runs++
      return { status, code, body: JSON.stringify({ run: request.runs }) }
    })
  }
  return request
}

const bodyOf = (guarded: Guarded<Answer>): string =>
  guarded._tag === "Answered" ? guarded.answer.body : `replayed ${guarded.reply.status} ${guarded.reply.body}`

/** Another process on the same database. */
const otherProcess = <A, E, R>(run: Effect.Effect<A, E, R>) => Effect.provide(run, Layer.fresh(Idempotency.layer))

layer(Live)("Idempotency", (it) => {
  it.effect("gives retries the first answer", () =>
    Effect.gen(function*() {
      const { guard } = yield* Idempotency
      const claim = newClaim()
      const request = makeRequest()
      assert.strictEqual(bodyOf(yield* guard(claim, request.run)), "{\"run\":1}")
      assert.strictEqual(bodyOf(yield* guard(claim, request.run)), "replayed 201 {\"run\":1}")
      const elsewhere = yield* otherProcess(Effect.flatMap(Idempotency, ({ guard }) => guard(claim, request.run)))
      assert.strictEqual(bodyOf(elsewhere), "replayed 201 {\"run\":1}")
      assert.strictEqual(request.runs, 1)
    }))

  it.effect("refuses a key for another request in its scope, and accepts that key in another scope", () =>
    Effect.gen(function*() {
      const { guard } = yield* Idempotency
      const claim = newClaim("pay 5")
      const request = makeRequest()
      yield* guard(claim, request.run)
      const refusal = yield* Effect.flip(guard({ ...claim, fingerprint: sha256("pay 6") }, request.run))
      assert.strictEqual(refusal.code, "IDEMPOTENCY_KEY_REUSED")
      assert.strictEqual(bodyOf(yield* guard({ ...claim, scope: "player:1" }, request.run)), "{\"run\":2}")
    }))

  it.effect("stores final refusals, and no temporary ones", () =>
    Effect.gen(function*() {
      const { guard } = yield* Idempotency
      const outcomes: ReadonlyArray<readonly [number, RefusalCode | undefined, boolean]> = [
        [200, undefined, true],
        [201, undefined, true],
        [402, "INSUFFICIENT_FUNDS", true],
        [404, "NOT_FOUND", true],
        [409, "DUPLICATE_TRANSACTION", true],
        [422, "VALIDATION_FAILED", true],
        [401, "INVALID_PLAYER_TOKEN", false],
        [403, "FEATURE_NOT_AVAILABLE", false],
        [409, "IDEMPOTENCY_IN_PROGRESS", false],
        [429, "RATE_LIMITED", false],
        [500, "SERVER_ERROR", false],
        [503, "TRY_AGAIN", false]
      ]
      for (const [status, code, isKept] of outcomes) {
        const claim = newClaim()
        const request = makeRequest(status, code)
        yield* guard(claim, request.run)
        const again = yield* guard(claim, request.run)
        assert.strictEqual(again._tag, isKept ? "Replayed" : "Answered", `${status} ${code}`)
        assert.strictEqual(request.runs, isKept ? 1 : 2)
      }
    }))

  it.effect("releases the key when a request fails with a defect", () =>
    Effect.gen(function*() {
      const { guard } = yield* Idempotency
      const claim = newClaim()
      yield* Effect.exit(guard(claim, Effect.die(new Error("bug"))))
      assert.strictEqual(bodyOf(yield* guard(claim, makeRequest().run)), "{\"run\":1}")
    }))

  it.effect("gives the stored answer to each of many simultaneous retries", () =>
    Effect.gen(function*() {
      const { guard } = yield* Idempotency
      for (const many of [2, 3, 50]) {
        const claim = newClaim()
        const request = makeRequest()
        yield* guard(claim, request.run)
        const retries = yield* Effect.all(Array.from({ length: many }, () => guard(claim, request.run)), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(new Set(retries.map(bodyOf)), new Set(["replayed 201 {\"run\":1}"]))
        assert.strictEqual(request.runs, 1)
      }
    }))

  it.effect("gives a retry the stored answer while a different request uses the same key", () =>
    Effect.gen(function*() {
      const { guard } = yield* Idempotency
      const claim = newClaim("pay 5")
      const request = makeRequest(402, "INSUFFICIENT_FUNDS")
      yield* guard(claim, request.run)
      const other = { ...claim, fingerprint: sha256("pay 6") }
      const [refused, retry, again] = yield* Effect.all(
        [Effect.flip(guard(other, request.run)), guard(claim, request.run), Effect.flip(guard(other, request.run))],
        { concurrency: "unbounded" }
      )
      assert.strictEqual(refused.code, "IDEMPOTENCY_KEY_REUSED")
      assert.strictEqual(bodyOf(retry), "replayed 402 {\"run\":1}")
      assert.strictEqual(again.code, "IDEMPOTENCY_KEY_REUSED")
    }))

  it.effect("runs one of many concurrent requests, and answers the others IDEMPOTENCY_IN_PROGRESS", () =>
    Effect.gen(function*() {
      const { guard } = yield* Idempotency
      const claim = newClaim()
      const request = makeRequest()
      const gate = yield* Deferred.make<void>()
      const calls = yield* Effect.forEach(Array.from({ length: 50 }), () =>
        Effect.forkChild(
          guard(claim, Effect.andThen(Deferred.await(gate), request.run)).pipe(
            Effect.match({ onSuccess: bodyOf, onFailure: ({ code }) => code })
          ),
          { startImmediately: true }
        ))
      const other = yield* Effect.flip(guard({ ...claim, fingerprint: sha256("other") }, request.run))
      assert.strictEqual(other.code, "IDEMPOTENCY_KEY_REUSED")
      yield* Deferred.succeed(gate, undefined)
      const outcomes = yield* Effect.forEach(calls, Fiber.join)
      assert.deepStrictEqual(outcomes.filter((outcome) => outcome !== "IDEMPOTENCY_IN_PROGRESS"), ["{\"run\":1}"])
      assert.strictEqual(request.runs, 1)
    }))

  it.effect("answers a retry IDEMPOTENCY_IN_PROGRESS while the request runs, even if its answer is already committed", () =>
    Effect.gen(function*() {
      const { guard, insert, noteStored } = yield* Idempotency
      const claim = newClaim()
      const [isCommitted, isHeard] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const createdAt = yield* Clock.currentTimeMillis
      const first = yield* Effect.forkChild(guard(
        claim,
        Effect.gen(function*() {
          yield* insert({ ...claim, status: 201, body: "{\"stored\":1}", createdAt })
          yield* Deferred.succeed(isCommitted, undefined)
          yield* Deferred.await(isHeard)
          noteStored(claim)
          return { status: 201, code: undefined, body: "{\"stored\":1}" }
        })
      ))
      yield* Deferred.await(isCommitted)
      // what it did is not shown yet: an answer now would be followed by the balance before it
      assert.strictEqual(
        (yield* Effect.flip(guard(claim, makeRequest().run))).code,
        "IDEMPOTENCY_IN_PROGRESS"
      )
      assert.strictEqual(
        (yield* Effect.flip(guard({ ...claim, fingerprint: sha256("other") }, makeRequest().run))).code,
        "IDEMPOTENCY_KEY_REUSED"
      )
      yield* Deferred.succeed(isHeard, undefined)
      assert.strictEqual((yield* Fiber.join(first))._tag, "Answered")
      assert.strictEqual(bodyOf(yield* guard(claim, makeRequest().run)), "replayed 201 {\"stored\":1}")
    }))

  it.effect("answers a retry IDEMPOTENCY_IN_PROGRESS if its look-up began before the request ran", () =>
    Effect.gen(function*() {
      const claim = newClaim()
      const stored = {
        ...claim,
        status: 201,
        body: "{\"stored\":1}",
        sealed: null,
        createdAt: yield* Clock.currentTimeMillis
      }
      const [isFound, isHeard] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      let finds = 0
      const replies = Layer.mock(StoredReplies, {
        // the first look-up finds nothing, the second one what has been committed meanwhile
        find: () => ++finds === 1 ? Effect.as(Effect.yieldNow, undefined) : Effect.as(Deferred.await(isFound), stored)
      })
      const run = Effect.gen(function*() {
        const { guard, noteStored } = yield* Idempotency
        const first = yield* Effect.forkChild(
          guard(
            claim,
            Effect.gen(function*() {
              yield* Deferred.succeed(isFound, undefined)
              yield* Deferred.await(isHeard)
              noteStored(claim)
              return { status: 201, code: undefined, body: "{\"stored\":1}" }
            })
          ),
          { startImmediately: true }
        )
        const retry = yield* Effect.flip(guard(claim, makeRequest().run))
        assert.deepStrictEqual<ReadonlyArray<unknown>>([retry.code, finds], ["IDEMPOTENCY_IN_PROGRESS", 2])
        yield* Deferred.succeed(isHeard, undefined)
        assert.strictEqual((yield* Fiber.join(first))._tag, "Answered")
        assert.strictEqual(bodyOf(yield* guard(claim, makeRequest().run)), "replayed 201 {\"stored\":1}")
      })
      yield* Effect.provide(run, Layer.fresh(Idempotency.layerWithoutRepository).pipe(Layer.provide(replies)))
    }))

  it.effect("commits or rolls back an answer together with the changes of its request", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { guard, insert, noteStored } = yield* Idempotency
      const claim = newClaim()
      const createdAt = yield* Clock.currentTimeMillis
      const committing = (outcome: Effect.Effect<void, string>) =>
        sql.withTransaction(
          Effect.andThen(insert({ ...claim, status: 201, body: "{\"stored\":1}", createdAt }), outcome)
        )
      yield* Effect.flip(committing(Effect.fail("rolled back")))
      const answered = yield* guard(
        claim,
        Effect.gen(function*() {
          yield* committing(Effect.void)
          noteStored(claim)
          return { status: 201, code: undefined, body: "{\"stored\":1}" }
        })
      )
      assert.strictEqual(answered._tag, "Answered")
      assert.strictEqual(bodyOf(yield* guard(claim, makeRequest().run)), "replayed 201 {\"stored\":1}")
      const clash = yield* Effect.flip(committing(Effect.void))
      assert.strictEqual(typeof clash === "object" && "code" in clash ? clash.code : clash, "IDEMPOTENCY_IN_PROGRESS")
    }))

  it.effect("returns the answer that a faster process has stored under the key, whatever the slower process's own outcome", () =>
    Effect.gen(function*() {
      const { guard, insert } = yield* Idempotency
      const createdAt = yield* Clock.currentTimeMillis
      const losing = (claim: IdempotencyClaim, winner: IdempotencyClaim, answer: Answer) =>
        guard(
          claim,
          Effect.as(insert({ ...winner, status: 201, body: "{\"winner\":1}", createdAt }), answer)
        )
      for (
        const answer of [
          { status: 409, code: "IDEMPOTENCY_IN_PROGRESS", body: "{}" },
          { status: 503, code: "TRY_AGAIN", body: "{}" },
          { status: 500, code: "SERVER_ERROR", body: "{}" },
          { status: 404, code: "NOT_FOUND", body: "{}" }
        ] satisfies ReadonlyArray<Answer>
      ) {
        const claim = newClaim()
        assert.strictEqual(bodyOf(yield* losing(claim, claim, answer)), "replayed 201 {\"winner\":1}", answer.code)
        const other = newClaim()
        const refusal = yield* Effect.flip(losing(other, { ...other, fingerprint: sha256("other") }, answer))
        assert.strictEqual("code" in refusal ? refusal.code : refusal._tag, "IDEMPOTENCY_KEY_REUSED", answer.code)
      }
    }))

  it.effect("answers even if storing fails, and refuses to run if the look-up fails", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { guard } = yield* Idempotency
      const request = makeRequest()
      const breaking = Effect.andThen(sql`ALTER TABLE idempotency_keys RENAME TO elsewhere`, request.run)
      assert.strictEqual(bodyOf(yield* guard(newClaim(), breaking)), "{\"run\":1}")
      const exit = yield* Effect.exit(guard(newClaim(), request.run))
      assert.strictEqual(exit._tag, "Failure")
      assert.strictEqual(request.runs, 1)
      yield* sql`ALTER TABLE elsewhere RENAME TO idempotency_keys`
    }))

  it.effect("stores an answer with a secret encrypted, readable only under its idempotency key and master key", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { guard, insert } = yield* Idempotency
      const run = Effect.succeed<Answer>({ status: 201, code: undefined, body: "{\"token\":\"hush\"}" })
      const claim = { ...newClaim(), isSecret: true }
      const committed = { ...newClaim(), isSecret: true }
      yield* guard(claim, run)
      yield* insert({
        ...committed,
        status: 201,
        body: "{\"token\":\"hush\"}",
        createdAt: yield* Clock.currentTimeMillis
      })
      const stored = yield* sql`SELECT * FROM idempotency_keys WHERE key IN (${claim.key}, ${committed.key})`
      assert.strictEqual(stored.length, 2)
      for (const row of stored) {
        assert.isNull(row["body"])
        for (const value of Object.values(row)) {
          const text = value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : String(value)
          assert.notInclude(text, "hush")
        }
      }
      for (const one of [claim, committed]) {
        assert.strictEqual(bodyOf(yield* guard(one, run)), "replayed 201 {\"token\":\"hush\"}")
        // a retry is identified by its request, even if the endpoint's secrecy has changed
        assert.strictEqual(bodyOf(yield* guard({ ...one, isSecret: false }, run)), "replayed 201 {\"token\":\"hush\"}")
        assert.strictEqual(
          (yield* Effect.flip(guard({ ...one, fingerprint: sha256("other") }, run))).code,
          "IDEMPOTENCY_KEY_REUSED"
        )
      }

      const runs = makeRequest()
      const unreadable = (claim: IdempotencyClaim) =>
        Effect.map(Effect.flip(guard(claim, runs.run)), ({ code, details }) => [code, details])
      const refused: ReadonlyArray<unknown> = ["INVALID_REQUEST", { reason: "stored_answer_unreadable" }]
      const otherKey = Secrets.layer.pipe(
        Layer.provide(Settings.layerTest({ masterKey: Redacted.make(new Uint8Array(32).fill(1)) }))
      )
      const elsewhere = yield* Effect.flip(
        Effect.flatMap(Idempotency, ({ guard }) => guard(claim, runs.run)).pipe(
          Effect.provide(Layer.fresh(Idempotency.layer).pipe(Layer.provide(Layer.fresh(otherKey))))
        )
      )
      assert.deepStrictEqual<ReadonlyArray<unknown>>([elsewhere.code, elsewhere.details], refused)
      // a reply sealed for one key does not open under another
      yield* sql`UPDATE idempotency_keys SET body_sealed = (SELECT body_sealed FROM idempotency_keys WHERE key = ${claim.key})
        WHERE key = ${committed.key}`
      assert.deepStrictEqual<ReadonlyArray<unknown>>(yield* unreadable(committed), refused)
      assert.strictEqual(runs.runs, 0)
    }))

  it.effect("removes old answers", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { guard, prune } = yield* Idempotency
      const claim = newClaim()
      const young = newClaim()
      yield* guard(claim, makeRequest().run)
      yield* guard(young, makeRequest().run)
      yield* sql`UPDATE idempotency_keys SET created_at = created_at - interval '24 hours' WHERE key = ${claim.key}`
      yield* prune
      const kept = yield* sql`SELECT key FROM idempotency_keys WHERE key IN (${claim.key}, ${young.key})`
      assert.deepStrictEqual(kept, [{ key: young.key }])
      assert.deepStrictEqual(yield* prune, { done: 0, hasMore: false })
    }))
})

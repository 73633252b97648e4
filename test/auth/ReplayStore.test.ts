import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { TestClock } from "effect/testing"
import { ReplayStore } from "../../src/auth/ReplayStore.ts"
import { storedBy, type StoredSignature } from "../../src/domain/state/AcceptedSignature.ts"
import type { Refusal } from "../../src/domain/Refusal.ts"
import { ServingClient } from "../../src/platform/Database.ts"
import { sha256 } from "../../src/platform/Secrets.ts"
import { toDate } from "../../src/platform/Time.ts"
import { layerNoon } from "../kit/Noon.ts"
import { TestDatabase } from "../kit/TestDatabase.ts"

// Goal: a signature is accepted once: within a process, across processes, and across a restart. Method: several stores, as
// several processes would have them, on one database.

const signatureOf = (name: string) => Buffer.from(sha256(name)).toString("hex")

/** Code of a refusal, or who accepted the signature. */
const endOf = (failure: StoredSignature | Refusal) => failure._tag === "Refusal" ? failure.code : failure.accepter

/** A separate process. */
const inProcess = <A, E, R>(run: (store: ReplayStore["Service"]) => Effect.Effect<A, E, R>) =>
  Effect.scoped(
    Effect.flatMap(Layer.build(Layer.fresh(ReplayStore.layer)), (context) =>
      Effect.flatMap(Effect.provide(ReplayStore, context), run))
  )

/** Answer of a process to a signed request. */
const accept = (store: ReplayStore["Service"], signature: string) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    store.remember(signature, now)
      ? Effect.match(store.write(signature, now), { onSuccess: () => "accepted", onFailure: endOf })
      : Effect.succeed("known"))

const rows = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql`SELECT 1 FROM accepted_signatures`).length
})

layer(TestDatabase.layer.pipe(Layer.provideMerge(layerNoon)))("ReplayStore", (it) => {
  it.effect("accepts a signature once within a process", () =>
    inProcess((store) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* accept(store, signatureOf("a")), "accepted")
        assert.strictEqual(yield* accept(store, signatureOf("a")), "known")
        assert.strictEqual(yield* accept(store, signatureOf("b")), "accepted")
      })
    ))

  it.effect("refuses a signature that was accepted before a restart", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* inProcess((store) => accept(store, signatureOf("before"))), "accepted")
      assert.strictEqual(yield* inProcess((store) => accept(store, signatureOf("before"))), "this")
    }))

  it.effect("refuses a used signature that is no longer in memory", () =>
    inProcess((store) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* accept(store, signatureOf("early")), "accepted")
        const now = yield* Clock.currentTimeMillis
        // a signature with the same digits for its slot
        assert.isTrue(store.remember(`${signatureOf("early").slice(0, 6)}${"0".repeat(58)}`, now))
        assert.isTrue(store.remember(signatureOf("early"), now), "memory is bounded")
        assert.deepStrictEqual(
          yield* Effect.flip(store.write(signatureOf("early"), now)),
          storedBy("this")
        )
      })
    ))

  it.effect("tells which process accepted a signature, and reports an unknown outcome if that process has ended", () =>
    inProcess((store) =>
      Effect.gen(function*() {
        const sql = yield* ServingClient
        const now = yield* Clock.currentTimeMillis
        const storeBy = (name: string, process: Statement.Fragment) =>
          sql`INSERT INTO accepted_signatures (signature, accepted_at, process)
            VALUES (decode(${signatureOf(name)}, 'hex'), ${toDate(now)}, ${process})`
        yield* storeBy("other", sql.literal("'other'"))
        yield* storeBy("unnamed", sql.literal("''"))
        yield* storeBy("own", sql.literal("DEFAULT"))
        const names = ["other", "unnamed", "own"]
        // each copy is told the same
        for (let copy = 0; copy < 2; copy++) {
          const ends = yield* Effect.forEach(names, (name) => accept(store, signatureOf(name)), {
            concurrency: "unbounded"
          })
          assert.deepStrictEqual(ends, ["other", "other", copy === 0 ? "this" : "known"])
          const refusals = yield* TestClock.withLive(Effect.forEach(names, (name) =>
            store.refusalOf(signatureOf(name), storedBy(name === "own" ? "this" : "other"))))
          const unknown = { outcome: "unknown", retry: "sign_again" }
          assert.deepStrictEqual(refusals.map(({ code, details }) => [code, details]), [
            ["REPLAYED_REQUEST", unknown],
            ["REPLAYED_REQUEST", unknown],
            ["REPLAYED_REQUEST", {}]
          ])
        }
        // accepted by another process, by the time of the refusal this one's: it runs
        const running = yield* TestClock.withLive(store.refusalOf(signatureOf("own"), storedBy("other")))
        assert.deepStrictEqual(running.details, {})
      })
    ))

  it.effect("lets only one of several processes accept a signature", () =>
    inProcess((one) =>
      inProcess((two) =>
        Effect.gen(function*() {
          const names = Array.from({ length: 200 }, (_, index) => signatureOf(`race-${index}`))
          const outcomes = yield* Effect.forEach(
            names,
            (signature) => Effect.all([accept(one, signature), accept(two, signature)], { concurrency: 2 }),
            { concurrency: "unbounded" }
          )
          for (const pair of outcomes) assert.deepStrictEqual(pair.toSorted(), ["accepted", "this"])
        })
      )
    ))

  it.effect("accepts one of two equal signatures in a batch", () =>
    inProcess((store) =>
      Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const write = (name: string) =>
          Effect.match(store.write(signatureOf(name), now), {
            onSuccess: () => "accepted",
            onFailure: endOf
          })
        // what comes while the first is written shares the next batch
        const outcomes = yield* Effect.forEach(["first", "twice", "twice"], write, { concurrency: "unbounded" })
        assert.deepStrictEqual(outcomes, ["accepted", "accepted", "this"])
      })
    ))

  it.effect("batches concurrent writes into few statements", () =>
    inProcess((store) =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const before = yield* rows
        yield* Effect.forEach(
          Array.from({ length: 500 }, (_, index) => signatureOf(`many-${index}`)),
          (signature) => accept(store, signature),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(yield* rows, before + 500)
        // every transaction that wrote leaves its own id in the rows
        const [written] = yield* sql<{ readonly n: number }>`
          SELECT count(DISTINCT xmin::text)::float8 AS n FROM accepted_signatures`
        assert.isBelow(written?.n ?? Infinity, before + 50)
      })
    ))

  it.effect("asks the caller to sign again when nothing can be written", () =>
    inProcess((store) =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`ALTER TABLE accepted_signatures RENAME TO elsewhere`
        assert.strictEqual(yield* accept(store, signatureOf("lost")), "TRY_AGAIN")
        yield* sql`ALTER TABLE elsewhere RENAME TO accepted_signatures`
        assert.strictEqual(yield* accept(store, signatureOf("found")), "accepted")
      })
    ))

  it.effect("keeps a signature as long as its timestamp is acceptable, and then removes it", () =>
    inProcess((store) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* accept(store, signatureOf("old")), "accepted")
        yield* TestClock.adjust("600 seconds")
        assert.strictEqual(yield* accept(store, signatureOf("old")), "known")
        assert.strictEqual(yield* inProcess((other) => accept(other, signatureOf("old"))), "this")
        yield* store.prune
        const kept = yield* rows
        assert.isAbove(kept, 0)
        yield* TestClock.adjust("2 minutes")
        assert.deepStrictEqual(yield* store.prune, { done: kept, hasMore: false })
        assert.strictEqual(yield* rows, 0)
        // the process forgets, too
        assert.strictEqual(yield* accept(store, signatureOf("old")), "accepted")
      })
    ))
})

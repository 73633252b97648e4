import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { makeKeyCache } from "../../src/auth/internal/KeyCache.ts"
import { refuse } from "../../src/domain/Refusal.ts"

// Goal: what is remembered is never older than promised, a change that is announced is felt at once even while a key is being
// read, and nobody's keys delay or drive out another's. Method: a store that the test holds in its hands.

/** A store of texts by key; loads are counted and can be held up. */
const makeStore = () => {
  const texts = new Map<string, string>()
  const loads: Array<string> = []
  const store = {
    texts,
    loads,
    gate: undefined as Deferred.Deferred<void> | undefined,
    isAway: false,
    load: (key: string) =>
      Effect.gen(function*() {
        loads.push(key)
        const text = texts.get(key)
        if (store.gate !== undefined) yield* Deferred.await(store.gate)
        if (store.isAway) return yield* Effect.fail(refuse("TRY_AGAIN", "away"))
        return text
      })
  }
  return store
}

/** Lets everything run that can. */
const settle = Effect.forEach(Array.from({ length: 30 }), () => Effect.yieldNow, { discard: true })

describe("KeyCache", () => {
  it.effect("reads a key once for all who ask, and remembers it", () =>
    Effect.gen(function*() {
      const store = makeStore()
      store.texts.set("a", "one")
      store.gate = Deferred.makeUnsafe()
      const cache = yield* makeKeyCache(store.load)
      const asking = yield* Effect.forkChild(
        Effect.all([cache.get("a"), cache.get("a"), cache.get("a")], { concurrency: 3 })
      )
      yield* settle
      yield* Deferred.succeed(store.gate, undefined)
      assert.deepStrictEqual(yield* Fiber.join(asking), ["one", "one", "one"])
      assert.strictEqual(cache.peek("a", 0), "one")
      assert.deepStrictEqual(store.loads, ["a"])
    }))

  it.effect("keeps nothing for longer because the clock was set back", () =>
    Effect.gen(function*() {
      const store = makeStore()
      store.texts.set("a", "one")
      const cache = yield* makeKeyCache(store.load)
      yield* TestClock.setTime(3_600_000)
      yield* cache.get("a")
      yield* cache.get("unknown")
      store.texts.set("a", "two")
      store.texts.set("unknown", "known")
      yield* TestClock.setTime(0)
      assert.isUndefined(cache.peek("a", 0))
      assert.strictEqual(yield* cache.get("a"), "two")
      assert.strictEqual(yield* cache.get("unknown"), "known")
    }))

  it.effect("renews in the background after a second and never serves what is older than two", () =>
    Effect.gen(function*() {
      const store = makeStore()
      store.texts.set("a", "one")
      const cache = yield* makeKeyCache(store.load)
      yield* cache.get("a")
      store.texts.set("a", "two")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* cache.get("a"), "one")
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(cache.peek("a", 1001), "one")
      yield* settle
      assert.strictEqual(cache.peek("a", 1001), "two")
      store.texts.delete("a")
      yield* TestClock.adjust("2001 millis")
      assert.isUndefined(cache.peek("a", 3002))
      assert.isUndefined(yield* cache.get("a"))
    }))

  it.effect("remembers that there is no such key for as long", () =>
    Effect.gen(function*() {
      const store = makeStore()
      const cache = yield* makeKeyCache(store.load)
      assert.isUndefined(yield* cache.get("a"))
      store.texts.set("a", "one")
      yield* TestClock.adjust("2 seconds")
      assert.isUndefined(yield* cache.get("a"))
      assert.deepStrictEqual(store.loads, ["a"])
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* cache.get("a"), "one")
    }))

  it.effect("forgets at once what is announced as changed, also what is just being read", () =>
    Effect.gen(function*() {
      const store = makeStore()
      store.texts.set("a", "one")
      const cache = yield* makeKeyCache(store.load)
      yield* cache.get("a")
      store.texts.set("a", "two")
      cache.invalidate("a")
      assert.strictEqual(yield* cache.get("a"), "two")

      cache.invalidate()
      store.gate = Deferred.makeUnsafe()
      const asking = yield* Effect.forkChild(cache.get("a"))
      yield* settle
      store.texts.set("a", "three")
      cache.invalidate("a")
      yield* Deferred.succeed(store.gate, undefined)
      assert.strictEqual(yield* Fiber.join(asking), "three")
    }))

  it.effect("keeps real keys served while invented ones are looked up", () =>
    Effect.gen(function*() {
      const store = makeStore()
      store.texts.set("real", "one")
      const cache = yield* makeKeyCache(store.load)
      yield* cache.get("real")
      store.gate = Deferred.makeUnsafe()
      yield* Effect.forEach(
        Array.from({ length: 50 }, (_, index) => `invented-${index}`),
        (key) => Effect.forkChild(cache.get(key)),
        { discard: true }
      )
      yield* settle
      // two are being looked up, the others wait; a renewal does not stand behind them
      assert.deepStrictEqual(store.loads, ["real", "invented-0", "invented-1"])
      yield* TestClock.adjust("1500 millis")
      assert.strictEqual(yield* cache.get("real"), "one")
      yield* settle
      assert.deepStrictEqual(store.loads.at(-1), "real")
      yield* Deferred.succeed(store.gate, undefined)
    }))

  it.effect("turns strangers away when too many wait", () =>
    Effect.gen(function*() {
      const store = makeStore()
      store.gate = Deferred.makeUnsafe()
      const cache = yield* makeKeyCache(store.load)
      yield* Effect.forEach(
        Array.from({ length: 1000 }, (_, index) => `invented-${index}`),
        (key) => Effect.forkChild(cache.get(key), { startImmediately: true }),
        { discard: true }
      )
      assert.strictEqual((yield* Effect.flip(cache.get("one more"))).code, "TRY_AGAIN")
      yield* Deferred.succeed(store.gate, undefined)
    }))

  it.effect("fails while the store is away, and asks again", () =>
    Effect.gen(function*() {
      const store = makeStore()
      store.isAway = true
      const cache = yield* makeKeyCache(store.load)
      assert.strictEqual((yield* Effect.flip(cache.get("a"))).code, "TRY_AGAIN")
      store.isAway = false
      store.texts.set("a", "one")
      assert.strictEqual(yield* cache.get("a"), "one")
    }))
})

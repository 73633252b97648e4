import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { makeRateWindows, RateLimiter } from "../../src/auth/RateLimiter.ts"
import { type Answered, Forwarder, type Handler, NotAnswered } from "../../src/cluster/Forwarder.ts"

// Goal: a key gets exactly its limit in each window, and windows begin with a request. Method: a model of one window
// with the same random requests.

const withLimiter = <A>(use: (limiter: ReturnType<typeof makeRateWindows>) => A) =>
  Effect.sync(() => use(makeRateWindows()))

describe("RateLimiter", () => {
  it.effect("allows the same requests per window as a plain counter", () =>
    withLimiter((limiter) => {
      const limit = 3
      let keyId = 0
      fc.assert(fc.property(fc.array(fc.nat(40_000), { maxLength: 30 }), (waits) => {
        keyId++
        let now = 1_000_000
        let startedAt = -Infinity
        let taken = 0
        for (const wait of waits) {
          now += wait
          if (now >= startedAt + 60_000) {
            startedAt = now
            taken = 0
          }
          const expected = taken < limit
          if (expected) taken++
          const resetsAt = startedAt + 60_000
          const standing = { isAllowed: expected, limit, remaining: limit - taken, resetsAt }
          assert.deepStrictEqual(limiter.take(keyId, limit, now), standing)
          assert.deepStrictEqual(limiter.peek(keyId, limit, now), { ...standing, isAllowed: true })
        }
      }))
    }))

  it.effect("does not block a key when the clock is set back", () =>
    withLimiter((limiter) => {
      const now = 7_200_000
      assert.isTrue(limiter.take(1, 1, now).isAllowed)
      assert.isFalse(limiter.take(1, 1, now + 1).isAllowed)
      const before = now - 3_600_000
      assert.deepStrictEqual(limiter.take(1, 1, before), {
        isAllowed: true,
        limit: 1,
        remaining: 0,
        resetsAt: before + 60_000
      })
      assert.isFalse(limiter.take(1, 1, before + 59_999).isAllowed)
      assert.isTrue(limiter.take(1, 1, before + 60_000).isAllowed)
    }))

  it.effect("counts each key separately, can check without counting, and applies a changed limit", () =>
    withLimiter((limiter) => {
      assert.strictEqual(limiter.peek(1, 2, 0).remaining, 2)
      assert.strictEqual(limiter.take(1, 2, 0).remaining, 1)
      assert.strictEqual(limiter.peek(1, 2, 0).remaining, 1)
      assert.strictEqual(limiter.take(2, 2, 0).remaining, 1)
      assert.isTrue(limiter.take(1, 2, 1).isAllowed)
      assert.isFalse(limiter.take(1, 2, 2).isAllowed)
      assert.strictEqual(limiter.take(1, 5, 3).remaining, 2)
      assert.strictEqual(limiter.peek(1, 1, 4).remaining, 0)
    }))

  it.effect("keeps a bounded number of counters", () =>
    withLimiter((limiter) => {
      for (let keyId = 0; keyId < 150_000; keyId++) limiter.take(keyId, 5, 0)
      // the oldest was dropped for lack of room, the newest was not
      assert.strictEqual(limiter.peek(0, 5, 1).remaining, 5)
      assert.strictEqual(limiter.peek(149_999, 5, 1).remaining, 4)
    }))
})

// Goal: a key gets its limit and no more although the node that counts it is frozen, leaves or wakes. Method: limiters of three nodes over a network whose
// owners and frozen nodes the test sets; a frozen node's calls fail at their time-out, and it hears nothing.

const makeNodes = Effect.gen(function*() {
  const scope = yield* Effect.scope
  const frozen = new Set<number>()
  const channels = [0, 1, 2].map(() => new Map<string, Handler>())
  const network = { first: 0, ownerOf: (number: number): number => (network.first + number) % 3 }
  const lost = new NotAnswered({ because: "lost" })
  const call = (node: number, channel: string, body: { readonly head: string; readonly body: string }) =>
    Effect.suspend((): Effect.Effect<Answered, NotAnswered> =>
      frozen.has(node)
        ? Effect.andThen(Effect.sleep(400), Effect.fail(lost))
        : Effect.callback((resume) =>
          channels[node]?.get(channel)?.(
            body,
            (answer) => resume(typeof answer === "string" ? Effect.fail(lost) : Effect.succeed({ ...answer, node: "" }))
          )
        )
    )
  const limiters = yield* Effect.forEach([0, 1, 2], (node) => {
    const forwarder = Forwarder.of({
      node: String(node),
      isHere: () => false,
      ownerOf: (number) => String(network.ownerOf(number)),
      serve: (channel, handle) => void channels[node]?.set(channel, handle),
      post: () => {},
      send: (number, channel, body) => call(network.ownerOf(number), channel, body),
      sendTo: () => Effect.undefined,
      sendToAll: (channel, body) =>
        Effect.as(
          Effect.forEach([0, 1, 2], (other) => Effect.ignore(call(other, channel, body)), { concurrency: "unbounded" }),
          []
        )
    })
    return Effect.map(
      Layer.buildWithScope(Layer.provide(RateLimiter.layer, Layer.succeed(Forwarder, forwarder)), scope),
      (context) => Context.get(context, RateLimiter)
    )
  })
  /** Requests of a key at nodes, all at once; returns the number allowed. */
  const ask = (keyId: number, limit: number, nodes: ReadonlyArray<number>) =>
    Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const asking = yield* Effect.forkChild(
        Effect.forEach(nodes, (node) => limiters[node]?.take(keyId, limit, now) ?? Effect.die("no such node"), {
          concurrency: "unbounded"
        }),
        { startImmediately: true }
      )
      yield* TestClock.adjust(2000)
      return (yield* Fiber.join(asking)).filter(({ isAllowed }) => isAllowed).length
    })
  /** Asks at a node; returns the ms that the answer took. */
  const timeOf = (keyId: number, node: number) =>
    Effect.gen(function*() {
      const begunAt = yield* Clock.currentTimeMillis
      const asking = yield* Effect.forkChild(
        Effect.andThen(limiters[node]?.take(keyId, 30, begunAt) ?? Effect.die("no such node"), Clock.currentTimeMillis),
        { startImmediately: true }
      )
      let waitedMs = 0
      while (asking.pollUnsafe() === undefined && waitedMs < 5000) {
        yield* TestClock.adjust(100)
        waitedMs += 100
      }
      return (yield* Fiber.join(asking)) - begunAt
    })
  return { ask, frozen, network, timeOf }
})

const many = (node: number, count = 30) => Array.from({ length: count }, () => node)

describe("an API key's requests counted in a cluster", () => {
  const keyId = 3
  const owner = 0

  it.effect("are limited once for all nodes when the node that counts them is frozen from the start", () =>
    Effect.gen(function*() {
      const { ask, frozen } = yield* makeNodes
      frozen.add(owner)
      assert.strictEqual(yield* ask(keyId, 30, [...many(1), ...many(2)]), 30)
    }))

  it.effect("share one limit with those counted before the counting node froze", () =>
    Effect.gen(function*() {
      const { ask, frozen } = yield* makeNodes
      assert.strictEqual(yield* ask(keyId, 30, many(2, 20)), 20)
      frozen.add(owner)
      assert.strictEqual(yield* ask(keyId, 30, [...many(1), ...many(2)]), 10)
      frozen.delete(owner)
      assert.strictEqual(yield* ask(keyId, 30, [...many(1), ...many(2), ...many(0)]), 0)
    }))

  it.effect("share one limit with those counted before another node took over the counting", () =>
    Effect.gen(function*() {
      const { ask, network } = yield* makeNodes
      assert.strictEqual(yield* ask(keyId, 30, many(1)), 30)
      network.first = 1
      assert.strictEqual(yield* ask(keyId, 30, many(2)), 0)
      yield* TestClock.adjust(60_000)
      assert.strictEqual(yield* ask(keyId, 30, many(2)), 30)
    }))

  it.effect("are limited by the only node that is not frozen", () =>
    Effect.gen(function*() {
      const { ask, frozen } = yield* makeNodes
      frozen.add(0).add(1)
      assert.strictEqual(yield* ask(keyId, 30, many(2, 50)), 30)
    }))

  it.effect("wait for a frozen node only once, even if it counts for other keys or is their fallback", () =>
    Effect.gen(function*() {
      const { frozen, network, timeOf } = yield* makeNodes
      network.ownerOf = (number) => number < 100 ? 0 : 1
      frozen.add(0)
      assert.strictEqual(yield* timeOf(3, 1), 400)
      assert.strictEqual(yield* timeOf(3, 1), 0)
      assert.strictEqual(yield* timeOf(20, 1), 0)
      // the owner of one of the next numbers counts
      assert.strictEqual(yield* timeOf(97, 1), 0)
      yield* TestClock.adjust(1500)
      assert.strictEqual(yield* timeOf(97, 2), 400)
      assert.strictEqual(yield* timeOf(97, 2), 0)
    }))

  it.effect("wait for at most two frozen nodes, one at a time", () =>
    Effect.gen(function*() {
      const { frozen, timeOf } = yield* makeNodes
      frozen.add(0).add(1).add(2)
      assert.strictEqual(yield* timeOf(keyId, 2), 800)
      assert.isAtMost(yield* timeOf(keyId, 2), 400)
      assert.strictEqual(yield* timeOf(keyId, 2), 0)
    }))
})

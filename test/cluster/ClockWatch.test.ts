import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { areContradicting, makeClockWatch, unsettled } from "../../src/cluster/ClockWatch.ts"

// Goal: a node whose clock is wrong owns no players as long as another one's is right, also while the others are late with an answer. Method: a watch
// whose clock and other nodes the test sets, under a test clock.

const makeWorld = Effect.gen(function*() {
  const world = { isAgreed: true, doOthersAgree: true }
  const told: Array<boolean> = []
  const { awaitRight, isAside, watch } = makeClockWatch({
    isAgreed: () => world.isAgreed,
    othersAgree: Effect.sync(() => world.doOthersAgree),
    standAside: (is) => Effect.sync(() => void told.push(is))
  })
  return { awaitRight, isAside, told, watch, world }
})

describe("a node whose clock is wrong", () => {
  it.effect("rejoins after ten clock queries in a row that no other node answered, and not after nine", () =>
    Effect.gen(function*() {
      const { isAside, told, watch, world } = yield* makeWorld
      yield* Effect.forkChild(watch)
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(told, [])
      world.isAgreed = false
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(told, [true])
      for (const missed of [1, 5, 9]) {
        world.doOthersAgree = false
        yield* TestClock.adjust(missed * 1000)
        assert.isTrue(isAside())
        world.doOthersAgree = true
        yield* TestClock.adjust("1 second")
      }
      assert.deepStrictEqual(told, [true])
      world.doOthersAgree = false
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(told, [true, false])
    }))

  it.effect("rejoins at once when its clock is right, and does not leave while no other node answers", () =>
    Effect.gen(function*() {
      const { told, watch, world } = yield* makeWorld
      yield* Effect.forkChild(watch)
      world.isAgreed = false
      yield* TestClock.adjust("3 seconds")
      world.isAgreed = true
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(told, [true, false])
      world.isAgreed = false
      world.doOthersAgree = false
      yield* TestClock.adjust("60 seconds")
      assert.deepStrictEqual(told, [true, false])
    }))

  it.effect("joins only when its clock is right, or after ten seconds without an answer from another node", () =>
    Effect.gen(function*() {
      const { awaitRight, isAside, world } = yield* makeWorld
      world.isAgreed = false
      const joining = yield* Effect.forkChild(awaitRight)
      yield* TestClock.adjust("60 seconds")
      world.doOthersAgree = false
      yield* TestClock.adjust("9 seconds")
      assert.isUndefined(joining.pollUnsafe())
      assert.isTrue(isAside())
      yield* TestClock.adjust("1 second")
      assert.isDefined(joining.pollUnsafe())
      assert.isFalse(isAside())
    }))
})

describe("a node whose clock differs from PostgreSQL's", () => {
  const agreeing = { node: "other", status: 200, body: "" }
  const begun = { ...agreeing, body: unsettled }

  it("is contradicted by another node that agrees with PostgreSQL; once its own time is confirmed, only by one whose time is confirmed too", () => {
    const at = (answers: ReadonlyArray<typeof agreeing>, isSettled: boolean) =>
      areContradicting(answers, "self", isSettled)
    assert.deepStrictEqual([at([agreeing], true), at([agreeing], false)], [true, true])
    assert.deepStrictEqual([at([begun], true), at([begun], false)], [false, true])
    assert.isTrue(at([begun, agreeing], true))
    assert.isFalse(at([{ ...agreeing, node: "self" }, { ...agreeing, status: 503 }], false))
  })
})

import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Metric } from "effect"
import { TestClock } from "effect/testing"
import { RegisterConnections } from "../../src/features/registers/RegisterConnections.ts"
import { RegisterFailure } from "../../src/features/registers/RegisterHttp.ts"
import { RegisterQuestions } from "../../src/features/registers/RegisterQuestions.ts"
import { Entropy } from "../../src/platform/Entropy.ts"
import { Settings } from "../../src/platform/Settings.ts"
import { ada, bound } from "./support.ts"

// Goal: a register that never answers costs each question its time, and after five nobody waits for it; a bounded number of questions run and
// wait. Method: a connection whose questions all end at their deadlines, on a clock that moves by hand.

const registerTimeoutMs = 2000

const silent = (began: () => void) =>
  Layer.succeed(RegisterConnections, {
    find: () =>
      Effect.succeed({
        id: 1,
        bound: bound("gamstop", { url: "https://register.test", batch_url: "https://register.test", api_key: "key" })
          .register,
        // as the client does, by a fiber of its own
        send: (_request, deadlineMs) =>
          Effect.sync(began).pipe(
            Effect.andThen(Effect.sleep(deadlineMs)),
            Effect.andThen(Effect.fail(new RegisterFailure({ word: "timeout" }))),
            Effect.forkDetach,
            Effect.flatMap(Fiber.join)
          )
      }),
    invalidate: () => Effect.void
  })

const questionsOf = (connections: Layer.Layer<RegisterConnections>) =>
  RegisterQuestions.layer.pipe(
    Layer.provide([connections, Entropy.layer, Settings.layerTest({ registerTimeoutMs })])
  )

it.effect("5.2: five queries without an answer open the circuit breaker, so that the sixth is not sent", () => {
  let begun = 0
  return Effect.gen(function*() {
    const { ask } = yield* RegisterQuestions
    const faults: Array<string | null> = []
    for (let count = 0; count < 6; count++) {
      const asking = yield* Effect.forkChild(ask(1, "gamstop", { event: "login", person: ada }))
      yield* Effect.yieldNow.pipe(
        Effect.repeat({ until: () => begun > count || asking.pollUnsafe() !== undefined })
      )
      yield* TestClock.adjust(registerTimeoutMs)
      faults.push((yield* Fiber.join(asking)).fault)
    }
    assert.deepStrictEqual(faults, [
      ...Array.from({ length: 5 }, () => "timeout"),
      "the register did not answer several times in a row"
    ])
    assert.strictEqual(begun, 5)
    const counted = (yield* Metric.snapshot).filter(({ id }) => id === "register_requests_total")
    assert.deepStrictEqual(counted.map(({ attributes, state }) => ({ attributes, state })), [{
      attributes: { register: "gamstop", result: "unavailable" },
      state: { count: 6, incremental: true }
    }])
  }).pipe(
    Effect.provide(questionsOf(silent(() => begun++))),
    Effect.provideService(Metric.MetricRegistry, new Map())
  )
})

it.effect("5.2: at most 64 queries run at a register and 256 wait (of marketing: 16 and 256); a further one is refused at once", () => {
  let begun = 0
  return Effect.gen(function*() {
    const { ask } = yield* RegisterQuestions
    for (const [event, maxRunning] of [["login", 64], ["marketing", 16]] as const) {
      begun = 0
      const asking = Effect.forkChild(ask(1, "gamstop", { event, person: ada }))
      const taken = yield* Effect.replicateEffect(asking, maxRunning + 256)
      const { fault } = yield* Fiber.join(yield* asking)
      assert.strictEqual(fault, "too many queries are waiting for the register")
      // those that run begin in fibers of their own
      yield* Effect.repeat(Effect.yieldNow, { times: 20 })
      assert.strictEqual(begun, maxRunning)
      assert.isTrue(taken.every((fiber) => fiber.pollUnsafe() === undefined))
    }
  }).pipe(Effect.provide(questionsOf(silent(() => begun++))))
})

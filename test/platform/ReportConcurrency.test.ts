import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { maxReading, ReportConcurrency } from "../../src/platform/ReportConcurrency.ts"

// Goal: reports are made while a verification of many statements runs, instead of after it. Method: a verification that never rests, and a report that
// arrives during one of its statements.
it.effect("a report gets its turn between two statements of a verification", () =>
  Effect.gen(function*() {
    const { limit, patiently } = yield* ReportConcurrency
    const done: Array<string> = []
    let running = 0
    const statement = (name: string) =>
      Effect.gen(function*() {
        assert.isAtMost(++running, maxReading)
        yield* Effect.yieldNow
        running--
        done.push(name)
      })
    const verification = yield* Effect.forkChild(
      Effect.forEach(Array.from({ length: 100 }), () => patiently(statement("verification"))),
      { startImmediately: true }
    )
    const reports = yield* Effect.forEach(
      Array.from({ length: 8 }),
      () => Effect.forkChild(limit("refused")(statement("report")), { startImmediately: true })
    )
    yield* Fiber.joinAll(reports)
    assert.isBelow(done.filter((name) => name === "verification").length, 50)
    yield* Fiber.join(verification)
  }).pipe(Effect.provide(ReportConcurrency.layer)))

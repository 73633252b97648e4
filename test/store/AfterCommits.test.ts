import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { afterCommits, Outbox } from "../../src/store/Outbox.ts"

/** How often work was done after each step, with an outbox that the test announces commits to. */
const counted = (everyMs: number | undefined, steps: ReadonlyArray<number | "commit">) =>
  Effect.gen(function*() {
    let listener = () => {}
    let done = 0
    yield* afterCommits(Effect.sync(() => done++), {
      ...(everyMs === undefined ? {} : { everyMs }),
      postponed: () => Effect.void
    }).pipe(Effect.provideService(
      Outbox,
      Outbox.of({
        insert: () => Effect.void,
        announce: () => listener(),
        listen: (one) => Effect.sync(() => (listener = one))
      })
    ))
    const counts: Array<number> = []
    for (const step of steps) {
      if (step === "commit") listener()
      else yield* TestClock.adjust(step)
      counts.push(done)
    }
    return counts
  }).pipe(Effect.scoped)

describe("work after commits", () => {
  it.effect("is done once for the commits of a quarter of a second, and not without one", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* counted(undefined, [10_000, "commit", "commit", 249, 1, 10_000]), [
        0,
        0,
        0,
        0,
        1,
        1
      ])
    }))

  it.effect("with a period, is also done at the start, for what an earlier process left, and after each period", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* counted(3000, [249, 1, 3249, 1]), [0, 1, 1, 2])
    }))
})

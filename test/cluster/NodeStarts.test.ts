import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { awaitStart, type StartedNode } from "../../scripts/cluster/NodeStarts.ts"

// Goal: the supervisor starts a node again that ends before it takes requests, three times in all, says what it waits for, and goes on without one
// that takes too long. Method: nodes that end or become ready as a list says, and a clock of the test.

/** How a start goes: it ends this way, becomes ready, or neither. */
type Course = { readonly ends: string } | "ready" | "hangs"

/** A node whose starts go this way, one after the other. */
const nodeOf = ([first, ...later]: readonly [Course, ...ReadonlyArray<Course>]) => {
  const courses = [...later]
  let course = first
  let starts = 1
  const running = () => {
    const now = course
    return {
      pid: starts,
      exited: typeof now === "object" ? Effect.succeed(now.ends) : Effect.never,
      hasExited: () => typeof now === "object",
      kill: () => {},
      tell: () => {}
    }
  }
  const node: StartedNode = {
    number: 2,
    running: running(),
    start: Effect.sync(() => {
      course = courses.shift() ?? assert.fail("started once too often")
      starts++
      return running()
    }),
    untilReady: (tell) =>
      Effect.suspend(() =>
        course === "ready"
          ? Effect.void
          : Effect.andThen(Effect.delay(tell("the database is starting"), "10 seconds"), Effect.never)
      )
  }
  return { node, starts: () => starts }
}

/** What becomes of a start, when, and what was said. */
const outcomeOf = Effect.fnUntraced(function*(courses: readonly [Course, ...ReadonlyArray<Course>]) {
  const { node, starts } = nodeOf(courses)
  const said: Array<string> = []
  const waiting = yield* Effect.forkChild(
    Effect.flatMap(
      awaitStart(node, (line) => Effect.sync(() => void said.push(line))),
      (isUp) => Effect.map(Clock.currentTimeMillis, (at) => ({ isUp, at }))
    )
  )
  yield* TestClock.adjust("2 minutes")
  return { ...(yield* Fiber.join(waiting)), starts: starts(), said }
})

const ended = { ends: "exit code 1" }

describe("the supervisor of nodes", () => {
  it.effect("restarts a node that exits before it is ready, after a pause, and logs it", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* outcomeOf([ended, ended, "ready"]), {
        isUp: true,
        at: 4000,
        starts: 3,
        said: ["node 2 did not start (exit code 1)", "node 2 did not start (exit code 1)"]
      })
    }))

  it.effect("gives up on a node whose third start fails as well", () =>
    Effect.gen(function*() {
      const { isUp, said, starts } = yield* outcomeOf([ended, ended, { ends: "SIGKILL" }])
      assert.deepStrictEqual([isUp, starts, said.at(-1)], [false, 3, "node 2 did not start (SIGKILL)"])
    }))

  it.effect("logs what a starting node waits for, and continues without that node after a minute", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* outcomeOf(["hangs"]), {
        isUp: true,
        at: 60_000,
        starts: 1,
        said: ["waiting for node 2: the database is starting"]
      })
    }))
})

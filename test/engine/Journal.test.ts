import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Metric, Scope } from "effect"
import { TestClock } from "effect/testing"
import { type CommitFailure, OutcomeUnknown, Rejected, StoreUnavailable } from "../../src/engine/Failures.ts"
import * as Journal from "../../src/engine/Journal.ts"
import { failureOf, isWaiting, makeGate, settle, start } from "../kit/ToyMachine.ts"

interface Row {
  readonly name: string
  readonly weight: number
  readonly isBad: boolean
}

const row = (name: string, fields: Partial<Row> = {}): Row => ({ name, weight: 1, isBad: false, ...fields })

/** A journal over a store that rejects every batch with a bad row in it; the first batch can be held. */
const makeJournal = (options: Partial<Journal.JournalOptions<Row>> = {}) =>
  Effect.gen(function*() {
    const batches: Array<ReadonlyArray<string>> = []
    const gate = makeGate()
    const commit = (rows: ReadonlyArray<Row>): Effect.Effect<void, CommitFailure> =>
      Effect.suspend(() => {
        batches.push(rows.map(({ name }) => name))
        const apply = rows.some(({ isBad }) => isBad) ? Effect.fail(new Rejected({ because: "clash" })) : Effect.void
        return batches.length === 1 ? gate.behaviour(apply) : apply
      })
    const journal = yield* Journal.make<Row>({
      commit,
      maxWeight: 1000,
      weigh: ({ weight }) => weight,
      capacity: 1000,
      ...options
    })
    return { journal, batches, gate }
  })

const append = (journal: Journal.Journal<Row>, each: Row) =>
  Effect.callback<void, CommitFailure | "full">((resume) => {
    if (!journal.append(each, resume)) resume(Effect.fail("full"))
  })

const appendAll = (journal: Journal.Journal<Row>, rows: ReadonlyArray<Row>) =>
  Effect.forEach(rows, (each) => start(append(journal, each)))

describe("Journal", () => {
  // Goal: no timer and no waiting for company. Method: one row commits at once; what comes meanwhile goes together.
  it.effect("commits at once when idle, and gathers while it commits", () =>
    Effect.gen(function*() {
      const { batches, gate, journal } = yield* makeJournal()
      const fibers = yield* appendAll(journal, ["a", "b", "c"].map((name) => row(name)))
      yield* gate.arrived
      assert.deepStrictEqual(batches, [["a"]])
      yield* gate.open
      yield* Fiber.joinAll(fibers)
      assert.deepStrictEqual(batches, [["a"], ["b", "c"]])
    }))

  it.effect("commits no more than the weight, in order, and a heavy row alone", () =>
    Effect.gen(function*() {
      const { batches, gate, journal } = yield* makeJournal({ maxWeight: 4 })
      const rows = [row("a"), row("b", { weight: 3 }), row("c"), row("d"), row("e", { weight: 9 }), row("f")]
      const fibers = yield* appendAll(journal, rows)
      yield* gate.arrived
      yield* gate.open
      yield* Fiber.joinAll(fibers)
      assert.deepStrictEqual(batches, [["a"], ["b", "c"], ["d"], ["e"], ["f"]])
    }))

  // Goal: a commit takes as long as it takes, whatever the time of day is set to meanwhile. Method: a clock set back by an hour.
  it.effect("measures its commits by monotonic time", () =>
    Effect.gen(function*() {
      const { gate, journal } = yield* makeJournal()
      const fibers = yield* appendAll(journal, [row("a")])
      yield* gate.arrived
      yield* TestClock.adjust("2 seconds")
      yield* TestClock.setTime(-3_600_000)
      yield* gate.open
      yield* Fiber.joinAll(fibers)
      yield* journal.idle
      const measured = (yield* Metric.snapshot).find(({ id }) => id === "journal_commit_seconds")
      assert.include(measured?.state, { count: 1, sum: 2 })
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map())))

  // Goal: the rows to blame fail, all others are written, and it costs few round trips. Method: two bad rows among sixteen.
  it.effect("halves a rejected batch until the bad rows stand alone", () =>
    Effect.gen(function*() {
      const { batches, gate, journal } = yield* makeJournal()
      const rows = Array.from({ length: 16 }, (_, index) => row(`${index}`, { isBad: index === 3 || index === 10 }))
      const fibers = yield* appendAll(journal, [row("first"), ...rows])
      yield* gate.arrived
      yield* gate.open
      const failures = yield* Effect.forEach(fibers.slice(1), failureOf)
      assert.deepStrictEqual(failures, rows.map(({ isBad }) => isBad ? "Rejected" : ""))
      assert.isAtMost(batches.length, 1 + 2 * 2 * 4)
    }))

  it.effect("a failure other than a rejection fails every row undivided", () =>
    Effect.gen(function*() {
      for (const failure of [new StoreUnavailable({ reason: "away" }), new OutcomeUnknown({ reason: "cut off" })]) {
        let commits = 0
        const gate = makeGate()
        const { journal } = yield* makeJournal({
          commit: () => ++commits === 1 ? gate.behaviour(Effect.void) : Effect.fail(failure)
        })
        const [first, ...others] = yield* appendAll(journal, ["a", "b", "c", "d"].map((name) => row(name)))
        yield* gate.arrived
        yield* gate.open
        assert.strictEqual(first === undefined ? undefined : yield* failureOf(first), "")
        assert.deepStrictEqual(yield* Effect.forEach(others, failureOf), others.map(() => failure._tag))
        assert.strictEqual(commits, 2)
      }
    }))

  it.effect("refuses one row more than may wait", () =>
    Effect.gen(function*() {
      const { gate, journal } = yield* makeJournal({ capacity: 2 })
      const fibers = yield* appendAll(journal, [row("a")])
      yield* gate.arrived
      fibers.push(...yield* appendAll(journal, [row("b"), row("c")]))
      assert.strictEqual(yield* Effect.flip(append(journal, row("d"))), "full")
      yield* gate.open
      yield* Fiber.joinAll(fibers)
      yield* append(journal, row("d"))
    }))

  // Goal: a store that breaks down does not stop the journal. Method: one that throws instead of failing.
  it.effect("survives a commit that throws", () =>
    Effect.gen(function*() {
      let commits = 0
      const { journal } = yield* makeJournal({
        commit: () => {
          if (++commits === 1) throw new Error("a bug in the store")
          return Effect.void
        }
      })
      assert.isTrue(Exit.hasDies(yield* Effect.exit(append(journal, row("a")))))
      yield* append(journal, row("b"))
    }))

  it.effect("waits on closing until the last row is written", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { batches, gate, journal } = yield* Scope.provide(makeJournal(), scope)
      const fibers = yield* appendAll(journal, ["a", "b"].map((name) => row(name)))
      yield* gate.arrived
      const closing = yield* start(Scope.close(scope, Exit.void))
      yield* settle
      assert.isTrue(isWaiting(closing))
      yield* gate.open
      yield* Fiber.join(closing)
      yield* Fiber.joinAll(fibers)
      assert.deepStrictEqual(batches, [["a"], ["b"]])
    }))
})

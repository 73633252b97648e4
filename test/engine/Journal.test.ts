import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Metric, Scope } from "effect"
import { TestClock } from "effect/testing"
import { type CommitFailure, OutcomeUnknown, Rejected, StoreUnavailable } from "../../src/engine/Failures.ts"
import type { CommitOutcome, Verdict } from "../../src/engine/Machine.ts"
import * as Journal from "../../src/engine/Journal.ts"
import { failureOf, isWaiting, makeGate, settle, start } from "../kit/ToyMachine.ts"

interface Row {
  readonly name: string
  readonly weight: number
  /** The store's verdict: an unsound row makes it reject its batch. */
  readonly verdict: Verdict<string>["_tag"] | "Impossible"
}

const row = (name: string, fields: Partial<Row> = {}): Row => ({ name, weight: 1, verdict: "Valid", ...fields })

/** Rows that can only be written alone. */
const isLater = ({ verdict }: Row): boolean => verdict === "Later"

/** A journal over a store that rejects every batch with a bad row in it; the first batch can be held. */
const makeJournal = (options: Partial<Journal.JournalOptions<Row, string>> = {}) =>
  Effect.gen(function*() {
    const batches: Array<ReadonlyArray<string>> = []
    const gate = makeGate()
    const commit = (rows: ReadonlyArray<Row>): Effect.Effect<void, CommitFailure> =>
      Effect.suspend(() => {
        batches.push(rows.map(({ name }) => name))
        const apply = rows.every(({ verdict }) => verdict === "Valid") || rows.every(isLater)
          ? Effect.void
          : Effect.fail(new Rejected({ because: "clash", reason: "rejected" }))
        return batches.length === 1 ? gate.behaviour(apply) : apply
      })
    const examined: Array<ReadonlyArray<string>> = []
    const journal = yield* Journal.make<Row, string>({
      commit,
      examine: (rows) =>
        Effect.sync(() => {
          examined.push(rows.map(({ name }) => name))
          return rows.map(({ name, verdict: _tag }): Verdict<string> =>
            _tag === "Clash" ? { _tag, known: [name] } : { _tag: _tag === "Impossible" ? "Valid" : _tag }
          )
        }),
      maxWeight: 1000,
      weigh: ({ weight }) => weight,
      capacity: 1000,
      ...options
    })
    return { journal, batches, examined, gate }
  })

const append = (journal: Journal.Journal<Row, string>, each: Row) =>
  Effect.callback<void, Exclude<CommitOutcome<string>, { readonly _tag: "Committed" }> | "full">((resume) => {
    if (
      !journal.append(each, (end) => resume(end._tag === "Committed" ? Effect.void : Effect.fail(end)))
    ) resume(Effect.fail("full"))
  })

/** Appends the first row in a turn of its own, so that the others form the next batches. */
const appendAll = (journal: Journal.Journal<Row, string>, rows: ReadonlyArray<Row>) =>
  Effect.forEach(
    rows,
    (each, index) => Effect.andThen(index === 1 ? settle : Effect.void, start(append(journal, each)))
  )

describe("Journal (commits rows in batches)", () => {
  // Goal: no timer. Method: rows of one turn of the event loop commit together; rows that arrive meanwhile share the next commit.
  it.effect("commits the rows of one event-loop turn together when idle, and rows that arrive during a commit together after it", () =>
    Effect.gen(function*() {
      const { batches, gate, journal } = yield* makeJournal()
      const first = yield* Effect.forEach(["a", "b"], (name) => start(append(journal, row(name))))
      yield* gate.arrived
      const later = yield* Effect.forEach(["c", "d"], (name) => start(append(journal, row(name))))
      yield* settle
      assert.deepStrictEqual(batches, [["a", "b"]])
      yield* gate.open
      yield* Fiber.joinAll([...first, ...later])
      assert.deepStrictEqual(batches, [["a", "b"], ["c", "d"]])
    }))

  it.effect("commits the waiting rows together with those that arrive in the turn in which a commit ends", () =>
    Effect.gen(function*() {
      const { batches, gate, journal } = yield* makeJournal()
      const first = yield* start(Effect.callback<void>((resume) => {
        const next = () => void journal.append(row("c"), () => resume(Effect.void))
        journal.append(row("a"), () => queueMicrotask(next))
      }))
      yield* gate.arrived
      const waiting = yield* start(append(journal, row("b")))
      yield* settle
      yield* gate.open
      yield* Fiber.joinAll([first, waiting])
      assert.deepStrictEqual(batches, [["a"], ["b", "c"]])
    }))

  it.effect("commits rows in order up to the maximum weight, and a heavier row alone", () =>
    Effect.gen(function*() {
      const { batches, gate, journal } = yield* makeJournal({ maxWeight: 4 })
      const rows = [row("a"), row("b", { weight: 3 }), row("c"), row("d"), row("e", { weight: 9 }), row("f")]
      const fibers = yield* appendAll(journal, rows)
      yield* gate.arrived
      yield* gate.open
      yield* Fiber.joinAll(fibers)
      assert.deepStrictEqual(batches, [["a"], ["b", "c"], ["d"], ["e"], ["f"]])
    }))

  // Goal: the duration of a commit is independent of the wall clock. Method: a clock set back by an hour.
  it.effect("measures commit times by the monotonic clock", () =>
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

  // Goal: faulty rows fail with the store's verdict on each, all others are written together, in three round trips for any
  // number of them. Method: faulty rows of each kind among sixteen.
  it.effect("finds a batch's rejected rows in one round trip, and commits the others together", () =>
    Effect.gen(function*() {
      const { batches, examined, gate, journal } = yield* makeJournal()
      const verdicts = new Map<number, Row["verdict"]>([[3, "Clash"], [10, "Busy"], [12, "Fenced"]])
      const rows = Array.from(
        { length: 16 },
        (_, index) => row(`${index}`, { verdict: verdicts.get(index) ?? "Valid" })
      )
      const fibers = yield* appendAll(journal, [row("first"), ...rows])
      yield* gate.arrived
      const behind = yield* start(append(journal, row("behind")))
      yield* gate.open
      const failures = yield* Effect.forEach(fibers.slice(1), failureOf)
      assert.deepStrictEqual(failures, rows.map((_, index) => verdicts.get(index) ?? ""))
      yield* Fiber.join(behind)
      assert.deepStrictEqual(batches, [
        ["first"],
        [...rows.map(({ name }) => name), "behind"],
        [...rows.filter((_, index) => !verdicts.has(index)).map(({ name }) => name), "behind"]
      ])
      assert.lengthOf(examined, 1)
    }))

  it.effect("commits rows that claim the same id one by one", () =>
    Effect.gen(function*() {
      const { batches, gate, journal } = yield* makeJournal()
      const rows = [row("a"), row("b", { verdict: "Later" }), row("c")]
      const fibers = yield* appendAll(journal, [row("first"), ...rows])
      yield* gate.arrived
      yield* gate.open
      yield* Fiber.joinAll(fibers)
      assert.deepStrictEqual(batches, [["first"], ["a", "b", "c"], ["a", "c"], ["b"]])
    }))

  // Goal: a row that the store refuses without a reason fails alone, permanently. Method: one such row among sixteen.
  it.effect("splits a batch in half only when the store names no row as the cause", () =>
    Effect.gen(function*() {
      const { batches, gate, journal } = yield* makeJournal()
      const rows = Array.from({ length: 16 }, (_, index) =>
        row(`${index}`, { verdict: index === 3 ? "Impossible" : "Valid" }))
      const fibers = yield* appendAll(journal, [row("first"), ...rows])
      yield* gate.arrived
      yield* gate.open
      const failures = yield* Effect.forEach(fibers.slice(1), failureOf)
      assert.deepStrictEqual(
        failures,
        rows.map((_, index) =>
          index === 3 ? "Impossible" : ""
        )
      )
      assert.isAtMost(batches.length, 2 + 2 * 4)
    }))

  // Goal: a row that waits for a lock unknown to the store's check, such as a key that another transaction has written, is found. Method: every
  // batch with that row waits, whatever else is in it.
  it.effect("splits a batch in which one row waits for a lock, and writes the other rows", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      let commits = 0
      const { journal } = yield* makeJournal({
        commit: (rows) =>
          ++commits === 1
            ? gate.behaviour(Effect.void)
            : rows.some(({ name }) => name === "5")
            ? Effect.fail(new Rejected({ because: "busy" }))
            : Effect.void
      })
      const fibers = yield* appendAll(journal, [
        row("first"),
        ...Array.from({ length: 16 }, (_, index) => row(`${index}`))
      ])
      yield* gate.arrived
      yield* gate.open
      const failures = yield* Effect.forEach(fibers.slice(1), failureOf)
      assert.deepStrictEqual(failures, failures.map((_, index) => index === 5 ? "Busy" : ""))
      assert.isAtMost(commits, 1 + 12 + 2 * 4)
    }))

  it.effect("refuses all rows after a bounded number of tries if each of them needs a locked row", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      let commits = 0
      const { journal } = yield* makeJournal({
        commit: () => ++commits === 1 ? gate.behaviour(Effect.void) : Effect.fail(new Rejected({ because: "busy" }))
      })
      const fibers = yield* appendAll(
        journal,
        Array.from({ length: 1 + 256 }, (_, index) => row(`${index}`))
      )
      yield* gate.arrived
      yield* gate.open
      const failures = yield* Effect.forEach(fibers.slice(1), failureOf)
      assert.sameMembers([...new Set(failures)], ["StoreUnavailable"])
      assert.strictEqual(commits, 1 + 12 + 2 * 12)
    }))

  it.effect("fails all rows without splitting the batch on a failure other than a rejection", () =>
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

  it.effect("refuses rows beyond the maximum that may wait", () =>
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

  // Goal: a defect of the store does not stop the journal. Method: a store that throws instead of failing.
  it.effect("reports an unknown outcome for a commit that throws, and commits later rows", () =>
    Effect.gen(function*() {
      let commits = 0
      const { journal } = yield* makeJournal({
        commit: () => {
          if (++commits === 1) throw new Error("a bug in the store")
          return Effect.void
        }
      })
      assert.strictEqual(yield* failureOf(yield* start(append(journal, row("a")))), "OutcomeUnknown")
      yield* append(journal, row("b"))
    }))

  it.effect("closes only after the last row is written", () =>
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

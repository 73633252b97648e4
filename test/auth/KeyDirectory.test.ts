import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { makeKeyDirectory } from "../../src/auth/KeyDirectory.ts"
import { refuse } from "../../src/domain/Refusal.ts"

// Goal: look-ups of existing keys never wait for unknown ones, an announced change invalidates its own keys at once, and cached
// keys are never older than documented. Method: a table controlled by the test; statements are counted and can be held up.

interface Row {
  readonly key: string
  readonly text: string
  readonly owner: string
}

const makeTable = () => {
  const rows = new Map<string, Row>()
  const table = {
    versions: 0,
    reads: 0,
    opened: [] as Array<string>,
    gate: undefined as Deferred.Deferred<void> | undefined,
    isAway: false,
    put: (key: string, text: string, owner = "a") => rows.set(key, { key, text, owner }),
    delete: (key: string) => rows.delete(key)
  }
  const passing = <A>(read: () => A) =>
    Effect.gen(function*() {
      const found = read()
      if (table.gate !== undefined) yield* Deferred.await(table.gate)
      return table.isAway ? yield* Effect.fail(refuse("TRY_AGAIN", "away")) : found
    })
  const directory = makeKeyDirectory<Row, string>({
    version: Effect.suspend(() => {
      table.versions++
      return passing(() => JSON.stringify([...rows.values()]))
    }),
    rows: Effect.suspend(() => {
      table.reads++
      return passing(() => [...rows.values()])
    }),
    open: (row, earlier) =>
      Effect.sync(() => {
        table.opened.push(earlier === undefined ? row.text : `${earlier.value} ${row.text}`)
        return row.text
      })
  })
  return { table, directory }
}

/** Runs all ready fibers. */
const settle = Effect.forEach(Array.from({ length: 30 }), () => Effect.yieldNow, { discard: true })

describe("the directory of API keys", () => {
  it.effect("answers for existing and unknown keys without a database query for each", () =>
    Effect.gen(function*() {
      const { directory, table } = makeTable()
      table.put("one", "1")
      const keys = yield* directory
      yield* keys.refresh
      assert.isUndefined(keys.peek("one", 0), "its secret is opened when it is first used")
      assert.strictEqual(yield* keys.get("one"), "1")
      assert.strictEqual(keys.peek("one", 0), "1")
      yield* Effect.forEach(Array.from({ length: 1000 }), (_, index) => keys.get(`invented-${index}`), {
        discard: true
      })
      assert.deepStrictEqual(
        [table.versions, table.reads, table.opened.length],
        [21, 1, 1],
        "twenty early ones a second"
      )
    }))

  it.effect("answers for existing keys at once while thousands of unknown keys wait", () =>
    Effect.gen(function*() {
      const { directory, table } = makeTable()
      for (let index = 0; index < 6; index++) table.put(`real-${index}`, String(index))
      const keys = yield* directory
      yield* keys.refresh
      yield* TestClock.adjust("500 millis")
      table.gate = Deferred.makeUnsafe()
      const strangers = yield* Effect.forEach(
        Array.from({ length: 6000 }, (_, index) => `invented-${index}`),
        (key) => Effect.forkChild(keys.get(key), { startImmediately: true })
      )
      yield* settle
      for (let index = 0; index < 6; index++) assert.strictEqual(yield* keys.get(`real-${index}`), String(index))
      assert.strictEqual(table.versions, 2, "one statement for all of them")
      yield* Deferred.succeed(table.gate, undefined)
      for (const stranger of strangers) assert.isUndefined(yield* Fiber.join(stranger))
      assert.strictEqual(table.versions, 3, "and one for all that came after it had begun")
    }))

  it.effect("reads rows again only after another process has changed them", () =>
    Effect.gen(function*() {
      const { directory, table } = makeTable()
      table.put("one", "1")
      const keys = yield* directory
      yield* keys.refresh
      yield* keys.get("one")
      table.put("two", "2")
      assert.strictEqual(yield* keys.get("two"), "2", "at its first use, however young the directory is")
      yield* TestClock.adjust("101 millis")
      assert.strictEqual(table.reads, 2)

      table.put("one", "1a")
      yield* TestClock.adjust("1001 millis")
      table.gate = Deferred.makeUnsafe()
      assert.strictEqual(keys.peek("one", 1102), "1")
      yield* Deferred.succeed(table.gate, undefined)
      yield* settle
      assert.strictEqual(keys.peek("one", 1102), "1a", "opened before it serves")
      table.delete("one")
      yield* TestClock.adjust("1001 millis")
      keys.peek("two", 2103)
      yield* settle
      assert.isUndefined(yield* keys.get("one"))
      // idle for more than two seconds: no earlier entry is used
      table.put("two", "2a")
      yield* TestClock.adjust("2001 millis")
      table.gate = Deferred.makeUnsafe()
      assert.isUndefined(keys.peek("two", 4104))
      yield* Deferred.succeed(table.gate, undefined)
      assert.strictEqual(yield* keys.get("two"), "2a")
      const { reads, versions } = table
      yield* TestClock.adjust("1001 millis")
      yield* keys.get("two")
      yield* settle
      assert.deepStrictEqual([table.versions, table.reads], [versions + 1, reads])
    }))

  it.effect("finds a key that was created after the running query began", () =>
    Effect.gen(function*() {
      const { directory, table } = makeTable()
      const keys = yield* directory
      yield* keys.refresh
      yield* TestClock.adjust("500 millis")
      const gate = table.gate = Deferred.makeUnsafe()
      const stranger = yield* Effect.forkChild(keys.get("invented"))
      yield* settle
      table.put("one", "1")
      const asking = yield* Effect.forkChild(keys.get("one"))
      yield* settle
      table.gate = undefined
      yield* Deferred.succeed(gate, undefined)
      assert.isUndefined(yield* Fiber.join(stranger))
      assert.strictEqual(yield* Fiber.join(asking), "1")
      assert.strictEqual(table.versions, 3)
    }))

  it.effect("drops a key at once when its change is announced, and no other key", () =>
    Effect.gen(function*() {
      const { directory, table } = makeTable()
      table.put("one", "1", "a")
      table.put("two", "2", "b")
      const keys = yield* directory
      yield* Effect.all([keys.get("one"), keys.get("two")])
      table.put("one", "1a", "a")
      table.put("three", "3", "a")
      keys.invalidateWhere(({ owner }) => owner === "a")
      keys.invalidate("three")
      table.gate = Deferred.makeUnsafe()
      assert.isUndefined(keys.peek("one", 0))
      const asking = yield* Effect.forkChild(Effect.all([keys.get("one"), keys.get("three")], { concurrency: 2 }))
      yield* settle
      assert.strictEqual(keys.peek("two", 0), "2")
      assert.strictEqual(yield* keys.get("two"), "2")
      yield* Deferred.succeed(table.gate, undefined)
      assert.deepStrictEqual(yield* Fiber.join(asking), ["1a", "3"])
    }))

  it.effect("reads a key again if it changes during its query", () =>
    Effect.gen(function*() {
      const { directory, table } = makeTable()
      table.put("one", "1")
      const keys = yield* directory
      yield* keys.get("one")
      table.put("one", "2")
      keys.invalidate("one")
      const gate = table.gate = Deferred.makeUnsafe()
      const asking = yield* Effect.forkChild(keys.get("one"))
      yield* settle
      table.put("one", "3")
      keys.invalidate("one")
      table.gate = undefined
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual(yield* Fiber.join(asking), "3")
    }))

  it.effect("serves known keys for ten seconds of a database outage, then refuses them, and queries again after a pause", () =>
    Effect.gen(function*() {
      const { directory, table } = makeTable()
      table.put("one", "1")
      const keys = yield* directory
      yield* keys.get("one")
      table.isAway = true
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* keys.get("one"), "1")
      yield* settle
      assert.strictEqual((yield* Effect.flip(keys.get("unknown"))).code, "TRY_AGAIN")
      yield* TestClock.adjust("1 millis")
      assert.isUndefined(keys.peek("one", 10_001))
      const { versions } = table
      for (let index = 0; index < 100; index++) {
        assert.strictEqual((yield* Effect.flip(keys.get("one"))).code, "TRY_AGAIN")
      }
      assert.strictEqual(table.versions, versions)
      table.isAway = false
      yield* TestClock.adjust("250 millis")
      assert.strictEqual(yield* keys.get("one"), "1")
    }))

  it.effect("serves the known key if its renewal takes longer than half a second", () =>
    Effect.gen(function*() {
      const { directory, table } = makeTable()
      table.put("one", "1")
      const keys = yield* directory
      yield* keys.get("one")
      table.gate = Deferred.makeUnsafe()
      yield* TestClock.adjust("3 seconds")
      const asking = yield* Effect.forkChild(keys.get("one"))
      yield* settle
      assert.isUndefined(asking.pollUnsafe())
      yield* TestClock.adjust("500 millis")
      assert.strictEqual(yield* Fiber.join(asking), "1")
      assert.strictEqual(keys.peek("one", 3500), "1")
      yield* TestClock.adjust("6501 millis")
      assert.isUndefined(keys.peek("one", 10_001))
      yield* Deferred.succeed(table.gate, undefined)
    }))

  it.effect("does not serve an old key for longer when the clock is set back", () =>
    Effect.gen(function*() {
      const { directory, table } = makeTable()
      table.put("one", "1")
      const keys = yield* directory
      yield* TestClock.setTime(3_600_000)
      yield* keys.get("one")
      table.put("one", "2")
      yield* TestClock.setTime(0)
      assert.strictEqual(yield* keys.get("one"), "2")
    }))
})

import { PgTypes } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Schema } from "effect"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { temporarilyUnavailable } from "../../src/domain/Refusal.ts"
import { makeReadBatches } from "../../src/store/ReadBatches.ts"
import { rowsOf } from "../../src/store/Rows.ts"

const sqlError = (cause: unknown) =>
  new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause, message: "test", operation: "execute" }) })

const rows = rowsOf(Schema.Struct({ id: Schema.Number }))

/** Reads of the rows named, where `failing` says how a statement with the row 2 fails. */
const read = Effect.fnUntraced(function*(failing: Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError>) {
  const ran: Array<ReadonlyArray<number>> = []
  const { put } = yield* makeReadBatches<number, number>({
    maxBatch: 10,
    maxWaiting: 10,
    read: (items) =>
      Effect.suspend(() => {
        ran.push(items)
        return Effect.map(
          rows(items.includes(2) ? failing : Effect.succeed(items.map((id) => ({ id })))),
          (found) => found.map(({ id }) => Exit.succeed(id))
        )
      })
  })
  const start = (items: ReadonlyArray<number>) => Effect.forEach(items, (item) => Effect.forkChild(put(item)))
  return { ran, start }
})

const unreadable: ReadonlyArray<readonly [string, Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError>]> = [
  ["has another form than its schema", Effect.succeed([{ id: "2" }])],
  ["holds a number that is too large", Effect.fail(sqlError(new PgTypes.CodecError({ message: "too large" })))],
  ["makes a value of the statement invalid", Effect.fail(sqlError({ code: "22003" }))]
]

describe("batched reads that share a statement", () => {
  for (const [what, failing] of unreadable) {
    it.effect(`fail only for the row that ${what}`, () =>
      Effect.gen(function*() {
        const { ran, start } = yield* read(failing)
        const exits = yield* Effect.forEach(yield* start([1, 2, 3]), Fiber.await)
        assert.deepStrictEqual(exits.map(Exit.isSuccess), [true, false, true])
        assert.deepStrictEqual(ran, [[1, 2, 3], [1], [2], [3]])
      }))
  }

  it.effect("fail together, without a second try, for an invalid statement", () =>
    Effect.gen(function*() {
      const { ran, start } = yield* read(Effect.fail(sqlError({ code: "42601" })))
      const exits = yield* Effect.forEach(yield* start([1, 2, 3]), Fiber.await)
      assert.deepStrictEqual(exits.map(Exit.hasDies), [true, true, true])
      assert.deepStrictEqual(ran, [[1, 2, 3]])
    }))

  it.effect("get TRY_AGAIN when the database does not answer, and later reads succeed", () =>
    Effect.gen(function*() {
      const { start } = yield* read(Effect.never)
      const silent = yield* start([1, 2])
      yield* Effect.yieldNow
      const next = yield* start([3])
      yield* TestClock.adjust("6 seconds")
      assert.deepStrictEqual(yield* Effect.forEach(silent, Fiber.await), [
        Exit.fail(temporarilyUnavailable),
        Exit.fail(temporarilyUnavailable)
      ])
      assert.deepStrictEqual(yield* Effect.forEach(next, Fiber.await), [Exit.succeed(3)])
    }))
})

import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Logger, Queue, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { layerOwnerClient } from "../../src/platform/Database.ts"
import { makeHoldingProxy } from "../kit/HoldingProxy.ts"
import { makeRefusingProxy } from "../kit/RefusingProxy.ts"
import { TestDatabase } from "../kit/TestDatabase.ts"

// Goal: a start waits for a database that takes no connection for the moment, and says so; what does not pass by itself still ends it at once. Method: an
// address that does not answer, or answers as a server that is full or starts, until the first line about it is logged; then it leads to PostgreSQL.

/** Asks the database at an address once. */
const ask = (url: Redacted.Redacted, port: number, lines: Queue.Queue<string>) => {
  const address = new URL(Redacted.value(url))
  address.port = String(port)
  const logger = Logger.make<unknown, void>(({ message }) => void Queue.offerUnsafe(lines, String(message)))
  return Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1 AS one`).pipe(
    Effect.provide(
      layerOwnerClient(Redacted.make(address.href)).pipe(Layer.provide(Logger.layer([logger])))
    )
  )
}

layer(TestDatabase.layer, { excludeTestServices: true })("a start of the service", (it) => {
  const portOf = (url: Redacted.Redacted) => Number(new URL(Redacted.value(url)).port)

  it.effect(
    "waits for a database that accepts connections but does not answer in time",
    () =>
      Effect.gen(function*() {
        const { url } = yield* TestDatabase
        const proxy = yield* makeHoldingProxy(portOf(url))
        proxy.hold()
        const lines = yield* Queue.unbounded<string>()
        const asking = yield* Effect.forkChild(ask(url, proxy.port, lines))
        assert.strictEqual(yield* Queue.take(lines), "waiting for the database")
        proxy.release()
        assert.deepStrictEqual(yield* Fiber.join(asking), [{ one: 1 }])
      }),
    15_000
  )

  for (
    const [what, code] of [["is starting", "57P03"], ["has no connection left", "53300"], [
      "is stopping",
      "57P01"
    ]] as const
  ) {
    it.effect(`waits for a database that ${what}`, () =>
      Effect.gen(function*() {
        const { url } = yield* TestDatabase
        const address = yield* makeRefusingProxy(portOf(url), code, `it ${what}`)
        const lines = yield* Queue.unbounded<string>()
        const asking = yield* Effect.forkChild(ask(url, address.port, lines))
        assert.strictEqual(yield* Queue.take(lines), "waiting for the database")
        address.open()
        assert.deepStrictEqual(yield* Fiber.join(asking), [{ one: 1 }])
      }), 15_000)
  }

  it.effect(
    "fails at once if the password is wrong or nothing listens at the address",
    () =>
      Effect.gen(function*() {
        const { url } = yield* TestDatabase
        const wrong = yield* makeRefusingProxy(portOf(url), "28P01", "password authentication failed")
        const lines = yield* Queue.unbounded<string>()
        assert.include((yield* Effect.flip(ask(url, wrong.port, lines))).message, "password authentication failed")
        assert.include((yield* Effect.flip(ask(url, 1, lines))).message, "the database cannot be reached")
        assert.strictEqual(yield* Queue.size(lines), 0)
      }),
    15_000
  )
})

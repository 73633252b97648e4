import { assert, layer } from "@effect/vitest"
import { Cause, Effect, Exit, Redacted } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { inTransaction } from "../../src/platform/InTransaction.ts"
import { adminQuery } from "../kit/TestServer.ts"
import { TestDatabase } from "../kit/TestDatabase.ts"
import { inject } from "vitest"

// Goal: losing the database in the middle of a transaction is a failure, not a defect. Method: transactions whose
// server process is killed at different moments, so that the rollback fails too.
layer(TestDatabase.layer)("a transaction", (it) => {
  const failureOf = (exit: Exit.Exit<unknown, unknown>) => {
    assert(Exit.isFailure(exit))
    assert.isFalse(Cause.hasDies(exit.cause), Cause.pretty(exit.cause))
    const failure = Exit.findErrorOption(exit)
    return failure._tag === "Some" ? failure.value : undefined
  }

  it.effect("fails when its connection breaks in a statement, or before its commit", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const inStatement = yield* Effect.exit(
        inTransaction(sql)(sql`SELECT pg_terminate_backend(pg_backend_pid())`)
      )
      assert.instanceOf(failureOf(inStatement), SqlError.SqlError)

      const beforeCommit = yield* Effect.exit(
        inTransaction(sql)(
          Effect.flatMap(
            sql<{ readonly pid: number }>`SELECT pg_backend_pid()::float8 AS pid`,
            ([row]) =>
              adminQuery(Redacted.make(inject("testServerUrl")), `SELECT pg_terminate_backend(${row?.pid ?? 0}, 10000)`)
          )
        )
      )
      assert.instanceOf(failureOf(beforeCommit), SqlError.SqlError)
    }))

  it.effect("fails with its body's error when the rollback fails too", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const exit = yield* Effect.exit(
        inTransaction(sql)(
          Effect.andThen(Effect.ignore(sql`SELECT pg_terminate_backend(pg_backend_pid())`), Effect.fail("taken"))
        )
      )
      assert.strictEqual(failureOf(exit), "taken")
    }))

  it.effect("ends with its body's defect", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const exit = yield* Effect.exit(
        inTransaction(sql)(
          Effect.andThen(Effect.ignore(sql`SELECT pg_terminate_backend(pg_backend_pid())`), Effect.die("a mistake"))
        )
      )
      assert(Exit.isFailure(exit))
      assert.strictEqual(Cause.squash(exit.cause), "a mistake")
    }))
})

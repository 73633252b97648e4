/** Failed staff sign-in attempts, in the database so that all nodes share them: the wait grows with each. */
import { Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { refuse } from "../../domain/Refusal.ts"
import { inTransaction } from "../../platform/InTransaction.ts"
import { toDate } from "../../platform/Time.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { failuresAfter, waitLeftMs } from "./Rules.ts"

const attemptRows = rowsOf(Schema.Struct({ failures: Schema.Number, lastAt: Schema.Date }))

const tooMany = (ms: number) =>
  refuse("RATE_LIMITED", "Too many attempts failed. Wait before the next one.", {
    retry_after_seconds: Math.max(1, Math.ceil(ms / 1000))
  })

export const makeAttempts = Effect.map(SqlClient.SqlClient, (sql) => {
  /** Counts an attempt as failed before it is made, so that many at once are many; refuses it while its subject waits. */
  const attempt = Effect.fnUntraced(function*(subject: Uint8Array) {
    const now = yield* Clock.currentTimeMillis
    const leftMs = yield* orTryAgain(
      inTransaction(sql)(Effect.gen(function*() {
        yield* sql`INSERT INTO staff_attempts (subject, failures, last_at) VALUES (${subject}, 0, ${toDate(now)})
        ON CONFLICT DO NOTHING`
        const row = yield* oneOf(attemptRows(
          sql`SELECT failures, last_at AS "lastAt" FROM staff_attempts WHERE subject = ${subject} FOR UPDATE`
        ))
        const before = { failures: row?.failures ?? 0, lastAt: row?.lastAt.getTime() ?? now }
        const left = waitLeftMs(before, now)
        if (left === 0) {
          yield* sql`UPDATE staff_attempts SET failures = ${failuresAfter(before, now)}, last_at = ${toDate(now)}
          WHERE subject = ${subject}`
        }
        return left
      }))
    )
    if (leftMs > 0) return yield* Effect.fail(tooMany(leftMs))
  })

  /** Forgets the failures of a subject. */
  const succeeded = (subject: Uint8Array) =>
    orTryAgain(Effect.asVoid(sql`DELETE FROM staff_attempts WHERE subject = ${subject}`))

  return { attempt, succeeded }
})

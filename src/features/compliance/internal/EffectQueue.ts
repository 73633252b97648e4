/**
 * Queue of committed effects (a payment, a registration, a profile change and the like) that await AML evaluation. Each is consumed once: its alerts
 * and its removal are one transaction.
 */
import { Effect, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { inTransaction } from "../../../platform/InTransaction.ts"
import { toDate } from "../../../platform/Time.ts"
import { rowsOf } from "../../../store/Rows.ts"

const effectKinds = ["known", "registration", "profile", "kyc", "session", "deposit", "withdrawal", "limits"] as const

/** A committed fact. */
export interface ComplianceEffect {
  readonly id: number
  readonly kind: (typeof effectKinds)[number]
  readonly playerId: number
  /** Payment or game session; null for an effect of the player alone. */
  readonly subjectId: number | null
  /** Changed identity fields, for a change of identity; fields that were set higher, for one of limits. */
  readonly fields: ReadonlyArray<string>
  /** When it happened, epoch milliseconds. */
  readonly at: number
}

const effectRows = rowsOf(Schema.Struct({
  id: Schema.Number,
  kind: Schema.Literals(effectKinds),
  playerId: Schema.Number,
  subjectId: Schema.NullOr(Schema.Number),
  fields: Schema.Array(Schema.String),
  at: Schema.Date
}))

const lockRows = rowsOf(Schema.Struct({ isMine: Schema.Boolean }))
const waitingRows = rowsOf(Schema.Struct({ oldest: Schema.NullOr(Schema.Date) }))

/** Names the lock among all advisory locks of the database. */
const followerLock = 20_260_023

/** Delay after a failure: one minute, doubled each time, at most an hour. */
const pauseMinutes = (attempts: number): number => Math.min(60, 2 ** Math.min(attempts, 6))

/** Longest pause, plus a minute for clock skew. A later time was written by a clock that has been set back since. */
const longestPauseMs = 61 * 60_000

export const makeEffectQueue = Effect.map(SqlClient.SqlClient, (sql) => {
  /**
   * Hands effects to `judge`, in the order of their numbers, and removes them, in the transaction in which `judge` writes. Gives
   * them; none when there are none, or when another process works on them.
   */
  const work = Effect.fn("EffectQueue.work")(
    <E>(
      options: { readonly now: number; readonly limit: number },
      judge: (effects: ReadonlyArray<ComplianceEffect>) => Effect.Effect<void, E>
    ): Effect.Effect<ReadonlyArray<ComplianceEffect>, E | SqlError.SqlError> =>
      inTransaction(sql)(Effect.gen(function*() {
        const [lock] = yield* lockRows(sql`SELECT pg_try_advisory_xact_lock(${followerLock}) AS "isMine"`)
        if (lock?.isMine !== true) return []
        const rows = yield* effectRows(
          sql`DELETE FROM compliance_effects WHERE id = ANY (ARRAY(
              SELECT id FROM compliance_effects
              WHERE not_before <= ${toDate(options.now)} OR not_before > ${toDate(options.now + longestPauseMs)}
              ORDER BY compliance_effects.id LIMIT ${options.limit} FOR UPDATE SKIP LOCKED))
            RETURNING id, kind, player_id AS "playerId", subject_id AS "subjectId", fields, at`
        )
        if (rows.length === 0) return []
        const effects = rows.map((row) => ({ ...row, at: row.at.getTime() })).sort((one, other) => one.id - other.id)
        yield* judge(effects)
        return effects
      }))
  )

  /** Delays an effect whose evaluation failed; later effects go on. */
  const postpone = Effect.fn("EffectQueue.postpone")(({ id }: ComplianceEffect, now: number) =>
    Effect.gen(function*() {
      const [row] = yield* sql<{ readonly attempts: number }>`
        SELECT attempts FROM compliance_effects WHERE id = ${id}::float8::bigint`
      const until = now + pauseMinutes(row?.attempts ?? 0) * 60_000
      yield* sql`UPDATE compliance_effects SET attempts = attempts + 1, not_before = ${toDate(until)}
        WHERE id = ${id}::float8::bigint`
    })
  )

  /** When the effect happened that waits longest, epoch milliseconds; null when none waits. */
  const oldest = Effect.map(
    waitingRows(sql`SELECT (SELECT at FROM compliance_effects ORDER BY id LIMIT 1) AS oldest`),
    ([row]) => row?.oldest?.getTime() ?? null
  )

  return { work, postpone, oldest }
})

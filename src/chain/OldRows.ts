/** Backfill of the hash chain: links rows older than the chain, some thousand every few seconds. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { inTransaction } from "../platform/InTransaction.ts"
import type { JobResult } from "../platform/Scheduler.ts"
import { Chain } from "./Chain.ts"
import { auditLineSql, entryLineSql } from "./Lines.ts"

const rowsPerLink = 1000
const linksPerRun = 10

const State = Schema.Struct({
  beforeId: Schema.String,
  playerId: Schema.String,
  seq: Schema.String,
  auditId: Schema.String,
  isDone: Schema.Boolean
})
const decodeState = Schema.decodeUnknownEffect(Schema.Array(State))
const decodeEntries = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ playerId: Schema.Number, seq: Schema.Number, line: Schema.String }))
)
const decodeAudit = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ id: Schema.Number, line: Schema.String })))

export class OldRows extends Context.Service<OldRows, {
  /** Links the next rows, until none is left. */
  readonly run: Effect.Effect<JobResult, SqlError.SqlError>
}>()("pitboss/chain/OldRows") {
  static readonly layer = Layer.effect(
    OldRows,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const chain = yield* Chain

      const linkEntries = Effect.fnUntraced(function*({ beforeId, playerId, seq }: typeof State.Type) {
        const rows = yield* Effect.orDie(decodeEntries(
          yield* sql`SELECT e.player_id AS "playerId", e.seq, ${
            sql.literal(entryLineSql("e"))
          } AS line FROM ledger_entries e
            WHERE (e.player_id, e.seq) > (${playerId}::text::bigint, ${seq}::text::bigint) AND e.id < ${beforeId}::text::bigint
            ORDER BY e.player_id, e.seq LIMIT ${rowsPerLink}`
        ))
        const last = rows.at(-1)
        if (last === undefined) return 0
        yield* sql`UPDATE chain_old_rows SET player_id = ${last.playerId}, seq = ${last.seq}`
        yield* chain.linkOldRows({
          lines: rows.map(({ line }) => line),
          playerIds: rows.map((row) => row.playerId),
          seqs: rows.map((row) => row.seq),
          auditIds: []
        })
        return rows.length
      })

      const linkAudit = Effect.fnUntraced(function*({ auditId, beforeId }: typeof State.Type) {
        const rows = yield* Effect.orDie(decodeAudit(
          yield* sql`SELECT a.id, ${sql.literal(auditLineSql("a"))} AS line FROM audit_log a
            WHERE a.id > ${auditId}::text::bigint AND a.id < ${beforeId}::text::bigint ORDER BY a.id LIMIT ${rowsPerLink}`
        ))
        const last = rows.at(-1)
        if (last === undefined) return 0
        yield* sql`UPDATE chain_old_rows SET audit_id = ${last.id}`
        yield* chain.linkOldRows({
          lines: rows.map(({ line }) => line),
          playerIds: [],
          seqs: [],
          auditIds: rows.map(({ id }) => id)
        })
        return rows.length
      })

      /** One link and the progress, in one transaction. */
      const linkNext = inTransaction(sql)(Effect.gen(function*() {
        const [state] = yield* Effect.orDie(decodeState(
          yield* sql`SELECT before_id::text AS "beforeId", player_id::text AS "playerId", seq::text AS seq,
            audit_id::text AS "auditId", is_done AS "isDone" FROM chain_old_rows FOR UPDATE`
        ))
        if (state === undefined || state.isDone) return 0
        const entries = yield* linkEntries(state)
        if (entries > 0) return entries
        const lines = yield* linkAudit(state)
        if (lines === 0) yield* sql`UPDATE chain_old_rows SET is_done = true`
        return lines
      }))

      const run = Effect.gen(function*() {
        let done = 0
        for (let links = 0; links < linksPerRun; links++) {
          const linked = yield* linkNext
          if (linked === 0) break
          done += linked
        }
        return { done, hasMore: false }
      })

      return OldRows.of({ run })
    })
  )
}

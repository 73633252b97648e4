/** Finds the next instant at which something of a sandbox operator falls due (limits, exclusions, bonuses, sessions and the like). */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { exclusionRetentionMs } from "../../domain/limit/DueChanges.ts"
import { toDate } from "../../platform/Time.ts"
import { oneOf, rowsOf } from "../../store/Rows.ts"

const dueRows = rowsOf(Schema.Struct({ at: Schema.NullOr(Schema.Date), hasRules: Schema.Boolean }))

/** What has no instant of its own is looked for this often: reviews, dormant accounts and other rules of a jurisdiction. */
export const rulesEveryMs = 12 * 3_600_000

export const makeNextDue = Effect.map(
  SqlClient.SqlClient,
  (sql) =>
    /** The first instant after one and until another at which something falls due; undefined without any. Epoch milliseconds. */
    Effect.fnUntraced(function*(operatorId: number, after: number, until: number) {
      const within = (column: string, laterMs = 0) =>
        sql`${sql.literal(column)} > ${toDate(after - laterMs)} AND ${sql.literal(column)} <= ${
          toDate(until - laterMs)
        }`
      const row = yield* oneOf(dueRows(
        sql`SELECT min(due.at) AS at, EXISTS (SELECT FROM players WHERE operator_id = ${operatorId}
          AND (jurisdiction <> 'none' OR moved_from IS NOT NULL)) AS "hasRules" FROM (
        SELECT to_timestamp(one.ms / 1000) AS at FROM players p
          CROSS JOIN LATERAL jsonb_array_elements(p.pending_limits) AS change
          CROSS JOIN LATERAL (VALUES ((change ->> 'effectiveAt')::float8), ((change ->> 'confirmUntil')::float8)) AS one(ms)
          WHERE p.operator_id = ${operatorId} AND p.pending_limits <> '[]'
            AND one.ms > ${after}::float8 AND one.ms <= ${until}::float8
        UNION ALL SELECT exclusion_until FROM players
          WHERE operator_id = ${operatorId} AND exclusion_type IS NOT NULL AND ${within("exclusion_until")}
        UNION ALL SELECT exclusion_over_at FROM players WHERE operator_id = ${operatorId} AND ${
          within("exclusion_over_at")
        }
        UNION ALL SELECT exclusion_over_at + make_interval(secs => ${exclusionRetentionMs / 1000}) FROM players
          WHERE operator_id = ${operatorId} AND ${within("exclusion_over_at", exclusionRetentionMs)}
        UNION ALL SELECT document_expires_at FROM players
          WHERE operator_id = ${operatorId} AND kyc_status = 'verified' AND ${within("document_expires_at")}
        UNION ALL SELECT expires_at FROM player_bonuses
          WHERE operator_id = ${operatorId} AND state = 'activated' AND ${within("expires_at")}
        UNION ALL SELECT open_until FROM player_bonuses
          WHERE operator_id = ${operatorId} AND state <> 'finished' AND ${within("open_until")}
        UNION ALL SELECT session_due_at FROM accounts WHERE operator_id = ${operatorId} AND ${within("session_due_at")}
        UNION ALL SELECT due_at FROM screenings WHERE operator_id = ${operatorId} AND ${within("due_at")}
        ) due`
      ))
      const rules = Math.floor(after / rulesEveryMs + 1) * rulesEveryMs
      const instants = [
        ...row?.at === null || row?.at === undefined ? [] : [row.at.getTime()],
        ...row?.hasRules === true && rules <= until ? [rules] : []
      ]
      // what is due in the middle of a millisecond is so at its end
      return instants.length === 0 ? undefined : Math.max(after + 1, Math.min(...instants))
    })
)

/** Reads the inputs of a payment approval, uncached, so that recent settings changes apply. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { windowStart } from "../../domain/state/Windows.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import { toDate } from "../../platform/Time.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { makeStaffFacts, type StaffTrustFacts } from "../../office/SpendingFacts.ts"

const Subject = Schema.Struct({
  playerId: Schema.Number,
  /** Minor units. */
  amount: Schema.Number,
  currency: Schema.String,
  base: Schema.String,
  secondApprovalAbove: Schema.NullOr(Schema.Number),
  /** When it was requested here: one that came with an import is as old as the import. */
  requestedAt: Schema.Date,
  firstApprovedBy: Schema.NullOr(Schema.String),
  secondApprovedBy: Schema.NullOr(Schema.String)
})
const subjects = rowsOf(Subject)

/** Sum of other withdrawals that count towards the threshold, and the staff who corrected the balance upwards. */
const Beside = Schema.Struct({ beside: Schema.Number, correctors: Schema.Array(Schema.String) })
const sums = rowsOf(Beside)
const answers = rowsOf(Schema.Struct({ isWaiting: Schema.Boolean }))

const dayMs = 86_400_000

export class ApprovalFacts extends Context.Service<ApprovalFacts, {
  readonly find: (paymentId: number) => Effect.Effect<typeof Subject.Type | undefined, Refusal<"TRY_AGAIN">>
  /**
   * Whether an alert that has not yet reached the player's actor may still stop the withdrawal: with a rule of the operator that stops
   * withdrawals, it was not evaluated, or its finding was not applied. One statement, since the first state becomes the second.
   */
  readonly isWaiting: (paymentId: number) => Effect.Effect<boolean, Refusal<"TRY_AGAIN">>
  /**
   * Sum of other withdrawals requested, approved or paid on the day of the request or today, and the staff who corrected
   * the balance upwards then or in the 24 hours before: a correction in the late evening is paid out after midnight. So did who posted and approved an
   * import that brought the player, or an open withdrawal, whose sum another person approved already.
   */
  readonly countedBeside: (
    payment: { readonly id: number; readonly playerId: number; readonly requestedAt: number },
    now: number
  ) => Effect.Effect<typeof Beside.Type | undefined, SqlError.SqlError>
  /** Members of staff by label, with the trust between them. */
  readonly staff: (labels: ReadonlyArray<string>) => Effect.Effect<StaffTrustFacts, SqlError.SqlError>
}>()("pitboss/payments/ApprovalFacts") {
  static readonly layer = Layer.effect(
    ApprovalFacts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const find = (paymentId: number) =>
        orTryAgain(oneOf(subjects(
          sql`SELECT p.player_id AS "playerId", p.amount, p.currency, o.currency AS base,
              o.withdrawal_second_approval_above AS "secondApprovalAbove",
              greatest(p.created_at, (SELECT max(a.at) FROM audit_log a WHERE a.player_id = p.player_id
                AND a.action = 'player.import' AND a.after ->> 'payment_request_id' = p.id::text)) AS "requestedAt",
              p.first_approved_by AS "firstApprovedBy", p.second_approved_by AS "secondApprovedBy"
            FROM payment_requests p JOIN operators o ON o.id = p.operator_id WHERE p.id = ${paymentId}::float8::bigint`
        )))

      const isWaiting = (paymentId: number) =>
        Effect.map(
          orTryAgain(oneOf(answers(
            sql`SELECT EXISTS (SELECT FROM compliance_settings s WHERE s.operator_id = p.operator_id
                  AND s.settings @> '{"stopWithdrawals": true}' AND NOT s.settings @> '{"enabled": false}')
                AND (EXISTS (SELECT FROM compliance_effects e WHERE e.kind = 'withdrawal' AND e.subject_id = p.id)
                  OR EXISTS (SELECT FROM compliance_alerts a
                    WHERE a.player_id = p.player_id AND a.hold = 'wanted' AND a.status <> 'closed')) AS "isWaiting"
              FROM payment_requests p WHERE p.id = ${paymentId}::float8::bigint`
          ))),
          (row) => row?.isWaiting === true
        )

      const countedBeside = (
        { id, playerId, requestedAt }: { readonly id: number; readonly playerId: number; readonly requestedAt: number },
        now: number
      ) => {
        const requestDay = windowStart("day", requestedAt)
        const [from, until] = [toDate(requestDay), toDate(requestDay + dayMs)]
        const today = toDate(windowStart("day", now))
        const counting = (column: string) => {
          const at = sql.literal(column)
          return sql`(${at} >= ${toDate(requestedAt - dayMs)} AND ${at} < ${until}) OR ${at} >= ${toDate(now - dayMs)}`
        }
        return oneOf(sums(
          sql`WITH corrected AS MATERIALIZED (
              SELECT amount, staff, approved_by FROM staff_spending
              WHERE player_id = ${playerId}::float8::bigint AND kind = 'correction' AND amount > 0 AND NOT is_released
                AND (${counting("at")}))
            SELECT (SELECT coalesce(sum(w.amount), 0)::float8 FROM payment_requests w
                WHERE w.player_id = ${playerId}::float8::bigint AND w.id <> ${id}::float8::bigint
                  AND w.type = 'withdrawal' AND w.status IN ('new', 'allowed', 'paid')
                  AND ((w.created_at >= ${from} AND w.created_at < ${until}) OR w.created_at >= ${today}
                    OR (w.status <> 'new' AND w.updated_at >= ${today})))
              + (SELECT coalesce(sum(amount), 0)::float8 FROM corrected) AS beside,
              ARRAY(SELECT staff FROM corrected UNION SELECT approved_by FROM corrected WHERE approved_by IS NOT NULL
                UNION SELECT unnest(ARRAY[r.proposed_by, r.decided_by]) FROM audit_log a JOIN import_runs r
                  ON r.id = CASE a.action WHEN 'player.import' THEN substr(a.subject, 8)::bigint END
                  WHERE a.player_id = ${playerId}::float8::bigint AND a.action = 'player.import' AND (${
            counting("a.at")
          }))
                AS correctors`
        ))
      }

      return ApprovalFacts.of({ find, isWaiting, countedBeside, staff: yield* makeStaffFacts })
    })
  )
}

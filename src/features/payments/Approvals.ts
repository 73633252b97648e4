/** What staff do with payments, each in the actor of the payment's player (SPEC section 3.2). */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Payment } from "../../domain/Change.ts"
import { objectionToApproval, objectionToPayout } from "../../domain/wallet/FourEyes.ts"
import { approversOf, type MovePayment, movePaymentStep, type MoveRefusal } from "../../domain/payment/PaymentMoves.ts"
import { refuse } from "../../domain/Refusal.ts"
import { windowStart } from "../../domain/limit/Windows.ts"
import { toDate } from "../../platform/Time.ts"
import { type ActorRefusal, PlayerActors } from "../../store/PlayerActors.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { makeStaffFacts } from "./StaffFacts.ts"
import { Thresholds } from "./Thresholds.ts"

const notFound = refuse("NOT_FOUND", "There is no such payment.")

const subjects = rowsOf(Schema.Struct({
  playerId: Schema.Number,
  currency: Schema.String,
  base: Schema.String,
  secondApprovalAbove: Schema.NullOr(Schema.Number),
  createdAt: Schema.Date,
  firstApprovedBy: Schema.NullOr(Schema.String),
  secondApprovedBy: Schema.NullOr(Schema.String)
}))
const sums = rowsOf(Schema.Struct({ beside: Schema.Number, correctors: Schema.Array(Schema.String) }))

const dayMs = 86_400_000

/** One person is enough. */
const noRule = { secondApprovalAbove: null, beside: 0, judged: { approvedBy: [], objection: undefined } }

const answers = rowsOf(Schema.Struct({ isWaiting: Schema.Boolean }))

const notJudged = refuse(
  "TRY_AGAIN",
  "It is not known yet whether an alert stops this withdrawal. Try again in a moment.",
  {
    retry: "same_request"
  }
)

export class Approvals extends Context.Service<Approvals, {
  /**
   * Moves a payment and answers it as it stands then. Money, event and the line of the audit log commit with it. Not for
   * operators: any payment may be named.
   */
  readonly move: (
    command: Pick<MovePayment, "paymentId" | "move" | "actor" | "reason">
  ) => Effect.Effect<Payment, MoveRefusal | ActorRefusal>
}>()("pitboss/payments/Approvals") {
  static readonly layer = Layer.effect(
    Approvals,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actors = yield* PlayerActors
      const thresholds = yield* Thresholds
      const staffFacts = yield* makeStaffFacts

      // read from the table: what staff set for the operator a moment ago counts
      const find = Effect.fnUntraced(function*(paymentId: number) {
        const subject = yield* oneOf(subjects(
          sql`SELECT p.player_id AS "playerId", p.currency, o.currency AS base,
              o.withdrawal_second_approval_above AS "secondApprovalAbove", p.created_at AS "createdAt",
              p.first_approved_by AS "firstApprovedBy", p.second_approved_by AS "secondApprovedBy"
            FROM payment_requests p JOIN operators o ON o.id = p.operator_id WHERE p.id = ${paymentId}::float8::bigint`
        ))
        return subject === undefined ? yield* Effect.fail(notFound) : subject
      }, orTryAgain)

      /**
       * Whether an alert may still stop the withdrawal that has not reached the player's actor: where a rule of the operator stops
       * withdrawals, it was not judged, or what was found is not placed. Asked in one statement, since one becomes the other.
       */
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

      /**
       * What counts beside a withdrawal: whatever was asked for, approved or paid on the day of the request or this day. And who corrected
       * the balance upwards then or in the 24 hours before: a correction late in the evening is paid out after midnight.
       */
      const countedBeside = (paymentId: number, playerId: number, requestedAt: number, now: number) => {
        const requestDay = windowStart("day", requestedAt)
        const [from, until] = [toDate(requestDay), toDate(requestDay + dayMs)]
        const today = toDate(windowStart("day", now))
        return oneOf(sums(
          sql`WITH corrected AS MATERIALIZED (
              SELECT amount, staff, approved_by FROM staff_spending
              WHERE player_id = ${playerId}::float8::bigint AND kind = 'correction' AND amount > 0 AND NOT is_released
                AND ((at >= ${toDate(requestedAt - dayMs)} AND at < ${until}) OR at >= ${toDate(now - dayMs)}))
            SELECT (SELECT coalesce(sum(w.amount), 0)::float8 FROM payment_requests w
                WHERE w.player_id = ${playerId}::float8::bigint AND w.id <> ${paymentId}::float8::bigint
                  AND w.type = 'withdrawal' AND w.status IN ('new', 'allowed', 'paid')
                  AND ((w.created_at >= ${from} AND w.created_at < ${until}) OR w.created_at >= ${today}
                    OR (w.status <> 'new' AND w.updated_at >= ${today})))
              + (SELECT coalesce(sum(amount), 0)::float8 FROM corrected) AS beside,
              ARRAY(SELECT staff FROM corrected UNION SELECT approved_by FROM corrected WHERE approved_by IS NOT NULL)
                AS correctors`
        ))
      }

      const ruleOf = Effect.fnUntraced(
        function*(
          { actor, move, paymentId }: Parameters<Approvals["Service"]["move"]>[0],
          subject: Effect.Success<ReturnType<typeof find>>
        ) {
          const now = yield* Clock.currentTimeMillis
          const requestedAt = subject.createdAt.getTime()
          const secondApprovalAbove = yield* thresholds.convert(subject.secondApprovalAbove, subject)
          const { beside = 0, correctors = [] } =
            (yield* countedBeside(paymentId, subject.playerId, requestedAt, now)) ?? {}
          const approvedBy = approversOf(subject)
          const facts = yield* staffFacts([actor, ...approvedBy], requestedAt)
          const judged = {
            actor: facts.get(actor),
            others: approvedBy.map((label) => facts.get(label)),
            requestedAt
          }
          const objection = correctors.includes(actor)
            ? "corrected_balance" as const
            : move === "approve"
            ? objectionToApproval(judged)
            : objectionToPayout(judged)
          return { secondApprovalAbove, beside, judged: { approvedBy, objection } }
        },
        orTryAgain
      )

      const move: Approvals["Service"]["move"] = Effect.fn("Approvals.move")(function*(command) {
        const subject = yield* find(command.paymentId)
        const { playerId } = subject
        // money that comes back never waits
        if ((command.move === "approve" || command.move === "pay") && (yield* isWaiting(command.paymentId))) {
          return yield* Effect.fail(notJudged)
        }
        // only money that leaves asks how large the payment is
        const rule = (command.move === "approve" || command.move === "pay") && subject.secondApprovalAbove !== null
          ? yield* ruleOf(command, subject)
          : noRule
        return yield* actors.ask(null, playerId, movePaymentStep({ ...command, ...rule }))
      })

      return Approvals.of({ move })
    })
  )
}

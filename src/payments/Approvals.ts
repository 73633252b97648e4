/** What staff do with payments, each in the actor of the payment's player (SPEC section 3.2). */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Payment } from "../domain/Change.ts"
import { type MovePayment, movePaymentStep, type MoveRefusal } from "../domain/PaymentMoves.ts"
import { refuse } from "../domain/Refusal.ts"
import { type ActorRefusal, PlayerActors } from "../players/PlayerActors.ts"
import { oneOf, orTryAgain, rowsOf } from "../players/Rows.ts"
import { Thresholds } from "./Thresholds.ts"

const notFound = refuse("NOT_FOUND", "There is no such payment.")

const subjects = rowsOf(Schema.Struct({
  playerId: Schema.Number,
  currency: Schema.String,
  base: Schema.String,
  secondApprovalAbove: Schema.NullOr(Schema.Number)
}))
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
    command: Omit<MovePayment, "secondApprovalAbove">
  ) => Effect.Effect<Payment, MoveRefusal | ActorRefusal>
}>()("pitboss/payments/Approvals") {
  static readonly layer = Layer.effect(
    Approvals,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actors = yield* PlayerActors
      const thresholds = yield* Thresholds

      // read from the table: what staff set for the operator a moment ago counts
      const find = Effect.fnUntraced(function*(paymentId: number) {
        const subject = yield* oneOf(subjects(
          sql`SELECT p.player_id::float8 AS "playerId", p.currency, o.currency AS base,
              o.withdrawal_second_approval_above::float8 AS "secondApprovalAbove"
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

      const move: Approvals["Service"]["move"] = Effect.fn("Approvals.move")(function*(command) {
        const { playerId, ...subject } = yield* find(command.paymentId)
        // money that comes back never waits
        if ((command.move === "approve" || command.move === "pay") && (yield* isWaiting(command.paymentId))) {
          return yield* Effect.fail(notJudged)
        }
        // only an approval asks how large the payment is
        const secondApprovalAbove = command.move === "approve"
          ? yield* thresholds.convert(subject.secondApprovalAbove, subject)
          : null
        return yield* actors.ask(null, playerId, movePaymentStep({ ...command, secondApprovalAbove }))
      })

      return Approvals.of({ move })
    })
  )
}

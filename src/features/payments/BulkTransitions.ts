/** Transitions of payments whose players are at any node, for bulk actions. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { paymentTransitionNames } from "../../domain/payment/PaymentTransitions.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { RemoteCommands } from "../../store/RemoteCommands.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { Approvals } from "./Approvals.ts"

const Command = Schema.Struct({
  paymentId: Schema.Number,
  transition: Schema.Literals(paymentTransitionNames),
  /** Audit log label of the actor. */
  actor: Schema.String,
  reason: Schema.NullOr(Schema.String)
})

const players = rowsOf(Schema.Struct({ playerId: Schema.Number }))

const notFound = refuse("NOT_FOUND", "There is no such payment.")

export class BulkTransitions extends Context.Service<BulkTransitions, {
  /** As {@link Approvals}' `apply`, at the node of the payment's player. Sent twice, the second is refused: the payment has moved. */
  readonly apply: (command: typeof Command.Type) => Effect.Effect<void, Refusal>
}>()("pitboss/payments/BulkTransitions") {
  static readonly layer = Layer.effect(
    BulkTransitions,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const approvals = yield* Approvals
      const applyFor = (yield* RemoteCommands).define({
        name: "payment.transition",
        payload: Command,
        run: (_, command) => Effect.asVoid(approvals.apply(command))
      })
      return BulkTransitions.of({
        apply: Effect.fn("BulkTransitions.apply")(function*(command) {
          const row = yield* orTryAgain(oneOf(players(
            sql`SELECT player_id AS "playerId" FROM payment_requests WHERE id = ${command.paymentId}::float8::bigint`
          )))
          if (row === undefined) return yield* Effect.fail(notFound)
          yield* applyFor(row.playerId, command)
        })
      })
    })
  )
}

/** Payment status transitions for bulk actions, each at the node that holds its player, and executed once even if the request is repeated. */
import { Context, Effect, Layer, Schedule, Schema } from "effect"
import { paymentTransitionNames } from "../../domain/payment/PaymentTransitions.ts"
import { type Refusal, statusByCode } from "../../domain/Refusal.ts"
import { Entropy } from "../../platform/Entropy.ts"
import { PersonalData } from "../../platform/PersonalData.ts"
import { sha256 } from "../../platform/Secrets.ts"
import { type Answer, Idempotency } from "../../store/Idempotency.ts"
import { elsewhereOf } from "../../store/PlayerActors.ts"
import { refusalText, refusedAs, RemoteCommands } from "../../store/RemoteCommands.ts"
import { Approvals } from "./Approvals.ts"

const Transition = Schema.Struct({
  paymentId: Schema.Number,
  transition: Schema.Literals(paymentTransitionNames),
  /** Audit log label of the actor. */
  actor: Schema.String,
  reason: Schema.NullOr(Schema.String)
})

/** `request`: names the request among those of the actor. */
const Command = Schema.Struct({ ...Transition.fields, request: Schema.String })

const done: Answer = { status: 200, code: undefined, body: "" }

/** Maximum bytes of refusals stored per actor and minute. */
const refusalBytesPerMinute = 64 * 1024

/** A repeated command waits for the first one, which a connection lost in between left running: no longer than its sender waits. */
const untilAnswered = { schedule: Schedule.spaced("50 millis"), times: 100 }

export class BulkTransitions extends Context.Service<BulkTransitions, {
  /**
   * As {@link Approvals}' `apply`, at the node of the payment's player. Repeated under the idempotency key of its request it is done once and answered
   * as the first time, and so is what two nodes send each other again. No key: a request of its own.
   */
  readonly apply: (transition: typeof Transition.Type, key: string | undefined) => Effect.Effect<void, Refusal>
}>()("pitboss/payments/BulkTransitions") {
  static readonly layer = Layer.effect(
    BulkTransitions,
    Effect.gen(function*() {
      const approvals = yield* Approvals
      const entropy = yield* Entropy
      const idempotency = yield* Idempotency
      const personal = yield* PersonalData

      const run = Effect.fnUntraced(function*({ request, ...transition }: typeof Command.Type) {
        const claim = {
          scope: `payment.transition:${transition.actor}`,
          key: `${transition.transition} ${transition.paymentId} ${request}`,
          // scope and key name the rest
          fingerprint: personal.fingerprint(sha256(JSON.stringify(transition.reason)))
        }
        const applied = approvals.apply(transition, { claim, render: () => done }).pipe(
          Effect.as(done),
          Effect.catch((refusal) =>
            elsewhereOf(refusal) === undefined
              ? Effect.succeed({ status: statusByCode[refusal.code], code: refusal.code, body: refusalText(refusal) })
              : Effect.fail(refusal)
          )
        )
        const guarded = yield* idempotency.guard(claim, applied, refusalBytesPerMinute).pipe(
          Effect.retry({ ...untilAnswered, while: ({ code }) => code === "IDEMPOTENCY_IN_PROGRESS" })
        )
        const { body, status } = guarded._tag === "Answered" ? guarded.answer : guarded.reply
        if (status !== done.status) return yield* refusedAs(body)
      })

      const applyAnywhere = (yield* RemoteCommands).defineFinding({ name: "payment.transition", payload: Command, run })
      return BulkTransitions.of({
        apply: Effect.fn("BulkTransitions.apply")((transition, key) =>
          applyAnywhere({ ...transition, request: key ?? entropy.token("", 24) })
        )
      })
    })
  )
}

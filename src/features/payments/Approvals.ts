/** Transitions of payments by staff, each in the actor of the payment's player (SPEC section 3.2). */
import { Clock, Context, Effect, Layer } from "effect"
import type { Payment } from "../../domain/Change.ts"
import { needsTwo, type Objection, objectionToApproval, objectionToPayout } from "../../domain/wallet/FourEyes.ts"
import { approversOf, type MovePayment, movePaymentStep, type MoveRefusal } from "../../domain/payment/PaymentMoves.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { type ActorRefusal, PlayerActors } from "../../store/PlayerActors.ts"
import { orTryAgain } from "../../store/Rows.ts"
import { ApprovalFacts } from "./ApprovalFacts.ts"
import { Thresholds } from "./Thresholds.ts"

const notFound = refuse("NOT_FOUND", "There is no such payment.")

/** One approval suffices. */
const noRule = { secondApprovalAbove: null, beside: 0, judged: { approvedBy: [], objection: undefined } }

const notJudged = refuse(
  "TRY_AGAIN",
  "It is not known yet whether an alert stops this withdrawal. Try again in a moment.",
  {
    retry: "same_request"
  }
)

export class Approvals extends Context.Service<Approvals, {
  /**
   * Changes a payment's status and returns the payment. Money, event and audit log entry commit with it. Not for
   * operators: accepts any payment.
   */
  readonly move: (
    command: Pick<MovePayment, "paymentId" | "move" | "actor" | "reason">
  ) => Effect.Effect<Payment, MoveRefusal | ActorRefusal>
  /**
   * Whether a withdrawal needs two approvals now, and the objection to the actor as a further approver. Informative: the inputs may
   * change before a transition is decided.
   */
  readonly judge: (
    paymentId: number,
    move: "approve" | "pay",
    actor: string
  ) => Effect.Effect<
    { readonly needsTwo: boolean; readonly objection: Objection | undefined },
    Refusal<"TRY_AGAIN">
  >
}>()("pitboss/payments/Approvals") {
  static readonly layerWithoutRepository = Layer.effect(
    Approvals,
    Effect.gen(function*() {
      const known = yield* ApprovalFacts
      const actors = yield* PlayerActors
      const thresholds = yield* Thresholds

      const ruleOf = Effect.fnUntraced(
        function*(
          { actor, move, paymentId }: Pick<MovePayment, "paymentId" | "move" | "actor">,
          subject: NonNullable<Effect.Success<ReturnType<ApprovalFacts["Service"]["find"]>>>
        ) {
          const now = yield* Clock.currentTimeMillis
          const requestedAt = subject.createdAt.getTime()
          const secondApprovalAbove = yield* thresholds.convert(subject.secondApprovalAbove, subject)
          const payment = { id: paymentId, playerId: subject.playerId, requestedAt }
          const { beside = 0, correctors = [] } = (yield* known.countedBeside(payment, now)) ?? {}
          const approvedBy = approversOf(subject)
          const facts = yield* known.staff([actor, ...approvedBy], requestedAt)
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
        const subject = yield* known.find(command.paymentId)
        if (subject === undefined) return yield* Effect.fail(notFound)
        const { playerId } = subject
        // returned money never waits
        if ((command.move === "approve" || command.move === "pay") && (yield* known.isWaiting(command.paymentId))) {
          return yield* Effect.fail(notJudged)
        }
        // the threshold applies only to outgoing money
        const rule = (command.move === "approve" || command.move === "pay") && subject.secondApprovalAbove !== null
          ? yield* ruleOf(command, subject)
          : noRule
        return yield* actors.ask(null, playerId, movePaymentStep({ ...command, ...rule }))
      })

      const judge: Approvals["Service"]["judge"] = Effect.fn("Approvals.judge")(function*(paymentId, move, actor) {
        const subject = yield* known.find(paymentId)
        if (subject === undefined || subject.secondApprovalAbove === null) {
          return { needsTwo: false, objection: undefined }
        }
        const { beside, judged, secondApprovalAbove } = yield* ruleOf({ paymentId, move, actor }, subject)
        return { needsTwo: needsTwo(subject.amount, beside, secondApprovalAbove), objection: judged.objection }
      })

      return Approvals.of({ judge, move })
    })
  )

  static readonly layer = Approvals.layerWithoutRepository.pipe(Layer.provide(ApprovalFacts.layer))
}

/** Payment status transitions by staff, each decided in the player's actor (SPEC section 3.2). */
import { Clock, Context, Effect, Layer } from "effect"
import type { Payment } from "../../domain/state/Change.ts"
import { needsTwo, type Objection, objectionToApproval, objectionToPayout } from "../../domain/staff/FourEyes.ts"
import {
  approversOf,
  type TransitionCommand,
  transitionStep,
  type TransitionRefusal
} from "../../domain/payment/PaymentTransitions.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { type KeyedReply, storingReply } from "../../domain/state/StoringReply.ts"
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
   * Changes a payment's status and returns the payment. Money, event and audit log entry commit with it, and the answer where a claim is given. Not
   * for operators: accepts any payment. `isAlone`: one approval suffices, and whoever approves may pay, because there are no people.
   */
  readonly apply: (
    command: Pick<TransitionCommand, "paymentId" | "transition" | "actor" | "reason"> & { readonly isAlone?: true },
    answering?: KeyedReply<Payment>
  ) => Effect.Effect<Payment, TransitionRefusal | ActorRefusal>
  /**
   * Whether a withdrawal needs two approvals now, and the objection to the actor as a further approver. Informative: the inputs may
   * change before a transition is decided.
   */
  readonly judge: (
    paymentId: number,
    transition: "approve" | "pay",
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
          { actor, paymentId, transition }: Pick<TransitionCommand, "paymentId" | "transition" | "actor">,
          subject: NonNullable<Effect.Success<ReturnType<ApprovalFacts["Service"]["find"]>>>
        ) {
          const now = yield* Clock.currentTimeMillis
          const requestedAt = subject.requestedAt.getTime()
          const secondApprovalAbove = yield* thresholds.convert(subject.secondApprovalAbove, subject)
          const payment = { id: paymentId, playerId: subject.playerId, requestedAt }
          const { beside = 0, correctors = [] } = (yield* known.countedBeside(payment, now)) ?? {}
          const approvedBy = approversOf(subject)
          const { staff, trust } = yield* known.staff([actor, ...approvedBy, ...correctors])
          const factsOf = (labels: ReadonlyArray<string>) => labels.map((label) => staff.get(label))
          const judged = {
            actor: staff.get(actor),
            others: factsOf(approvedBy),
            correctors: factsOf(correctors),
            requestedAt,
            trust
          }
          const objection = transition === "approve" ? objectionToApproval(judged) : objectionToPayout(judged)
          return { secondApprovalAbove, beside, judged: { approvedBy, objection } }
        },
        orTryAgain
      )

      const apply: Approvals["Service"]["apply"] = Effect.fn("Approvals.apply")(
        function*({ isAlone, ...command }, answering) {
          const subject = yield* known.find(command.paymentId)
          if (subject === undefined) return yield* Effect.fail(notFound)
          const { playerId } = subject
          // neither waits nor the threshold concern returned money
          const isOutgoing = command.transition === "approve" || command.transition === "pay"
          if (isOutgoing && (yield* known.isWaiting(command.paymentId))) return yield* Effect.fail(notJudged)
          const rule = isOutgoing && isAlone !== true && subject.secondApprovalAbove !== null
            ? yield* ruleOf(command, subject)
            : noRule
          const step = transitionStep({ ...command, ...rule })
          return yield* actors.ask(
            null,
            playerId,
            answering === undefined ? step : storingReply(step, answering.claim, answering.render)
          )
        }
      )

      const judge: Approvals["Service"]["judge"] = Effect.fn("Approvals.judge")(
        function*(paymentId, transition, actor) {
          const subject = yield* known.find(paymentId)
          if (subject === undefined || subject.secondApprovalAbove === null) {
            return { needsTwo: false, objection: undefined }
          }
          const { beside, judged, secondApprovalAbove } = yield* ruleOf({ paymentId, transition, actor }, subject)
          return { needsTwo: needsTwo(subject.amount, beside, secondApprovalAbove), objection: judged.objection }
        }
      )

      return Approvals.of({ apply, judge })
    })
  )

  static readonly layer = Approvals.layerWithoutRepository.pipe(Layer.provide(ApprovalFacts.layer))
}

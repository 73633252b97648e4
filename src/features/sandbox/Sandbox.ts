/** Simulates provider and staff actions in a sandbox, an operator for tests. */
import { Context, Effect, Layer } from "effect"
import type { SandboxAlert, SandboxMessage, SandboxRound } from "../../contract/sandbox/Api.ts"
import type { LaunchRefusal } from "../../domain/settlement/Launch.ts"
import type { PaymentTransitionName, TransitionRefusal } from "../../domain/payment/PaymentTransitions.ts"
import { kycWay, type MoveKyc } from "../../domain/player/AccountStatus.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import type { Payment, PaymentType } from "../../domain/state/Change.ts"
import { Entropy } from "../../platform/Entropy.ts"
import { type ActorRefusal, PlayerActors } from "../../store/PlayerActors.ts"
import { makeRaiseAlert } from "../compliance/SandboxAlerts.ts"
import { Approvals } from "../payments/Approvals.ts"
import { Payments } from "../payments/Payments.ts"
import { PlayerAccounts } from "../players/PlayerAccounts.ts"
import { makePlayRound } from "./SandboxRounds.ts"

type RaisedAlert = Effect.Success<ReturnType<Effect.Success<typeof makeRaiseAlert>>>

const notFound = refuse("NOT_FOUND", "There is no such payment.")

export class Sandbox extends Context.Service<Sandbox, {
  /** Plays a round as the provider of the game; gives its messages with their answers. */
  readonly playRound: (
    operatorId: number,
    playerId: number,
    round: SandboxRound
  ) => Effect.Effect<
    { readonly messages: ReadonlyArray<SandboxMessage> },
    LaunchRefusal | ActorRefusal | Refusal<"NOT_FOUND" | "GAME_UNAVAILABLE" | "VALIDATION_FAILED">
  >
  /** Moves a payment as staff would. */
  readonly movePayment: (
    operatorId: number,
    payment: { readonly id: number; readonly type: PaymentType },
    transition: PaymentTransitionName,
    actor: string
  ) => Effect.Effect<Payment, TransitionRefusal | ActorRefusal>
  /** Moves the identity's status, through those that lie on the way. */
  readonly moveKyc: (
    operatorId: number,
    playerId: number,
    command: MoveKyc
  ) => Effect.Effect<void, Refusal<"VALIDATION_FAILED"> | ActorRefusal>
  readonly raiseAlert: (
    operatorId: number,
    alert: SandboxAlert
  ) => Effect.Effect<RaisedAlert, ActorRefusal>
}>()("pitboss/sandbox/Sandbox") {
  static readonly layer = Layer.effect(
    Sandbox,
    Effect.gen(function*() {
      const actors = yield* PlayerActors
      const payments = yield* Payments
      const approvals = yield* Approvals
      const accounts = yield* PlayerAccounts
      const entropy = yield* Entropy
      const raise = yield* makeRaiseAlert

      return Sandbox.of({
        playRound: yield* makePlayRound,
        movePayment: Effect.fn("Sandbox.movePayment")(function*(operatorId, { id, type }, transition, actor) {
          const found = yield* payments.get(operatorId, id)
          if (found.type !== type) return yield* Effect.fail(notFound)
          return yield* approvals.apply({ paymentId: id, transition, actor, reason: null, isAlone: true })
        }),
        moveKyc: Effect.fn("Sandbox.moveKyc")(function*(operatorId, playerId, command) {
          const { kycStatus } = yield* actors.read(operatorId, playerId)
          for (const status of kycStatus === command.status ? [kycStatus] : kycWay(kycStatus, command.status)) {
            const documentExpiresAt = status === command.status ? command.documentExpiresAt : null
            yield* accounts.moveKyc(playerId, { ...command, status, documentExpiresAt })
          }
        }),
        raiseAlert: Effect.fn("Sandbox.raiseAlert")(function*(operatorId, alert) {
          const { player_id: playerId, rule = "large_deposit", severity = "medium" } = alert
          yield* actors.read(operatorId, playerId)
          return yield* raise({ operatorId, playerId, rule, severity, occurrence: `sandbox:${entropy.uuid()}` })
        })
      })
    })
  ).pipe(Layer.provide(Entropy.layer))
}

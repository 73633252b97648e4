/** Account decisions of operators and staff (SPEC sections 3.1, 3.3 and 4.2), each by a rule in the player's actor. */
import { Context, Effect, Layer } from "effect"
import {
  type MoveKyc,
  moveKycStep,
  type Restrict,
  restrictStep,
  signOutStep,
  type SetStatus,
  setStatusStep
} from "../../domain/player/AccountStatus.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import { type ActorRefusal, PlayerActors } from "../../store/PlayerActors.ts"

export class PlayerAccounts extends Context.Service<PlayerAccounts, {
  /** Locks, closes or opens an account of an operator. `operatorId` null: staff act for every operator. */
  readonly setStatus: (
    operatorId: number | null,
    playerId: number,
    command: SetStatus
  ) => Effect.Effect<void, ActorRefusal>
  /** Says how far the identity of any player is known. */
  readonly moveKyc: (
    playerId: number,
    command: MoveKyc
  ) => Effect.Effect<void, Refusal<"VALIDATION_FAILED"> | ActorRefusal>
  /** Switches single abilities of any player on or off. */
  readonly restrict: (
    playerId: number,
    command: Restrict
  ) => Effect.Effect<void, Refusal<"INSUFFICIENT_SCOPE"> | ActorRefusal>
  /** Ends all session tokens and wallet sessions of a player; gives the instant from which on new ones work. `operatorId` as above. */
  readonly signOut: (
    operatorId: number | null,
    playerId: number,
    command: { readonly actor: string; readonly reason: string | null }
  ) => Effect.Effect<number, ActorRefusal>
}>()("pitboss/players/PlayerAccounts") {
  static readonly layer = Layer.effect(
    PlayerAccounts,
    Effect.map(PlayerActors, (actors) =>
      PlayerAccounts.of({
        setStatus: Effect.fn("PlayerAccounts.setStatus")((operatorId, playerId, command) =>
          Effect.asVoid(actors.ask(operatorId, playerId, setStatusStep(command)))
        ),
        moveKyc: Effect.fn("PlayerAccounts.moveKyc")((playerId, command) =>
          Effect.asVoid(actors.ask(null, playerId, moveKycStep(command)))
        ),
        restrict: Effect.fn("PlayerAccounts.restrict")((playerId, command) =>
          Effect.asVoid(actors.ask(null, playerId, restrictStep(command)))
        ),
        signOut: Effect.fn("PlayerAccounts.signOut")((operatorId, playerId, command) =>
          Effect.map(
            actors.ask(operatorId, playerId, signOutStep(command)),
            ({ realUpdatedAt, sessionsEndedAt }) => sessionsEndedAt ?? realUpdatedAt
          )
        )
      }))
  )
}

/** Account decisions of operators and staff (SPEC sections 3.1, 3.3 and 4.2), each by a rule in the player's actor. */
import { Clock, Context, Effect, Layer, Record } from "effect"
import {
  type MoveKyc,
  moveKycStep,
  type Restrict,
  restrictStep,
  signOutStep,
  type SetStatus,
  setStatusStep
} from "../../domain/player/AccountStatus.ts"
import { type AbilityName, causeEnd, standing } from "../../domain/standing/Standing.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import { type ActorRefusal, PlayerActors } from "../../store/PlayerActors.ts"
import { Thresholds } from "../payments/Thresholds.ts"

/** Whether a player may do something now. */
export interface Ability {
  /** Undefined where the player may. */
  readonly refusal: Refusal | undefined
  /** When the cause of the refusal ends by itself, ISO 8601; null: it does not, or there is none. */
  readonly until: string | null
}

export class PlayerAccounts extends Context.Service<PlayerAccounts, {
  /** What any player may do now, by the checks of the actions themselves. */
  readonly standing: (
    playerId: number
  ) => Effect.Effect<{ readonly [ability in AbilityName]: Ability }, ActorRefusal>
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
    Effect.map(Effect.all([PlayerActors, Thresholds]), ([actors, thresholds]) =>
      PlayerAccounts.of({
        standing: Effect.fn("PlayerAccounts.standing")(function*(playerId) {
          const player = yield* actors.read(null, playerId)
          const caps = yield* thresholds.caps(player.operatorId, player.currency)
          const now = yield* Clock.currentTimeMillis
          return Record.map(standing(player, caps, now), (refusal) => ({
            refusal,
            until: refusal === undefined ? null : causeEnd(player, refusal, now)
          }))
        }),
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

/**
 * Account actions of operators and staff (SPEC sections 3.1, 3.3 and 4.2): status, KYC, restrictions, sign-out; each decided by a rule in the
 * player's actor.
 */
import { Clock, Context, Effect, Layer, Record, Schema } from "effect"
import { SqlClient } from "effect/sql"
import {
  type MoveKyc,
  moveKycStep,
  type Restrict,
  restrictStep,
  signOutStep,
  type SetStatus,
  setStatusStep,
  wakeStep
} from "../../domain/player/AccountStatus.ts"
import { type AbilityName, causeEnd, standing } from "../../domain/standing/Standing.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import { describeSqlError } from "../../platform/Database.ts"
import { toDate } from "../../platform/Time.ts"
import { RemoteCommands } from "../../store/RemoteCommands.ts"
import { type ActorRefusal, PlayerActors } from "../../store/PlayerActors.ts"
import { Thresholds } from "../payments/Thresholds.ts"

/** Whether a player may do something now. */
export interface Ability {
  /** Undefined where the player may. */
  readonly refusal: Refusal | undefined
  /** When the cause of the refusal ends by itself, ISO 8601; null: it does not, or there is none. */
  readonly until: string | null
}

/** Minimum interval between two writes of a player's last login, ms. */
const loginNotedEveryMs = 60_000

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
  /**
   * Records the last login of a player of the operator, to the minute, and ends a dormancy that was marked meanwhile. Never fails: a login does not depend
   * on its record.
   */
  readonly noteLogin: (operatorId: number, playerId: number) => Effect.Effect<void>
}>()("pitboss/players/PlayerAccounts") {
  static readonly layer = Layer.effect(
    PlayerAccounts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actors = yield* PlayerActors
      const thresholds = yield* Thresholds
      const wake = (yield* RemoteCommands).define({
        name: "player.wake",
        payload: Schema.Struct({}),
        run: (playerId) => Effect.asVoid(actors.ask(null, playerId, wakeStep))
      })

      const noteLogin = Effect.fn("PlayerAccounts.noteLogin")(function*(operatorId: number, playerId: number) {
        const now = yield* Clock.currentTimeMillis
        yield* sql<{ readonly dormant: boolean }>`UPDATE players SET last_login_at = ${toDate(now)}
          WHERE id = ${playerId} AND operator_id = ${operatorId}
            AND (last_login_at IS NULL OR last_login_at <= ${toDate(now - loginNotedEveryMs)})
          RETURNING dormant_since IS NOT NULL AS dormant`.pipe(
          Effect.flatMap(([noted]) => noted?.dormant === true ? wake(playerId, {}) : Effect.void),
          Effect.catch((error) =>
            Effect.annotateLogs(Effect.logWarning("last login was not recorded"), {
              reason: "code" in error ? error.code : describeSqlError(error)
            })
          )
        )
      })

      return PlayerAccounts.of({
        noteLogin,
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
      })
    })
  )
}

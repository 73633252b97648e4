/** Lets staff close a round whose provider sent no end of round; each player's part is closed in that player's actor. */
import { Context, Effect, Layer, Schema } from "effect"
import { type Refusal, temporarilyUnavailable } from "../../domain/Refusal.ts"
import { staffCloseStep } from "../../domain/settlement/OtherMessages.ts"
import { PlayerActors } from "../../store/PlayerActors.ts"
import { RemoteCommands } from "../../store/RemoteCommands.ts"

/** Players of a round that are asked at the same time. */
const concurrency = 8

const StaffClose = Schema.Struct({
  providerId: Schema.Number,
  gameId: Schema.Number,
  roundId: Schema.String,
  reason: Schema.String,
  /** Audit log label of the actor. */
  actor: Schema.String
})

export class RoundClosing extends Context.Service<RoundClosing, {
  /** Closes the parts that these players have in a round, each in the player's own actor. Idempotent. */
  readonly close: (
    playerIds: ReadonlyArray<number>,
    close: typeof StaffClose.Type
  ) => Effect.Effect<void, Refusal<"TRY_AGAIN">>
}>()("pitboss/rounds/RoundClosing") {
  static readonly layer = Layer.effect(
    RoundClosing,
    Effect.gen(function*() {
      const actors = yield* PlayerActors
      const remoteCommands = yield* RemoteCommands
      const closeOf = remoteCommands.define({
        name: "round.close",
        payload: StaffClose,
        run: (playerId, close) => Effect.asVoid(actors.ask(null, playerId, staffCloseStep(close)))
      })
      return RoundClosing.of({
        close: Effect.fn("RoundClosing.close")((playerIds, close) =>
          Effect.forEach(playerIds, (playerId) => closeOf(playerId, close), { concurrency, discard: true }).pipe(
            // the rule refuses nothing
            Effect.mapError(() => temporarilyUnavailable)
          )
        )
      })
    })
  )
}

/** A player's limits and self-exclusion (SPEC sections 2.9 and 4.7), read and changed through the player's actor. */
import { Clock, Context, Effect, Layer } from "effect"
import { type SelfExclude, type SelfExcludeRefusal, selfExcludeStep } from "../../domain/limit/Exclusions.ts"
import type { IdempotencyClaim, RenderedReply } from "../../domain/state/Idempotency.ts"
import { type LimitsOutcome, type SetLimits, setLimitsStep } from "../../domain/limit/LimitChanges.ts"
import { type LimitsResource, limitsResource } from "../../domain/limit/LimitUsage.ts"
import { storingReply } from "../../domain/state/StoringReply.ts"
import { type ActorRefusal, PlayerActors } from "../../store/PlayerActors.ts"

export class ResponsibleGaming extends Context.Service<ResponsibleGaming, {
  /** Limits in force, pending changes, and usage. */
  readonly get: (operatorId: number, playerId: number) => Effect.Effect<LimitsResource, ActorRefusal>
  /** As `get`, synchronously; undefined when the answer needs waiting or is a refusal. */
  readonly getAtOnce: (operatorId: number, playerId: number) => LimitsResource | undefined
  /** Changes the limits sent: stricter at once, looser after the cooling-off. */
  readonly setLimits: (
    operatorId: number,
    playerId: number,
    command: SetLimits
  ) => Effect.Effect<LimitsOutcome, ActorRefusal>
  /** Excludes the player, or prolongs the exclusion in force. Effect and answer commit together. */
  readonly selfExclude: (
    operatorId: number,
    playerId: number,
    command: SelfExclude,
    answering: {
      readonly claim: IdempotencyClaim | undefined
      readonly render: (resource: LimitsResource) => RenderedReply
    }
  ) => Effect.Effect<LimitsResource, SelfExcludeRefusal | ActorRefusal>
}>()("pitboss/responsibleGaming/ResponsibleGaming") {
  static readonly layer = Layer.effect(
    ResponsibleGaming,
    Effect.map(Effect.all([PlayerActors, Clock.Clock]), ([actors, clock]) =>
      ResponsibleGaming.of({
        get: Effect.fn("ResponsibleGaming.get")(function*(operatorId, playerId) {
          const player = yield* actors.read(operatorId, playerId)
          return limitsResource(player, yield* Clock.currentTimeMillis)
        }),
        getAtOnce: (operatorId, playerId) => {
          const player = actors.peek(operatorId, playerId)
          return player === undefined ? undefined : limitsResource(player, clock.currentTimeMillisUnsafe())
        },
        setLimits: Effect.fn("ResponsibleGaming.setLimits")((operatorId, playerId, command) =>
          actors.ask(operatorId, playerId, setLimitsStep(command))
        ),
        selfExclude: Effect.fn("ResponsibleGaming.selfExclude")((operatorId, playerId, command, { claim, render }) =>
          actors.ask(operatorId, playerId, storingReply(selfExcludeStep(command), claim, render))
        )
      }))
  )
}

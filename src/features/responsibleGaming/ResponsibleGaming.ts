/** Reads and changes a player's limits and self-exclusion through the player's actor (SPEC sections 2.9 and 4.7). */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type SelfExclude, type SelfExcludeRefusal, selfExcludeStep } from "../../domain/limit/Exclusions.ts"
import type { IdempotencyClaim, RenderedReply } from "../../domain/state/Idempotency.ts"
import {
  type LimitsOutcome,
  type SetLimits,
  type SetLimitsRefusal,
  setLimitsStep
} from "../../domain/limit/LimitChanges.ts"
import type { Rules } from "../../domain/jurisdiction/Rules.ts"
import { type LimitsResource, limitsResource } from "../../domain/limit/LimitUsage.ts"
import { storingReply } from "../../domain/state/StoringReply.ts"
import { isLacking, planned } from "../../store/Planned.ts"
import { OperatorClocks } from "../../store/OperatorClocks.ts"
import { type ActorRefusal, PlayerActors } from "../../store/PlayerActors.ts"
import { type KnownPlayer, lackingPlayer, noPlayer } from "../../store/PlayerPlans.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"

const coolingOffs = rowsOf(Schema.Struct({ hours: Schema.Number }))

export class ResponsibleGaming extends Context.Service<ResponsibleGaming, {
  /** Limits in force, pending changes, and usage. */
  readonly get: (operatorId: number, playerId: number) => Effect.Effect<LimitsResource, ActorRefusal>
  /** As `get`, synchronously; undefined when the answer needs waiting or is a refusal. */
  readonly getAtOnce: (operatorId: number, playerId: number) => LimitsResource | undefined
  /** As `get`, for staff: of a player of any operator, with the rules that changes of limits and exclusions follow. */
  readonly staffGet: (
    playerId: number
  ) => Effect.Effect<{ readonly limits: LimitsResource; readonly rules: Rules }, ActorRefusal>
  /** Changes the limits sent: stricter at once, looser after the cooling-off. */
  readonly setLimits: (
    operatorId: number,
    playerId: number,
    command: SetLimits
  ) => Effect.Effect<LimitsOutcome, SetLimitsRefusal | ActorRefusal>
  /** As `setLimits`, for staff: of a player of any operator, with the cooling-off hours of theirs. */
  readonly staffSetLimits: (
    playerId: number,
    command: Omit<SetLimits, "coolingOffHours">
  ) => Effect.Effect<LimitsResource, SetLimitsRefusal | ActorRefusal>
  /** As `selfExclude`, for staff: of a player of any operator. */
  readonly staffExclude: (
    playerId: number,
    command: SelfExclude
  ) => Effect.Effect<LimitsResource, SelfExcludeRefusal | ActorRefusal>
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
    Effect.gen(function*() {
      const actors = yield* PlayerActors
      const clock = yield* Clock.Clock
      const clocks = yield* OperatorClocks
      const limitsNow = (player: Parameters<typeof limitsResource>[0]) =>
        limitsResource(player, clocks.at(player.operatorId, clock.currentTimeMillisUnsafe()))
      const sql = yield* SqlClient.SqlClient
      const coolingOffHoursOf = (operatorId: number) =>
        orTryAgain(oneOf(coolingOffs(sql`SELECT cooling_off_hours AS hours FROM operators WHERE id = ${operatorId}`)))
          .pipe(
            Effect.flatMap((row) =>
              row === undefined ? Effect.die("a player has no operator") : Effect.succeed(row.hours)
            )
          )
      const planLimits = (operatorId: number, playerId: number, known: KnownPlayer) => {
        const player = actors.peek(operatorId, playerId) ?? known.player
        return player === undefined
          ? lackingPlayer(actors, operatorId, playerId)
          : limitsNow(player)
      }
      return ResponsibleGaming.of({
        get: (operatorId, playerId) =>
          planned(noPlayer, (known) => planLimits(operatorId, playerId, known)).pipe(
            Effect.withSpan("ResponsibleGaming.get")
          ),
        getAtOnce: (operatorId, playerId) => {
          const limits = planLimits(operatorId, playerId, noPlayer)
          return isLacking(limits) ? undefined : limits
        },
        staffGet: Effect.fn("ResponsibleGaming.staffGet")((playerId) =>
          Effect.map(
            actors.read(null, playerId),
            (player) => ({ limits: limitsNow(player), rules: player.rules })
          )
        ),
        setLimits: Effect.fn("ResponsibleGaming.setLimits")((operatorId, playerId, command) =>
          actors.ask(operatorId, playerId, setLimitsStep(command))
        ),
        staffSetLimits: Effect.fn("ResponsibleGaming.staffSetLimits")(function*(playerId, command) {
          const { operatorId } = yield* actors.read(null, playerId)
          const coolingOffHours = yield* coolingOffHoursOf(operatorId)
          return (yield* actors.ask(null, playerId, setLimitsStep({ ...command, coolingOffHours }))).resource
        }),
        staffExclude: Effect.fn("ResponsibleGaming.staffExclude")((playerId, command) =>
          actors.ask(null, playerId, selfExcludeStep(command))
        ),
        selfExclude: Effect.fn("ResponsibleGaming.selfExclude")((operatorId, playerId, command, { claim, render }) =>
          actors.ask(operatorId, playerId, storingReply(selfExcludeStep(command), claim, render))
        )
      })
    })
  )
}

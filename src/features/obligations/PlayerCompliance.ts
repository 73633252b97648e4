/** Shows staff how a player stands under the rules of the jurisdiction, and moves a player to another jurisdiction. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { PlayerCompliance as Resource } from "../../contract/obligations/StaffApi.ts"
import { realityCheckFields } from "../../domain/limit/RealityCheck.ts"
import { limitsResource } from "../../domain/limit/LimitUsage.ts"
import { gatedBy } from "../../domain/obligation/Obligations.ts"
import { type MoveJurisdiction, moveJurisdictionStep, type MoveRefusal } from "../../domain/limit/JurisdictionMove.ts"
import { standingsOf } from "../../domain/register/Register.ts"
import { refuseFields } from "../../domain/Refusal.ts"
import { iso } from "../../platform/Time.ts"
import { type ActorRefusal, PlayerActors } from "../../store/PlayerActors.ts"
import { ProfileBook } from "../../store/ProfileBook.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { Obligations } from "./Obligations.ts"

const offers = rowsOf(Schema.Struct({ profiles: Schema.Array(Schema.String), hours: Schema.Number }))

const refuseTo = (message: string) => refuseFields({ to: [message] })

export class PlayerCompliance extends Context.Service<PlayerCompliance, {
  /** The rules that a player of any operator is under, and what they stop and ask for now. */
  readonly show: (playerId: number) => Effect.Effect<Resource, ActorRefusal>
  /** Moves a player of any operator to another of the operator's jurisdictions; the same one changes nothing. */
  readonly move: (
    playerId: number,
    code: string,
    command: Pick<MoveJurisdiction, "actor" | "reason">
  ) => Effect.Effect<Resource, MoveRefusal | ActorRefusal>
}>()("pitboss/obligations/PlayerCompliance") {
  static readonly layer = Layer.effect(
    PlayerCompliance,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actors = yield* PlayerActors
      const book = yield* ProfileBook
      const obligations = yield* Obligations

      const show = Effect.fn("PlayerCompliance.show")(function*(playerId: number) {
        const { operatorId } = yield* actors.read(null, playerId)
        const open = yield* obligations.list(operatorId, playerId, "open", "staff")
        const player = yield* actors.read(operatorId, playerId)
        const now = yield* Clock.currentTimeMillis
        const { rules, termsVersion } = player
        const { pending_changes, self_exclusion } = limitsResource(player, now)
        return {
          player_id: playerId,
          operator_id: operatorId,
          jurisdiction: {
            code: rules.code,
            name: rules.name,
            version: rules.version,
            moved_from: rules.moved?.from ?? null,
            looser_from: rules.moved === null ? null : iso(rules.moved.until)
          },
          terms: { required: rules.terms, accepted: termsVersion },
          registers: standingsOf(player.registers).map(({ at, ...standing }) => ({ ...standing, checked_at: iso(at) })),
          obligations: open,
          gates: { play: gatedBy(player, "play", now), deposit: gatedBy(player, "deposit", now) },
          reality_check: { own_interval: player.extras?.realityCheck ?? null, ...realityCheckFields(player, now) },
          pending_changes,
          self_exclusion
        }
      })

      const move = Effect.fn("PlayerCompliance.move")(
        function*(playerId: number, code: string, command: Pick<MoveJurisdiction, "actor" | "reason">) {
          const { currency, operatorId } = yield* actors.read(null, playerId)
          const offer = yield* oneOf(
            offers(sql`SELECT profiles, cooling_off_hours::float8 AS hours FROM operators WHERE id = ${operatorId}`)
          )
          if (offer === undefined || !offer.profiles.includes(code)) {
            return yield* Effect.fail(refuseTo(`must be one of ${offer?.profiles.join(", ")}`))
          }
          const isMet = yield* book.meet(code, currency)
          const rules = book.rulesOf(code, currency, yield* Clock.currentTimeMillis, operatorId)
          if (!isMet || rules === undefined) {
            return yield* Effect.fail(refuseTo("has amounts, and no exchange rate to the player's currency"))
          }
          yield* actors.ask(
            operatorId,
            playerId,
            moveJurisdictionStep({ ...command, to: rules, coolingOffHours: offer.hours })
          )
          return yield* show(playerId)
        },
        orTryAgain
      )
      return PlayerCompliance.of({ show, move })
    })
  )
}

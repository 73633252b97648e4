/** Grants, redeems and cancels bonuses (SPEC section 4.6), each by a rule of `domain/bonus/BonusGrants.ts` in the player's actor. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import {
  applyDueBonusesStep,
  bonusIn,
  cancelBonusStep,
  type CatalogueBonus,
  type Grant,
  type GrantRefusal,
  grantStep,
  promoRefusal,
  type RedeemedCode,
  type RedeemRefusal,
  redeemStep
} from "../../domain/bonus/BonusGrants.ts"
import type { Decision, Step } from "../../domain/state/Decision.ts"
import { needsTwo } from "../../domain/staff/FourEyes.ts"
import type { Player } from "../../domain/state/Player.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { type KeyedReply, storingReply } from "../../domain/state/StoringReply.ts"
import type { Spender } from "../../office/SpendingFacts.ts"
import { type SpendingRefusal, StaffSpending } from "../../office/StaffSpending.ts"
import { Thresholds } from "../payments/Thresholds.ts"
import { makeFactorOf } from "../exchangeRates/CurrentRate.ts"
import { RemoteCommands } from "../../store/RemoteCommands.ts"
import { type ActorRefusal, PlayerActors, refusingOnce } from "../../store/PlayerActors.ts"
import { countDone } from "../../platform/Scheduler.ts"
import type { Period } from "../../platform/Time.ts"
import type { Part, PartQuery } from "../../store/Cursors.ts"
import { isStorable, orTryAgain, type Page } from "../../store/Rows.ts"
import type { OwnedBonus } from "../../store/BonusRows.ts"
import { type BonusFilters, type BonusQuery, BonusRepository } from "./BonusRepository.ts"

export interface GrantRequest {
  /** Of the catalogue. */
  readonly bonusId: number
  /** Minor units of the player's currency; null grants the bonus's own amount. */
  readonly amount: number | null
  readonly note: string | null
}

/** A redeemed code with the owner of the granted bonus. */
export interface Redeemed extends Omit<RedeemedCode, "bonus"> {
  readonly owned: OwnedBonus
}

const cashNeedsTwo = refuse(
  "BONUS_INVALID",
  "A bonus without wagering is paid as real money at once, and this amount takes two people: correct the balance instead, which a second person approves.",
  { reason: "second_approver" }
)

const noSuchBonus = refuse("NOT_FOUND", "There is no such bonus.")

/** Maximum players that the job serves concurrently. */
const maxConcurrent = 4

export class Bonuses extends Context.Service<Bonuses, {
  /** Bonuses of an operator, oldest first. */
  readonly catalogue: (operatorId: number) => Effect.Effect<ReadonlyArray<CatalogueBonus>, Refusal<"TRY_AGAIN">>
  /** A page of a player's bonuses, newest first. */
  readonly list: (
    operatorId: number,
    playerId: number,
    query: BonusQuery
  ) => Effect.Effect<Page<OwnedBonus>, ActorRefusal>
  /** As `list`, from a bonus on: nothing is counted. */
  readonly walk: (
    operatorId: number,
    playerId: number,
    query: BonusFilters & Period & PartQuery
  ) => Effect.Effect<Part<OwnedBonus>, Refusal<"VALIDATION_FAILED"> | ActorRefusal>
  /**
   * Grants any player a bonus of the operator's catalogue, as staff, out of a daily budget. One without wagering is cash:
   * `mayNotGrantCash` is the refusal of an actor without that permission; absent: the actor has it.
   */
  readonly staffGrant: (
    playerId: number,
    request: GrantRequest,
    actor: Spender,
    mayNotGrantCash?: Refusal<"INSUFFICIENT_SCOPE">
  ) => Effect.Effect<OwnedBonus, GrantRefusal | SpendingRefusal | Refusal<"INSUFFICIENT_SCOPE"> | ActorRefusal>
  /** Grants a bonus of the catalogue. */
  readonly grant: (
    operatorId: number,
    playerId: number,
    request: GrantRequest,
    answering: KeyedReply<OwnedBonus>
  ) => Effect.Effect<OwnedBonus, GrantRefusal | ActorRefusal>
  /** Redeems a promo code, in any case of its letters. */
  readonly redeem: (
    operatorId: number,
    playerId: number,
    code: string,
    answering?: KeyedReply<Redeemed>
  ) => Effect.Effect<Redeemed, RedeemRefusal | ActorRefusal>
  /** Redeems the promo code of a registration, where it is one; never fails, since the player is registered anyway. */
  readonly redeemAtRegistration: (operatorId: number, playerId: number, code: string) => Effect.Effect<void>
  /** Ends a player's bonus, for staff; audited. */
  readonly cancel: (
    playerBonusId: number,
    reason: string | null,
    actor: string
  ) => Effect.Effect<OwnedBonus, GrantRefusal | ActorRefusal>
  /** Expires grants, activates waiting ones, and redeems codes left over by a stopped process; returns the number of players. Runs every minute. */
  readonly applyDue: Effect.Effect<number, Refusal<"TRY_AGAIN">>
}>()("pitboss/bonuses/Bonuses") {
  static readonly layerWithoutRepository = Layer.effect(
    Bonuses,
    Effect.gen(function*() {
      const repository = yield* BonusRepository
      const actors = yield* PlayerActors
      const remoteCommands = yield* RemoteCommands
      const spending = yield* StaffSpending
      const thresholds = yield* Thresholds

      /** Runs a rule and adds the owner of the bonus to its reply. */
      const owning = <Reply, Owned, Error>(
        step: Step<Reply, Error>,
        own: (reply: Reply, player: Player) => Owned
      ): Step<Owned, Error> =>
      (player, context): Decision<Owned, Error> => {
        const decision = step(player, context)
        return decision._tag === "Accept" ? { ...decision, reply: own(decision.reply, player) } : decision
      }

      const factorOf = yield* makeFactorOf

      /** Bonus in a player's currency, at the rate that holds now: terms of a grant stay as they are. */
      const convert = Effect.fnUntraced(function*({ currency }: Player, bonus: CatalogueBonus) {
        return bonusIn(bonus, currency, yield* factorOf({ currency, base: bonus.currency }))
      })

      const offered = Effect.fnUntraced(function*(player: Player, bonusId: number) {
        const bonus = yield* repository.find(player.operatorId, bonusId)
        return bonus === undefined ? yield* Effect.fail(noSuchBonus) : yield* convert(player, bonus)
      })

      /** Looked up for players whose jurisdiction grants one bonus in all. */
      const hadElsewhere = ({ id, rules }: Player) =>
        rules.bonuses.first_only ? repository.hadElsewhere(id) : Effect.succeed(false)

      /** The rule that grants a bonus. */
      const grantOf = (grant: Grant) =>
        owning(grantStep(grant), (granted, { currency, id }) => ({ playerId: id, currency, bonus: granted }))

      const grant: Bonuses["Service"]["grant"] = Effect.fn("Bonuses.grant")(
        function*(operatorId, playerId, request, answering) {
          // an unknown player answers before an unknown bonus does
          const player = yield* actors.read(operatorId, playerId)
          const { amount, note } = request
          const bonus = yield* offered(player, request.bonusId)
          const step = grantOf({ bonus, amount, note, hadElsewhere: yield* hadElsewhere(player) })
          const asked = actors.ask(operatorId, playerId, storingReply(step, answering.claim, answering.render))
          return yield* answering.claim === undefined ? Effect.mapError(asked, refusingOnce) : asked
        }
      )

      /** Cash counts as a correction upwards, and one that takes a second person is asked for as a correction. */
      const refuseCashAboveThreshold = Effect.fnUntraced(
        function*({ currency, id, operatorId }: Player, amount: number, now: number) {
          const operator = yield* repository.approvalTerms(operatorId)
          if (operator === undefined) return
          const { base, secondApprovalAbove } = operator
          const threshold = yield* thresholds.convert(secondApprovalAbove, { currency, base })
          if (threshold === null) return
          if (needsTwo(amount, yield* spending.correctedToday({ playerId: id, amount }, now), threshold)) {
            return yield* Effect.fail(cashNeedsTwo)
          }
        }
      )

      const staffGrant: Bonuses["Service"]["staffGrant"] = Effect.fn("Bonuses.staffGrant")(
        function*(playerId, request, actor, mayNotGrantCash) {
          const player = yield* actors.read(null, playerId)
          const { operatorId } = player
          const bonus = yield* offered(player, request.bonusId)
          if (mayNotGrantCash !== undefined && bonus.wageringMultiplier === 0) {
            return yield* Effect.fail(mayNotGrantCash)
          }
          const step = grantOf({
            bonus,
            amount: request.amount,
            note: request.note,
            hadElsewhere: yield* hadElsewhere(player),
            grantedBy: actor.label
          })
          const granted = Effect.mapError(actors.ask(operatorId, playerId, step), refusingOnce)
          const amount = request.amount ?? bonus.defaultAmount
          return bonus.wageringMultiplier === 0
            ? yield* spending.spend(
              actor,
              { playerId, kind: "correction", amount },
              granted,
              (now) => refuseCashAboveThreshold(player, amount, now)
            )
            : yield* spending.spend(actor, { playerId, kind: "bonus", amount }, granted, () => Effect.void)
        }
      )

      const redeem: Bonuses["Service"]["redeem"] = Effect.fn("Bonuses.redeem")(
        function*(operatorId, playerId, code, answering) {
          const player = yield* actors.read(operatorId, playerId)
          const row = isStorable(code) ? yield* repository.findPromo(operatorId, playerId, code) : undefined
          if (row === undefined) return yield* Effect.fail(promoRefusal("unknown"))
          const { code: written, expiresAt, isPromoActive, isRedeemed, isUsedUp, promoCodeId, ...bonus } = row
          const step = owning(
            redeemStep({
              id: promoCodeId,
              code: written,
              bonus: yield* convert(player, bonus),
              isActive: isPromoActive,
              expiresAt: expiresAt?.getTime() ?? null,
              isUsedUp,
              isRedeemed,
              hadElsewhere: yield* hadElsewhere(player)
            }),
            ({ bonus: granted, ...redeemed }, { currency, id }): Redeemed => ({
              ...redeemed,
              owned: { playerId: id, currency, bonus: granted }
            })
          )
          return yield* actors.ask(
            operatorId,
            playerId,
            answering === undefined ? step : storingReply(step, answering.claim, answering.render)
          )
        }
      )

      const redeemRemotely = remoteCommands.define({
        name: "bonus.registration_code",
        payload: Schema.Struct({ operatorId: Schema.Number, code: Schema.String }),
        run: (playerId, { code, operatorId }) =>
          redeem(operatorId, playerId, code).pipe(
            // anything but a passing failure is an answer: the code is not tried again
            Effect.catch((refusal) => refusal.code === "TRY_AGAIN" ? Effect.fail(refusal) : Effect.void),
            Effect.andThen(repository.endRegistration(playerId))
          )
      })

      const redeemAtRegistration: Bonuses["Service"]["redeemAtRegistration"] = Effect.fn(
        "Bonuses.redeemAtRegistration"
      )(
        (operatorId, playerId, code) => Effect.ignore(redeemRemotely(playerId, { operatorId, code }))
      )

      const ownerOf = Effect.fnUntraced(function*(playerBonusId: number) {
        const owner = yield* repository.ownerOf(playerBonusId)
        return owner === undefined ? yield* Effect.fail(noSuchBonus) : owner.playerId
      })

      const cancel: Bonuses["Service"]["cancel"] = Effect.fn("Bonuses.cancel")(
        function*(playerBonusId, reason, actor) {
          const step = owning(
            cancelBonusStep({ id: playerBonusId, reason, actor }),
            (bonus, { currency, id }) => ({ playerId: id, currency, bonus })
          )
          return yield* actors.ask(null, yield* ownerOf(playerBonusId), step)
        }
      )

      const list: Bonuses["Service"]["list"] = Effect.fn("Bonuses.list")(
        function*(operatorId, playerId, query) {
          yield* actors.read(operatorId, playerId)
          return yield* repository.list(operatorId, playerId, query)
        }
      )

      const walk: Bonuses["Service"]["walk"] = Effect.fn("Bonuses.walk")(
        function*(operatorId, playerId, query) {
          yield* actors.read(operatorId, playerId)
          return yield* repository.walk(operatorId, playerId, query)
        }
      )

      const applyDueOf = remoteCommands.define({
        name: "bonus.tend",
        payload: Schema.Null,
        run: (playerId) => Effect.asVoid(actors.ask(null, playerId, applyDueBonusesStep))
      })

      const applyDue = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const due = yield* repository.findDue(now)
        const applied = yield* countDone(due, ({ playerId }) => applyDueOf(playerId, null), {
          concurrency: maxConcurrent
        })
        const registered = yield* repository.findRegistrations(now)
        yield* Effect.forEach(
          registered,
          ({ code, operatorId, playerId }) => redeemAtRegistration(operatorId, playerId, code),
          { concurrency: maxConcurrent, discard: true }
        )
        return applied + registered.length
      }).pipe(orTryAgain, Effect.withSpan("Bonuses.applyDue"))

      return Bonuses.of({
        catalogue: repository.catalogue,
        list,
        walk,
        grant,
        staffGrant,
        redeem,
        redeemAtRegistration,
        cancel,
        applyDue
      })
    })
  )

  static readonly layer = Bonuses.layerWithoutRepository.pipe(Layer.provide(BonusRepository.layer))
}

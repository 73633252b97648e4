/**
 * How bonuses come to a player and leave by hand: grants, promo codes, cancellation (SPEC sections 3.4 and 4.6;
 * `docs/decisions/0012-bonuses.md`). How one runs and ends by itself is in `Draft.ts`, where every rule of money meets it.
 */
import { Schema } from "effect"
import { bonusTypes, type GrantedBonus, type PlayerBonus } from "./Bonus.ts"
import type { Redemption } from "../Change.ts"
import { type Accept, answer, type Context, type Decision, type Knowledge, refused } from "../Decision.ts"
import { Draft, hasBonusDue } from "../Draft.ts"
import { isAmount, isBalance, maxBalance } from "../Money.ts"
import { activeExclusion, type Player } from "../player/Player.ts"
import { type Refusal, refuse } from "../Refusal.ts"

/** How many bonuses may wait for their turn. */
export const maxPendingBonuses = 20

/** A bonus that an operator offers. Amounts are minor units of the operator's currency; 0 in a cap means that there is none. */
export const CatalogueBonus = Schema.Struct({
  id: Schema.Number,
  operatorId: Schema.Number,
  name: Schema.String,
  description: Schema.String,
  type: Schema.Literals(bonusTypes),
  defaultAmount: Schema.Number,
  wageringMultiplier: Schema.Number,
  validDays: Schema.Number,
  maxBet: Schema.Number,
  maxConversionMultiplier: Schema.Number,
  maxGrantsPerPlayer: Schema.Number,
  isActive: Schema.Boolean,
  /** Percent of a stake that counts, by game id. */
  contributions: Schema.Record(Schema.String, Schema.Number),
  /** ISO 4217; of its amounts. */
  currency: Schema.String
})

export type CatalogueBonus = typeof CatalogueBonus.Type

export interface Grant {
  readonly bonus: CatalogueBonus
  /** Minor units of the player's currency; null grants the bonus's own amount. */
  readonly amount: number | null
  readonly note: string | null
  /**
   * The bonus's `maxBet` in minor units of the player's currency, where that is not the operator's; null: there is no rate. Absent:
   * it needs none.
   */
  readonly maxBet?: number | null
  /** Staff who grant it, as the audit log names them; absent: the operator does. */
  readonly grantedBy?: string
}

export type GrantRefusal = Refusal<"BONUS_INVALID">

const invalid = (message: string, details: { readonly [name: string]: unknown }): GrantRefusal =>
  refuse("BONUS_INVALID", message, details)

/** Why the player may be given no bonus at all. */
const refuseReceiver = (player: Player, now: number): GrantRefusal | undefined => {
  if (player.status !== "active") return invalid(`The account is ${player.status}.`, { reason: player.status })
  const exclusion = activeExclusion(player, now)
  if (exclusion !== null) return invalid("The player is excluded from play.", { reason: exclusion.type })
  return player.restrictions.excludedFromBonuses
    ? invalid("The player is excluded from bonuses.", { reason: "excluded_from_bonuses" })
    : undefined
}

/** The grant with its terms, or why there can be none. */
const termsOf = (draft: Draft, { amount: sent, bonus, maxBet = bonus.maxBet }: Grant): GrantedBonus | GrantRefusal => {
  const { now, player } = draft
  const refusal = refuseReceiver(player, now)
  if (refusal !== undefined) return refusal
  if (!bonus.isActive) return invalid("The bonus is not offered any more.", { reason: "inactive" })
  const granted = player.bonusGrants[bonus.id] ?? 0
  if (bonus.maxGrantsPerPlayer > 0 && granted >= bonus.maxGrantsPerPlayer) {
    return invalid("The player was granted this bonus as often as it allows.", {
      reason: "max_grants_per_player",
      max_grants_per_player: bonus.maxGrantsPerPlayer
    })
  }
  if (sent === null && player.currency !== bonus.currency) {
    return invalid(`The bonus is of an amount in ${bonus.currency}. Name one in ${player.currency}.`, {
      reason: "currency",
      currency: player.currency
    })
  }
  // a cap that cannot be converted to the player's currency would be none, or refuse every bet
  if (maxBet === null) {
    return invalid(`There is no exchange rate from ${player.currency} to ${bonus.currency}, which max_bet is in.`, {
      reason: "exchange_rate",
      currency: player.currency
    })
  }
  const amount = sent ?? bonus.defaultAmount
  const wagerRequirement = amount * bonus.wageringMultiplier
  const maxConversion = amount * bonus.maxConversionMultiplier
  const isPayable = amount > 0 && isAmount(wagerRequirement) && isAmount(maxConversion) &&
    isBalance(draft.bonus + amount) && isBalance(draft.real + amount)
  if (!isPayable) return invalid("The amount cannot be granted.", { reason: "amount", max_amount: maxBalance })
  if (draft.pendingBonuses.length >= maxPendingBonuses && wagerRequirement > 0) {
    return invalid("Too many bonuses wait for their turn.", { reason: "max_pending", max_pending: maxPendingBonuses })
  }
  return {
    id: draft.takeId(),
    bonusId: bonus.id,
    name: bonus.name,
    type: bonus.type,
    amount,
    wagerRequirement,
    maxBet,
    maxConversion,
    validDays: bonus.validDays,
    contributions: bonus.contributions,
    createdAt: now
  }
}

/**
 * Grants a bonus of the catalogue: activated, waiting, or paid out at once. The note of an operator stays with the bonus; that of
 * staff, by account, is a note on the player.
 */
export const grantStep = (grant: Grant) => (player: Player, context: Context): Decision<PlayerBonus, GrantRefusal> => {
  const { grantedBy: actor, note } = grant
  const draft = new Draft(player, context)
  const terms = termsOf(draft, grant)
  if ("_tag" in terms) return refused(terms)
  if (actor === undefined) return draft.accept(draft.grantBonus(terms, note))
  const granted = draft.grantBonus(terms, null)
  const owner = { operatorId: player.operatorId, playerId: player.id }
  const audit = {
    id: draft.takeId(),
    at: context.now,
    actor,
    action: "bonus.grant",
    ...owner,
    subject: `player_bonus:${granted.id}`,
    before: null,
    after: { bonus_id: granted.bonusId, amount: granted.amount, state: granted.state },
    reason: note
  }
  const notes = note === null
    ? []
    : [{ id: draft.takeId(), ...owner, author: actor, text: note, createdAt: context.now }]
  return draft.accept(granted, { audit: [audit], notes })
}

/** A promo code as it stood when it was looked up. */
export interface PromoCode {
  readonly id: number
  /** As staff wrote it. */
  readonly code: string
  readonly bonus: CatalogueBonus
  readonly isActive: boolean
  /** Epoch milliseconds; null: never. */
  readonly expiresAt: number | null
  readonly isUsedUp: boolean
  /** By the player at hand. */
  readonly isRedeemed: boolean
}

export interface RedeemedCode {
  readonly redemptionId: number
  readonly code: string
  readonly bonus: PlayerBonus
}

export type RedeemRefusal = Refusal<"PROMO_CODE_INVALID" | "BONUS_INVALID">

export const promoRefusal = (reason: "unknown" | "expired" | "used" | "exhausted") =>
  refuse(
    "PROMO_CODE_INVALID",
    {
      unknown: "There is no such promo code.",
      expired: "The promo code has expired.",
      used: "The player has redeemed this promo code.",
      exhausted: "The promo code was redeemed as often as it allows."
    }[reason],
    { reason }
  )

/** Both only ever become true, so that what was found earlier may refuse; that they are false is proved by the commit. */
const refusePromo = (promo: PromoCode, known: Knowledge | undefined, now: number) => {
  const found = known?.promoCodes.get(promo.id)
  if (promo.isRedeemed || found?.isRedeemed === true) return promoRefusal("used")
  if (!promo.isActive) return promoRefusal("unknown")
  if (promo.expiresAt !== null && now >= promo.expiresAt) return promoRefusal("expired")
  return promo.isUsedUp || found?.isUsedUp === true ? promoRefusal("exhausted") : undefined
}

/** Redeems a code, which grants its bonus. */
export const redeemStep =
  (promo: PromoCode) => (player: Player, context: Context): Decision<RedeemedCode, RedeemRefusal> => {
    const refusal = refusePromo(promo, context.known, context.now)
    if (refusal !== undefined) return refused(refusal)
    const draft = new Draft(player, context)
    const terms = termsOf(draft, { bonus: promo.bonus, amount: null, note: null })
    if ("_tag" in terms) return refused(terms)
    const bonus = draft.grantBonus(terms, `promo code ${promo.code}`)
    const redemption: Redemption = {
      id: draft.takeId(),
      promoCodeId: promo.id,
      operatorId: player.operatorId,
      playerId: player.id,
      playerBonusId: bonus.id,
      createdAt: context.now
    }
    return draft.accept({ redemptionId: redemption.id, code: promo.code, bonus }, { redemptions: [redemption] })
  }

export interface CancelBonus {
  /** The player's bonus. */
  readonly id: number
  readonly reason: string | null
  /** As the audit log names who acts. */
  readonly actor: string
}

/** Ends a bonus that runs or waits; what is left of its money is forfeited. */
export const cancelBonusStep =
  (command: CancelBonus) => (player: Player, context: Context): Decision<PlayerBonus, GrantRefusal> => {
    const draft = new Draft(player, context)
    const { id } = command
    const isRunning = draft.activeBonus?.id === id
    if (isRunning) draft.endBonus("cancelled")
    const cancelled = isRunning ? draft.bonusWritten(id) : draft.cancelPending(id)
    if (cancelled === undefined) return refused(invalid("The bonus has ended already.", { reason: "finished" }))
    const audit = {
      id: draft.takeId(),
      at: context.now,
      actor: command.actor,
      action: "bonus.cancel",
      operatorId: player.operatorId,
      playerId: player.id,
      subject: `player_bonus:${id}`,
      before: { state: isRunning ? "activated" : "pending" },
      after: { state: cancelled.state, result: cancelled.result, forfeited_amount: cancelled.forfeited },
      reason: command.reason
    }
    return draft.accept(cancelled, { audit: [audit] })
  }

/** Writes down what time has brought to a player's bonuses: an end, a beginning. */
export const tendBonusesStep = (player: Player, context: Context): Accept<Player> => {
  if (!hasBonusDue(player, context.now)) return answer(player, player)
  const accepted = new Draft(player, context).accept(undefined)
  return { ...accepted, reply: accepted.state }
}

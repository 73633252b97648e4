/**
 * Grants, promo codes and cancellation of bonuses (SPEC sections 3.4 and 4.6; `docs/decisions/0012-bonuses.md`). Wagering and automatic end follow
 * from stakes and wins, in the working copy of the player that every rule that moves money changes (`Draft.ts`).
 */
import { Schema } from "effect"
import { asPending, bonusTypes, type GrantedBonus, type PlayerBonus } from "../state/Bonus.ts"
import { type Factor, thresholdIn } from "../CurrencyConversion.ts"
import type { Redemption } from "../state/Change.ts"
import { type Accept, answer, type Context, type Decision, type Knowledge, refused } from "../state/Decision.ts"
import { Draft } from "../state/Draft.ts"
import { hasBonusDue } from "../state/WaitingBonuses.ts"
import { ageAt } from "../jurisdiction/Rules.ts"
import { isAmount, isBalance, maxBalance } from "../Money.ts"
import { refuseExcluded } from "../player/RegisterAdmission.ts"
import { activeExclusion, type Player } from "../state/Player.ts"
import { type Refusal, refuse } from "../Refusal.ts"

/** Maximum number of pending bonuses of a player. */
export const maxPendingBonuses = 20

/** Bonus of an operator's catalogue. Amounts are minor units of the operator's currency; 0 in a cap means no cap. */
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
  /** Contribution of a stake in percent, by game id. */
  contributions: Schema.Record(Schema.String, Schema.Number),
  /** ISO 4217 currency of the amounts. */
  currency: Schema.String
})

export type CatalogueBonus = typeof CatalogueBonus.Type

/**
 * Bonus with its amounts in the player's currency, rounded down; unchanged without an exchange rate. `factor`: from the player's currency to that of
 * the bonus. A cap never becomes 0, which would lift it.
 */
export const bonusIn = (bonus: CatalogueBonus, currency: string, factor: Factor | undefined): CatalogueBonus => {
  if (bonus.currency === currency || factor === undefined) return bonus
  const convert = (amount: number): number => thresholdIn(amount, factor) ?? amount
  return {
    ...bonus,
    currency,
    defaultAmount: convert(bonus.defaultAmount),
    maxBet: bonus.maxBet === 0 ? 0 : Math.max(1, convert(bonus.maxBet))
  }
}

export interface Grant {
  /** Amounts in the player's currency ({@link bonusIn}); those of another currency are refused where they are needed. */
  readonly bonus: CatalogueBonus
  /** Minor units of the player's currency; null grants the catalogue amount. */
  readonly amount: number | null
  readonly note: string | null
  /** Whether the person has had a bonus at another operator of the licensee. */
  readonly hadElsewhere?: boolean
  /** Audit log label of the granting staff; absent when the operator grants. */
  readonly grantedBy?: string
}

export type GrantRefusal = Refusal<"BONUS_INVALID">

const invalid = (message: string, details: { readonly [name: string]: unknown }): GrantRefusal =>
  refuse("BONUS_INVALID", message, details)

/** Reason for refusing any bonus to the player. */
const refuseReceiver = (player: Player, now: number): GrantRefusal | undefined => {
  if (player.status !== "active") return invalid(`The account is ${player.status}.`, { reason: player.status })
  const exclusion = activeExclusion(player, now)
  if (exclusion !== null) return invalid("The player is excluded from play.", { reason: exclusion.type })
  const byRegister = refuseExcluded(player)
  if (byRegister !== undefined) return invalid(byRegister.message, byRegister.details)
  return player.restrictions.excludedFromBonuses
    ? invalid("The player is excluded from bonuses.", { reason: "excluded_from_bonuses" })
    : undefined
}

/** Reason for refusing one more bonus that would wait; one without wagering requirement does not. */
const refuseWaiting = ({ pendingBonuses }: Draft): GrantRefusal | undefined =>
  pendingBonuses.length >= maxPendingBonuses
    ? invalid(`The player already has the maximum of ${maxPendingBonuses} waiting bonuses.`, {
      reason: "max_pending",
      max_pending: maxPendingBonuses
    })
    : undefined

/** Reason for refusing any bonus that is to be wagered, whatever its terms. */
export const refuseWagered = (player: Player, now: number): GrantRefusal | undefined =>
  // by a draft: what is due by time makes room
  refuseReceiver(player, now) ?? refuseWaiting(new Draft(player, { now, firstId: 0, known: undefined }))

/** Rule of the jurisdiction that a bonus breaks, by its name in the profile; undefined when none. */
const brokenRule = (
  { birthDay, bonusGrants, rules: { bonuses } }: Player,
  { bonus, hadElsewhere = false }: Pick<Grant, "bonus" | "hadElsewhere">,
  amount: number,
  now: number
): keyof Player["rules"]["bonuses"] | undefined => {
  const { first_only, max_amount, max_wagering_multiplier, min_valid_days, minimum_age } = bonuses
  if (minimum_age !== null && ageAt(birthDay, now) < minimum_age) return "minimum_age"
  if (first_only && (hadElsewhere || Object.keys(bonusGrants).length > 0)) return "first_only"
  if (max_wagering_multiplier !== null && bonus.wageringMultiplier > max_wagering_multiplier) {
    return "max_wagering_multiplier"
  }
  if (max_amount !== null && amount > max_amount) return "max_amount"
  return min_valid_days !== null && bonus.validDays < min_valid_days ? "min_valid_days" : undefined
}

/** Grant with its terms, or the refusal. */
const termsOf = (draft: Draft, grant: Grant): GrantedBonus | GrantRefusal => {
  const { amount: sent, bonus } = grant
  const { now, player } = draft
  const refusal = refuseReceiver(player, now)
  if (refusal !== undefined) return refusal
  if (!bonus.isActive) return invalid("The bonus is not offered any more.", { reason: "inactive" })
  const granted = player.bonusGrants[bonus.id] ?? 0
  if (bonus.maxGrantsPerPlayer > 0 && granted >= bonus.maxGrantsPerPlayer) {
    return invalid("The player has already been granted this bonus the maximum number of times.", {
      reason: "max_grants_per_player",
      max_grants_per_player: bonus.maxGrantsPerPlayer
    })
  }
  // an unconvertible cap would mean either no cap or refusing every bet
  if (player.currency !== bonus.currency && (sent === null || bonus.maxBet !== 0)) {
    return invalid(
      `There is no exchange rate from ${player.currency} to ${bonus.currency}, which the bonus is in. Set one first.`,
      { reason: "exchange_rate", currency: player.currency }
    )
  }
  const amount = sent ?? bonus.defaultAmount
  const broken = brokenRule(player, grant, amount, now)
  if (broken !== undefined) {
    return invalid(`The rules of the player's jurisdiction do not allow this bonus: ${broken}.`, {
      reason: "jurisdiction",
      rule: broken
    })
  }
  const wagerRequirement = amount * bonus.wageringMultiplier
  const maxConversion = amount * bonus.maxConversionMultiplier
  const isValid = amount > 0 && isAmount(wagerRequirement) && isAmount(maxConversion) &&
    isBalance(draft.bonus + amount) && isBalance(draft.real + amount)
  if (!isValid) {
    return invalid("The amount is zero, or it, its wagering requirement or the balance would be too large.", {
      reason: "amount",
      max_amount: maxBalance
    })
  }
  const full = wagerRequirement > 0 ? refuseWaiting(draft) : undefined
  return full ?? {
    id: draft.takeId(),
    bonusId: bonus.id,
    name: bonus.name,
    type: bonus.type,
    amount,
    wagerRequirement,
    maxBet: bonus.maxBet,
    maxConversion,
    validDays: bonus.validDays,
    contributions: bonus.contributions,
    createdAt: now
  }
}

/**
 * Grants a bonus of the catalogue: activated, pending, or paid out at once. A note of an operator is stored with the bonus; one of a staff account is
 * a note on the player.
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

/** Promo code as read by the lookup. */
export interface PromoCode {
  readonly id: number
  /** Spelling as entered by staff. */
  readonly code: string
  readonly bonus: CatalogueBonus
  readonly isActive: boolean
  /** Epoch milliseconds; null: never. */
  readonly expiresAt: number | null
  readonly isUsedUp: boolean
  /** Redeemed by this player. */
  readonly isRedeemed: boolean
  /** Whether the person has had a bonus at another operator of the licensee. */
  readonly hadElsewhere?: boolean
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
      exhausted: "The promo code has been redeemed the maximum number of times."
    }[reason],
    { reason }
  )

/** Both flags only ever become true, so a lookup may refuse; that they are still false is proved by the commit. */
const refusePromo = (promo: PromoCode, known: Knowledge | undefined, now: number) => {
  const found = known?.promoCodes.get(promo.id)
  if (promo.isRedeemed || found?.isRedeemed === true) return promoRefusal("used")
  if (!promo.isActive) return promoRefusal("unknown")
  if (promo.expiresAt !== null && now >= promo.expiresAt) return promoRefusal("expired")
  return promo.isUsedUp || found?.isUsedUp === true ? promoRefusal("exhausted") : undefined
}

/** Redeems a promo code, which grants its bonus. */
export const redeemStep =
  (promo: PromoCode) => (player: Player, context: Context): Decision<RedeemedCode, RedeemRefusal> => {
    const refusal = refusePromo(promo, context.known, context.now)
    if (refusal !== undefined) return refused(refusal)
    const draft = new Draft(player, context)
    const { bonus: offered, hadElsewhere = false } = promo
    const terms = termsOf(draft, { bonus: offered, amount: null, note: null, hadElsewhere })
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
  /** Id of the player's bonus. */
  readonly id: number
  readonly reason: string | null
  /** Audit log label of the actor. */
  readonly actor: string
}

/** Cancels a pending bonus; returns its final state, undefined when no pending bonus has that id. */
const cancelPending = (draft: Draft, id: number): PlayerBonus | undefined => {
  const bonus = draft.pendingBonuses.find((pending) => pending.id === id)
  if (bonus === undefined) return undefined
  draft.pendingBonuses = draft.pendingBonuses.filter((pending) => pending !== bonus)
  const finished: PlayerBonus = {
    ...asPending(bonus),
    state: "finished",
    result: "cancelled",
    forfeited: bonus.interrupted?.held ?? 0,
    held: null,
    remainingMs: null,
    finishedAt: draft.now
  }
  draft.finish(finished)
  return finished
}

/** Cancels a running or pending bonus and forfeits the rest of its money. */
export const cancelBonusStep =
  (command: CancelBonus) => (player: Player, context: Context): Decision<PlayerBonus, GrantRefusal> => {
    const draft = new Draft(player, context)
    const { id } = command
    const isRunning = draft.activeBonus?.id === id
    if (isRunning) draft.endBonus("cancelled")
    const cancelled = isRunning ? draft.bonusWritten(id) : cancelPending(draft, id)
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

/** Applies changes of the player's bonuses that are due by time: expiry and activation. */
export const applyDueBonusesStep = (player: Player, context: Context): Accept<Player> => {
  if (!hasBonusDue(player, context.now)) return answer(player, player)
  const accepted = new Draft(player, context).accept(undefined)
  return { ...accepted, reply: accepted.state }
}

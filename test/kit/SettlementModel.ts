/**
 * Reference model of settlement: a list of all events, from which
 * every answer is recomputed. Written from the wallet API's table of answers and the rules for wallets, bonuses and limits,
 * not from the code, so that the two check each other.
 */
import type { BonusResult } from "../../src/domain/state/Bonus.ts"
import type { LimitField } from "../../src/domain/LimitFields.ts"
import type { Player } from "../../src/domain/state/Player.ts"
import {
  type Action,
  type Adjustment,
  type Bet,
  type CloseRound,
  type Closing,
  ownPolicy,
  type PromoWin,
  type Rollback,
  type SettledGame,
  type Settlement,
  type SettlementPolicy,
  type Win
} from "../../src/domain/settlement/Settlement.ts"
import type { Answer } from "./RuleRunner.ts"
import { type LimitView, refuseBetBy, usedOf } from "./LimitModel.ts"

const dayMs = 86_400_000

/** An answer without ids, or the code of a refusal. */
export type ModelAnswer = string | {
  readonly status: "processed" | "replayed" | "ignored"
  readonly first: "processed" | "ignored"
  readonly real: number
  readonly bonus: number
  readonly balance: number
  readonly bonusBalance: number
  readonly walletSeq: number
  readonly round: "open" | "closed"
}

/** Answer of a rule in the model's form. */
export const answerOf = (answer: Answer<Settlement, { readonly code: string }>): ModelAnswer => {
  if ("refusal" in answer) return answer.refusal.code
  const { balance, bonusAmount, bonusBalance, first, realAmount, roundState, status, walletSeq } = answer.reply
  return { status, first, real: realAmount, bonus: bonusAmount, balance, bonusBalance, walletSeq, round: roundState }
}

/** A bonus that is granted. */
export interface ModelGrant {
  readonly id: number
  /** Of the catalogue, and how often a player can have it; 0: no cap. */
  readonly bonusId: number
  readonly cap: number
  readonly amount: number
  readonly requirement: number
  readonly maxBet: number
  readonly maxConversion: number
  readonly validDays: number
  readonly contributions: { readonly [gameId: string]: number }
}

interface ModelBonus {
  readonly id: number
  readonly amount: number
  readonly requirement: number
  readonly maxBet: number
  readonly maxConversion: number
  readonly validDays: number
  readonly contributions: { readonly [gameId: string]: number }
  expiresAt: number
  wagered: number
  /** Until when a bet without an open round may be won. */
  openUntil: number
  /** How much of it was taken back after it had been spent. */
  short: number
}

/** A bonus in the queue: what its wallet holds when its turn comes, and for how long it runs then. */
interface ModelWaiting {
  readonly bonus: ModelBonus
  readonly ms: number
  credit: number
}

/** End of a bonus, and the outcome of its money. */
export interface ModelEnd {
  readonly result: BonusResult
  readonly converted: number
  forfeited: number
}

/** A promo code: its bonus, and how often it can be redeemed; 0: without end. */
export interface ModelPromo {
  readonly id: number
  readonly cap: number
}

interface ModelPlayer {
  readonly id: number
  readonly currency: string
  readonly providerIds: ReadonlyArray<number>
  status: Player["status"]
  canBet: boolean
  excludedUntil: number
  isTimeOut: boolean
  limits: Player["limits"]
  real: number
  bonus: number
  walletSeq: number
  active: ModelBonus | null
  /** Bonuses that wait, the oldest first. */
  queue: Array<ModelWaiting>
  granted: Array<number>
  excludedFromBonuses: boolean
  /** Whether a bonus has moved money since the sequence was last counted. */
  hasMoved: boolean
}

/** One message that was settled. */
interface Settled {
  readonly kind: "bet" | "win" | "rollback" | "promo" | "adjust" | "tombstone"
  readonly status: "processed" | "ignored"
  readonly playerId: number
  /** All that makes it the same message when it comes again. */
  readonly content: string
  readonly at: number
  readonly game: number
  readonly round: string
  readonly amount: number
  readonly real: number
  readonly bonus: number
  readonly bonusId: number | null
  readonly wagered: number
  /** How much of a win in real money was a converted bonus's. */
  readonly late: number
  /** Target of a rollback. */
  readonly target: string | null
  takenBack: boolean
  /** Bonus money of a bet that was gone when the bet stood again. */
  lost: number
}

export class SettlementModel {
  now: number
  private players = new Map<number, ModelPlayer>()
  private settled = new Map<string, Settled>()
  private closed = new Set<string>()
  /** Bets of a round that nothing has settled yet. */
  private open = new Map<string, number>()
  private ended = new Map<number, ModelEnd>()
  /** Ended bonuses, with the amounts credited to the real wallet since. */
  private past = new Map<number, { readonly bonus: ModelBonus; late: number }>()
  /** Players who redeemed a promo code. */
  private redeemed = new Map<number, Array<number>>()
  /** When bets were placed, by player. */
  private plays = new Map<number, Array<number>>()
  /** Whether more actions of the same message follow. */
  private isMidMessage = false

  constructor(players: ReadonlyArray<Player>, now: number) {
    this.now = now
    for (const player of players) {
      this.players.set(player.id, {
        id: player.id,
        currency: player.currency,
        providerIds: player.providerIds,
        status: player.status,
        canBet: player.restrictions.canBet,
        excludedUntil: 0,
        isTimeOut: false,
        limits: player.limits,
        real: player.real,
        bonus: player.bonus,
        walletSeq: player.walletSeq,
        active: player.activeBonus === null ? null : {
          id: player.activeBonus.id,
          amount: player.activeBonus.amount,
          validDays: player.activeBonus.validDays,
          requirement: player.activeBonus.wagerRequirement,
          maxBet: player.activeBonus.maxBet,
          maxConversion: player.activeBonus.maxConversion,
          contributions: player.activeBonus.contributions,
          expiresAt: player.activeBonus.expiresAt,
          wagered: player.activeBonus.wagered,
          openUntil: 0,
          short: 0
        },
        queue: player.pendingBonuses.map((pending) => ({
          bonus: {
            id: pending.id,
            amount: pending.amount,
            validDays: pending.validDays,
            requirement: pending.wagerRequirement,
            maxBet: pending.maxBet,
            maxConversion: pending.maxConversion,
            contributions: pending.contributions,
            expiresAt: 0,
            wagered: 0,
            openUntil: 0,
            short: 0
          },
          credit: pending.amount,
          ms: pending.validDays * dayMs
        })),
        granted: [],
        excludedFromBonuses: false,
        hasMoved: false
      })
    }
  }

  // Events of a player other than messages

  setStatus(playerId: number, status: Player["status"]): void {
    this.player(playerId).status = status
  }

  exclude(playerId: number, until: number): void {
    const player = this.player(playerId)
    player.excludedUntil = until
    player.isTimeOut = true
  }

  setLimits(playerId: number, limits: Player["limits"]): void {
    this.player(playerId).limits = limits
  }

  excludeFromBonuses(playerId: number, excluded: boolean): void {
    this.player(playerId).excludedFromBonuses = excluded
  }

  deposit(playerId: number, amount: number): void {
    const player = this.player(playerId)
    this.applyDue(player)
    player.real += amount
    player.hasMoved = true
    this.count(player)
  }

  /** Holds an amount; gives whether that can be. */
  withdraw(playerId: number, amount: number, forfeitsBonus: boolean): boolean {
    return this.attempt(playerId, () => {
      const player = this.player(playerId)
      if (player.status !== "active") return "PLAYER_RESTRICTED"
      if (player.real < amount) return "INSUFFICIENT_FUNDS"
      this.applyDue(player)
      player.real -= amount
      player.hasMoved = true
      if (forfeitsBonus) this.forfeit(player, "cancelled")
      this.count(player)
      return true
    }) === true
  }

  /** Sets a balance right by hand; gives whether that can be. */
  correct(playerId: number, wallet: "real" | "bonus", amount: number): boolean {
    return this.attempt(playerId, () => {
      const player = this.player(playerId)
      this.applyDue(player)
      if (wallet === "bonus" && player.bonus + amount < 0) return "VALIDATION_FAILED"
      player[wallet] += amount
      player.hasMoved = true
      this.count(player)
      return true
    }) === true
  }

  /** Keeps a player from play for longer; all but a time-out takes the running bonus. Gives whether that can be. */
  selfExclude(playerId: number, until: number, isTimeOut: boolean): boolean {
    const player = this.player(playerId)
    if (this.now < player.excludedUntil && until <= player.excludedUntil) return false
    this.applyDue(player)
    if (!isTimeOut) this.forfeit(player, "cancelled")
    player.excludedUntil = until
    player.isTimeOut = isTimeOut
    this.count(player)
    return true
  }

  /** Where the grant of a promo code leads, or the code of its refusal. */
  redeem(playerId: number, promo: ModelPromo, grant: ModelGrant): string {
    const all = this.redeemed.get(promo.id) ?? []
    if (all.includes(playerId)) return "used"
    if (promo.cap > 0 && all.length >= promo.cap) return "exhausted"
    const state = this.grant(playerId, grant)
    if (state === undefined) return "BONUS_INVALID"
    this.redeemed.set(promo.id, [...all, playerId])
    return state
  }

  /** Where a grant leads, and undefined where it is refused. */
  grant(playerId: number, grant: ModelGrant): "pending" | "activated" | "finished" | undefined {
    const player = this.player(playerId)
    const times = player.granted.filter((bonusId) => bonusId === grant.bonusId).length
    if (!this.mayReceive(player) || (grant.cap > 0 && times >= grant.cap)) return undefined
    player.granted.push(grant.bonusId)
    this.applyDue(player)
    if (grant.requirement === 0) {
      this.ended.set(grant.id, { result: "converted", converted: grant.amount, forfeited: 0 })
      player.real += grant.amount
      player.hasMoved = true
      this.count(player)
      return "finished"
    }
    const { amount, contributions, id, maxBet, maxConversion, requirement, validDays } = grant
    const terms = { id, amount, contributions, maxBet, maxConversion, requirement, validDays }
    const bonus = { ...terms, wagered: 0, expiresAt: 0, openUntil: 0, short: 0 }
    player.queue.push({ bonus, credit: amount, ms: validDays * dayMs })
    this.count(player)
    return player.active?.id === grant.id ? "activated" : "pending"
  }

  /** Whether there was something to cancel. */
  cancel(playerId: number, bonusId: number): boolean {
    return this.attempt(playerId, () => {
      const player = this.player(playerId)
      this.applyDue(player)
      const waits = player.queue.find(({ bonus }) => bonus.id === bonusId)
      if (player.active?.id !== bonusId && waits === undefined) return "BONUS_INVALID"
      if (waits !== undefined) {
        player.queue = player.queue.filter((other) => other !== waits)
        const forfeited = this.past.has(bonusId) ? waits.credit : 0
        this.ended.set(bonusId, { result: "cancelled", converted: 0, forfeited })
      } else {
        this.forfeit(player, "cancelled")
      }
      this.count(player)
      return true
    }) === true
  }

  /** Applies due changes only. */
  look(playerId: number): void {
    const player = this.player(playerId)
    this.applyDue(player)
    this.count(player)
  }

  /** Status of every bonus, ended ones included. */
  bonuses(playerId: number): {
    readonly active: number | null
    readonly wagered: number
    readonly queue: ReadonlyArray<number>
    readonly ended: ReadonlyMap<number, ModelEnd>
  } {
    const { active, queue } = this.player(playerId)
    return {
      active: active?.id ?? null,
      wagered: active?.wagered ?? 0,
      queue: queue.map(({ bonus }) => bonus.id),
      ended: this.ended
    }
  }

  /** State of a transaction id. */
  fate(providerId: number, transactionId: string): "unknown" | "processed" | "rolled_back" | "tombstone" {
    const known = this.find({ providerId, transactionId })
    if (known === undefined) return "unknown"
    return known.kind === "tombstone" ? "tombstone" : known.takenBack ? "rolled_back" : "processed"
  }

  balances(playerId: number): { readonly real: number; readonly bonus: number; readonly walletSeq: number } {
    const { bonus, real, walletSeq } = this.player(playerId)
    return { real, bonus, walletSeq }
  }

  /** Used amount of a limit. */
  used(playerId: number, field: LimitField): number {
    return usedOf(this.limitView(this.player(playerId)), field)
  }

  private limitView({ id, limits, real }: ModelPlayer): LimitView {
    return {
      now: this.now,
      real,
      happenings: [...this.settled.values()].flatMap(({ amount, at, kind, late, playerId, real, takenBack }) =>
        playerId === id && (kind === "bet" || kind === "win" || kind === "adjust")
          // a correction is won or lost; money of a bonus is neither, wherever it is
          ? [{
            kind: kind === "adjust" ? "win" as const : kind,
            at,
            amount,
            real: kind === "bet" ? -real : real - late,
            isTakenBack: takenBack
          }]
          : []
      ),
      plays: (this.plays.get(id) ?? []).map((at) => ({ at, isBet: true })),
      inForce: (field) => limits[field] ?? null
    }
  }

  // Messages

  settle(playerId: number, action: Action): ModelAnswer {
    return this.attempt(playerId, () => this.take(playerId, action))
  }

  private take(playerId: number, action: Action): ModelAnswer {
    this.applyDue(this.player(playerId))
    switch (action.action) {
      case "bet":
        return this.bet(playerId, action)
      case "win":
        return this.win(playerId, action)
      case "rollback":
        return this.rollback(playerId, action)
      case "promo_win":
        return this.takePromoWin(playerId, action)
      case "adjust":
        return this.adjust(playerId, action)
      case "close_round":
        return this.close(playerId, action)
    }
  }

  /** All or nothing. */
  batch(playerId: number, actions: ReadonlyArray<Action>): ReadonlyArray<ModelAnswer> | string {
    const before = this.save()
    const answers: Array<ModelAnswer> = []
    const last = actions.findLastIndex(({ action }) => action !== "close_round")
    for (const [index, action] of actions.entries()) {
      this.isMidMessage = index < last
      const answer = this.take(playerId, action)
      this.isMidMessage = false
      if (typeof answer === "string") {
        this.restore(before)
        return answer
      }
      answers.push(answer)
    }
    return answers
  }

  /** A bet and its win in one: one step of the wallet sequence. */
  betWin(playerId: number, bet: Bet, win: Win): ModelAnswer {
    const { walletSeq: before } = this.balances(playerId)
    const answers = this.batch(playerId, [bet, win])
    if (typeof answers === "string") return answers
    const [first, second] = answers
    if (typeof first !== "object" || typeof second !== "object") return "no answer"
    const player = this.player(playerId)
    player.walletSeq = Math.min(player.walletSeq, before + 1)
    return {
      ...second,
      status: first.status === "replayed" && second.status === "replayed" ? "replayed" : "processed",
      first: "processed",
      real: first.real + second.real,
      bonus: first.bonus + second.bonus,
      walletSeq: player.walletSeq
    }
  }

  /** A round of an original: a bet and its win, in a round of its own that is closed with it. */
  play(playerId: number, game: SettledGame, stake: number, payout: number): ModelAnswer {
    const { currency, providerIds: [providerId = 0] } = this.player(playerId)
    const roundId = `original ${this.settled.size}`
    const message = { policy: ownPolicy, providerId, game, roundId, currency }
    const bet: Bet = {
      ...message,
      action: "bet",
      transactionId: `${roundId} bet`,
      amount: stake,
      session: { id: 1, expiresAt: Number.MAX_SAFE_INTEGER },
      closesRound: false
    }
    return this.betWin(playerId, bet, {
      ...message,
      action: "win",
      transactionId: `${roundId} win`,
      betTransactionId: bet.transactionId,
      amount: payout,
      closesRound: true
    })
  }

  close(playerId: number, { game, providerId, roundId }: CloseRound): ModelAnswer {
    const player = this.player(playerId)
    if (!player.providerIds.includes(providerId)) return "NOT_FOUND"
    this.applyDue(player)
    const wasClosed = this.isClosed(playerId, game.id, roundId)
    this.closed.add(`${playerId} ${game.id} ${roundId}`)
    return this.answer(player, wasClosed ? "replayed" : "processed", 0, 0, "closed")
  }

  promoWin(playerId: number, win: PromoWin): ModelAnswer {
    return this.attempt(playerId, () => this.takePromoWin(playerId, win))
  }

  private takePromoWin(playerId: number, win: PromoWin): ModelAnswer {
    const player = this.player(playerId)
    if (!player.providerIds.includes(win.providerId)) return "NOT_FOUND"
    this.applyDue(player)
    const content = `promo ${playerId} ${win.amount} ${win.currency} ${win.kind} ${win.campaignId}`
    const known = this.find(win)
    if (known !== undefined) return this.again(player, known, win, "promo", content, true)
    if (win.currency !== player.currency) return "VALIDATION_FAILED"
    player.real += win.amount
    this.remember(win, { kind: "promo", playerId, content, amount: win.amount, real: win.amount })
    return this.moved(player, win.amount, 0, "closed")
  }

  private bet(playerId: number, bet: Bet): ModelAnswer {
    const player = this.player(playerId)
    const content = `bet ${playerId} ${bet.amount} ${bet.currency} ${bet.game.id} ${bet.roundId}`
    const known = this.find(bet)
    if (known !== undefined) {
      return this.again(player, known, bet, "bet", content, known.game === bet.game.id && known.round === bet.roundId)
    }
    if (bet.session === "none") {
      if (!player.providerIds.includes(bet.providerId)) return "NOT_FOUND"
    } else if (bet.session === null || this.now >= bet.session.expiresAt) {
      return "INVALID_SESSION"
    }
    if (bet.currency !== player.currency) return "VALIDATION_FAILED"
    if (!bet.game.active) return "NOT_FOUND"
    if (bet.policy.closedRounds === "refuse" && this.isClosed(playerId, bet.game.id, bet.roundId)) return "ROUND_CLOSED"
    if (player.status !== "active" || !player.canBet || this.now < player.excludedUntil) return "PLAYER_RESTRICTED"

    // real money first, bonus money only on games that contribute
    const percent = player.active === null ? 0 : this.percentOf(player.active, bet.game)
    const real = Math.min(bet.amount, Math.max(0, player.real))
    const bonus = bet.amount - real
    if (refuseBetBy(this.limitView(player), bet.amount, real) !== undefined) return "LIMIT_EXCEEDED"
    if (player.active !== null && player.active.maxBet > 0 && bet.amount > player.active.maxBet) return "BONUS_INVALID"
    if (player.real < 0) return "INSUFFICIENT_FUNDS"
    if (bonus > 0 && (percent === 0 || bonus > player.bonus)) return "INSUFFICIENT_FUNDS"
    // a round follows one bonus: another one's money does not go in
    const isOthers = this.standing(playerId, bet.game.id, bet.roundId, "bet").some((stake) =>
      stake.bonus !== 0 && stake.bonusId !== player.active?.id
    )
    if (bonus > 0 && isOthers) return "INSUFFICIENT_FUNDS"

    const wagered = Math.floor(bet.amount * percent / 100)
    player.real -= real
    player.bonus -= bonus
    if (player.active !== null) player.active.wagered += wagered
    this.plays.set(playerId, [...this.plays.get(playerId) ?? [], this.now])
    this.remember(bet, {
      kind: "bet",
      playerId,
      content,
      game: bet.game.id,
      round: bet.roundId,
      amount: bet.amount,
      real: 0 - real,
      bonus: 0 - bonus,
      bonusId: player.active?.id ?? null,
      wagered
    })
    const { wonWithinMs } = bet.policy
    if (wonWithinMs !== null) this.closed.add(`${playerId} ${bet.game.id} ${bet.roundId}`)
    const round = this.leave(playerId, bet.game.id, bet.roundId, 1, bet.closesRound)
    // where no close will tell how it went, time does
    if (bonus > 0 && player.active !== null && round === "closed" && bet.closesRound !== true) {
      player.active.openUntil = Math.max(player.active.openUntil, this.now + (wonWithinMs ?? 600_000))
    }
    return this.moved(player, 0 - real, 0 - bonus, round)
  }

  private win(playerId: number, win: Win): ModelAnswer {
    const player = this.player(playerId)
    if (!player.providerIds.includes(win.providerId)) return "NOT_FOUND"
    const content =
      `win ${playerId} ${win.amount} ${win.currency} ${win.game.id} ${win.roundId} ${win.betTransactionId}`
    const known = this.find(win)
    if (known !== undefined) {
      return this.again(player, known, win, "win", content, known.game === win.game.id && known.round === win.roundId)
    }
    if (win.currency !== player.currency) return "VALIDATION_FAILED"
    const lack = this.lackOf(playerId, win)
    if (lack !== undefined) return lack
    if (win.policy.closedRounds === "refuse" && this.isClosed(playerId, win.game.id, win.roundId)) return "ROUND_CLOSED"
    const { bonusId, bonusPart } = this.split(playerId, win.game.id, win.roundId, win.amount)
    const credited = this.creditBonus(player, bonusPart, bonusId)
    const real = win.amount - bonusPart + credited.real
    player.real += win.amount - bonusPart
    this.remember(win, {
      kind: "win",
      playerId,
      content,
      game: win.game.id,
      round: win.roundId,
      amount: win.amount,
      real,
      bonus: credited.bonus,
      bonusId,
      late: credited.real
    })
    const settles = win.closesRound === "when_settled" ? -1 : 0
    const round = this.leave(playerId, win.game.id, win.roundId, settles, win.closesRound)
    return this.moved(player, real, credited.bonus, round, win.amount > 0)
  }

  /** The part of an amount that is the bonus's, by the round's funding so far. */
  private split(playerId: number, game: number, round: string, amount: number) {
    const stakes = this.standing(playerId, game, round, "bet")
    const bonusStake = stakes.reduce((sum, stake) => sum - stake.bonus, 0)
    const allStakes = stakes.reduce((sum, stake) => sum + stake.amount, 0)
    return {
      bonusPart: bonusStake === 0 ? 0 : Math.floor(amount * bonusStake / allStakes),
      bonusId: stakes.find((stake) => stake.bonus !== 0)?.bonusId ?? null
    }
  }

  /** Whether there is enough for a debit, without a debt of the player or of the bonus. */
  private covers(player: ModelPlayer, real: number, ofBonus: number, bonusId: number | null): boolean {
    const end = ofBonus > 0 && bonusId !== null ? this.ended.get(bonusId) : undefined
    const waits = player.queue.find(({ bonus }) => bonus.id === bonusId)
    const late = bonusId === null ? 0 : this.past.get(bonusId)?.late ?? 0
    const fromReal = Math.max(0, ofBonus - (end?.forfeited ?? 0))
    if (end !== undefined && end.result !== "converted" && fromReal > 0) return false
    if (end !== undefined && fromReal > end.converted + late) return false
    if (end === undefined && ofBonus > (waits?.credit ?? player.bonus)) return false
    const wholeReal = real + (end === undefined ? 0 : fromReal)
    return wholeReal === 0 || wholeReal <= player.real
  }

  /** Why a win is not paid for want of a bet; undefined where it is. */
  private lackOf(playerId: number, { betTransactionId, game, policy, providerId, roundId }: Win): string | undefined {
    const pays = policy.winsBeforeBets === "pay"
    if (betTransactionId === null) {
      if (pays) return undefined
      const isSeen = [...this.settled.values()].some((message) =>
        (message.kind === "bet" || message.kind === "win") && message.playerId === playerId &&
        message.game === game.id && message.round === roundId
      )
      if (!isSeen) return "BET_NOT_FOUND"
      return this.openBets(playerId, game.id, roundId) > 0 ? undefined : "BET_ROLLED_BACK"
    }
    const bet = this.find({ providerId, transactionId: betTransactionId })
    if (bet === undefined) return pays ? undefined : "BET_NOT_FOUND"
    const isGone = bet.kind === "tombstone" || (bet.kind === "bet" && bet.takenBack)
    if (isGone && !(pays && policy.afterTombstone === "ignore")) return "BET_ROLLED_BACK"
    if (bet.playerId !== playerId) return "BET_NOT_FOUND"
    if (bet.kind === "tombstone") return undefined
    return bet.kind === "bet" && bet.game === game.id && bet.round === roundId ? undefined : "BET_NOT_FOUND"
  }

  private adjust(
    playerId: number,
    { amount, currency, game, policy, providerId, roundId, transactionId }: Adjustment
  ): ModelAnswer {
    const player = this.player(playerId)
    if (!player.providerIds.includes(providerId)) return "NOT_FOUND"
    const message = { providerId, transactionId, policy }
    const content = `adjust ${playerId} ${amount} ${currency} ${game.id} ${roundId}`
    const known = this.find(message)
    if (known !== undefined) {
      return this.again(player, known, message, "adjust", content, known.game === game.id && known.round === roundId)
    }
    if (currency !== player.currency) return "VALIDATION_FAILED"
    const { bonusId, bonusPart } = this.split(playerId, game.id, roundId, Math.abs(amount))
    const realPart = amount < 0 ? amount + bonusPart : amount - bonusPart
    if (amount < 0 && !this.covers(player, 0 - realPart, bonusPart, bonusId)) return "INSUFFICIENT_FUNDS"
    player.real += realPart
    const of = amount < 0
      ? this.debitBonus(player, bonusId, bonusPart, 0)
      : this.creditBonus(player, bonusPart, bonusId)
    const moved = { real: realPart + of.real, bonus: of.bonus, bonusId, late: of.real }
    this.remember(message, { kind: "adjust", playerId, content, game: game.id, round: roundId, amount, ...moved })
    const round = this.isClosed(playerId, game.id, roundId) ? "closed" : "open"
    return this.moved(player, moved.real, moved.bonus, round, amount !== 0)
  }

  private rollback(playerId: number, rollback: Rollback): ModelAnswer {
    const player = this.player(playerId)
    const { providerId, targetTransactionId } = rollback
    if (!player.providerIds.includes(providerId)) return "NOT_FOUND"
    const content = `rollback ${playerId} ${targetTransactionId}`
    const known = this.find(rollback)
    if (known !== undefined) return this.replay(player, known, rollback, "rollback", content, true)
    if (targetTransactionId === rollback.transactionId) return "ROLLBACK_NOT_ALLOWED"
    const target = this.find({ providerId, transactionId: targetTransactionId })
    const about = {
      kind: "rollback",
      playerId,
      content,
      target: targetTransactionId,
      game: target?.game ?? 0,
      round: target?.round ?? ""
    } satisfies Partial<Settled>
    if (target === undefined || target.kind === "tombstone") {
      if (target === undefined) {
        this.remember({ providerId, transactionId: targetTransactionId }, { kind: "tombstone", playerId, content: "" })
      }
      this.remember(rollback, { ...about, status: "ignored" })
      return this.answer(player, "ignored", 0, 0, "closed")
    }
    if (target.playerId !== playerId) return "NOT_FOUND"
    if (target.kind === "rollback") {
      return rollback.policy.settledBets === "refuse"
        ? "ROLLBACK_NOT_ALLOWED"
        : this.reinstate(player, rollback, target, about)
    }
    const round = target.kind === "promo" || this.isClosed(playerId, target.game, target.round) ? "closed" : "open"
    if (target.takenBack) {
      this.remember(rollback, { ...about, status: "ignored" })
      return this.answer(player, "ignored", 0, 0, round)
    }
    if (
      rollback.policy.settledBets === "refuse" && target.kind === "bet" &&
      this.standing(playerId, target.game, target.round, "win").some((win) => win.amount > 0)
    ) {
      return "BET_ALREADY_SETTLED"
    }

    target.takenBack = true
    if (target.kind === "bet") this.takeBackWager(player, target)
    const own = target.real - target.late
    player.real -= own
    if (own !== 0) player.hasMoved = true
    const forfeited = target.kind === "bet" ? 0 : target.amount - target.real - target.bonus
    const of = target.kind === "bet" || target.amount < 0
      ? this.creditBonus(player, -target.bonus - target.late - target.lost, target.bonusId)
      : this.debitBonus(player, target.bonusId, target.bonus + target.late, forfeited)
    const [real, bonus] = [of.real - own, of.bonus]
    this.remember(rollback, { ...about, real, bonus })
    const after = target.kind === "promo"
      ? "closed"
      : this.leave(playerId, target.game, target.round, target.kind === "bet" ? -1 : 0, rollback.closesRound)
    return this.moved(player, real, bonus, after)
  }

  /** Reinstates a bet whose rollback is rolled back; forfeited bonus money is not restored. */
  private reinstate(
    player: ModelPlayer,
    rollback: Rollback,
    target: Settled,
    about: Pick<Settled, "kind" | "playerId" | "content"> & Partial<Settled>
  ): ModelAnswer {
    const { game, round } = target
    const { idPrefix, providerId } = rollback
    const own = idPrefix === undefined
      ? undefined
      : this.find({ providerId, transactionId: `${idPrefix}${target.target}` })
    if (target.status === "ignored" || target.takenBack || (own?.kind === "rollback" && own.target === target.target)) {
      this.remember(rollback, { ...about, status: "ignored" })
      const isOpen = round !== "" && !this.isClosed(player.id, game, round)
      return this.answer(player, "ignored", 0, 0, isOpen ? "open" : "closed")
    }
    const bet = this.find({ providerId, transactionId: target.target ?? "" })
    if (bet?.kind !== "bet") return "ROLLBACK_NOT_ALLOWED"
    target.takenBack = true
    bet.takenBack = false
    const cameBack = target.bonus + target.real + bet.real
    player.real += bet.real
    if (bet.real !== 0) player.hasMoved = true
    const taken = this.debitBonus(player, bet.bonusId, cameBack, 0 - bet.bonus - bet.lost - cameBack)
    bet.lost += cameBack + taken.bonus + taken.real
    this.addWager(player, bet.bonusId, bet.wagered)
    if (bet.wagered > 0) this.convertEnded(player, bet.bonusId)
    const [real, bonus] = [bet.real + taken.real, taken.bonus]
    this.remember(rollback, { ...about, real, bonus })
    const after = this.leave(player.id, game, round, 1, rollback.closesRound)
    return this.moved(player, real, bonus, after)
  }

  // Queries

  private player(playerId: number): ModelPlayer {
    const player = this.players.get(playerId)
    if (player === undefined) throw new Error(`there is no player ${playerId}`)
    return player
  }

  private find(message: { readonly providerId: number; readonly transactionId: string }): Settled | undefined {
    return this.settled.get(`${message.providerId} ${message.transactionId}`)
  }

  private remember(
    message: { readonly providerId: number; readonly transactionId: string },
    fields: Pick<Settled, "kind" | "playerId" | "content"> & Partial<Settled>
  ): void {
    this.settled.set(`${message.providerId} ${message.transactionId}`, {
      at: this.now,
      status: "processed",
      target: null,
      game: 0,
      round: "",
      amount: 0,
      real: 0,
      bonus: 0,
      bonusId: null,
      wagered: 0,
      late: 0,
      takenBack: false,
      lost: 0,
      ...fields
    })
  }

  private standing(playerId: number, game: number, round: string, kind: "bet" | "win"): ReadonlyArray<Settled> {
    return [...this.settled.values()].filter((message) =>
      message.kind === kind && message.playerId === playerId && message.game === game && message.round === round &&
      !message.takenBack
    )
  }

  private isClosed(playerId: number, game: number, round: string): boolean {
    return this.closed.has(`${playerId} ${game} ${round}`)
  }

  private openBets(playerId: number, game: number, round: string): number {
    return this.open.get(`${playerId} ${game} ${round}`) ?? 0
  }

  /** Updates a round after a message, which adds or settles one of its open bets. */
  private leave(playerId: number, game: number, round: string, bets: number, closes: Closing): "open" | "closed" {
    const key = `${playerId} ${game} ${round}`
    const left = Math.max(0, this.openBets(playerId, game, round) + bets)
    this.open.set(key, left)
    // a settlement may close a round, and only a bet opens one again
    if (closes === "when_settled" && bets === 1) this.closed.delete(key)
    else if (closes === true || (closes === "when_settled" && left === 0)) this.closed.add(key)
    return this.closed.has(key) ? "closed" : "open"
  }

  private percentOf(bonus: ModelBonus, game: SettledGame): number {
    return bonus.contributions[game.id] ?? (game.type === "live" ? 10 : 100)
  }

  /**
   * Credits bonus money, less what it is short of: where the bonus is, to the real wallet after conversion as far as the cap allows, else not at all. A lost
   * bonus that gets money is not lost.
   */
  private creditBonus(
    player: ModelPlayer,
    credited: number,
    bonusId: number | null
  ): { readonly real: number; readonly bonus: number } {
    if (credited === 0 || bonusId === null) return { real: 0, bonus: 0 }
    player.hasMoved = true
    const owing = this.bonusOf(player, bonusId)
    const paid = Math.min(owing?.short ?? 0, credited)
    if (owing !== undefined) owing.short -= paid
    const amount = credited - paid
    if (amount === 0) return { real: 0, bonus: 0 }
    const waits = player.queue.find(({ bonus }) => bonus.id === bonusId)
    const end = this.ended.get(bonusId)
    const past = this.past.get(bonusId)
    if (player.active?.id === bonusId) player.bonus += amount
    else if (waits !== undefined) waits.credit += amount
    else if (end?.result === "converted" && past !== undefined) {
      const { maxConversion } = past.bonus
      const room = maxConversion === 0 ? amount : Math.max(0, maxConversion - end.converted - past.late)
      const real = Math.min(amount, room)
      player.real += real
      past.late += real
      end.forfeited += amount - real
      return { real, bonus: 0 }
    } else if (end?.result === "lost" && past !== undefined) {
      return { real: 0, bonus: this.undoEnd(player, past.bonus, amount) ? amount : 0 }
    } else if (end !== undefined) {
      end.forfeited += amount
      return { real: 0, bonus: 0 }
    }
    return { real: 0, bonus: amount }
  }

  /** A bonus, wherever it is. */
  private bonusOf(player: ModelPlayer, bonusId: number): ModelBonus | undefined {
    if (player.active?.id === bonusId) return player.active
    return player.queue.find(({ bonus }) => bonus.id === bonusId)?.bonus ?? this.past.get(bonusId)?.bonus
  }

  /** Takes back what was credited: what had gone to a wallet, and what had been forfeited at once. What was spent is owed by the bonus. */
  private debitBonus(
    player: ModelPlayer,
    bonusId: number | null,
    credited: number,
    forfeited: number
  ): { readonly real: number; readonly bonus: number } {
    const total = credited + forfeited
    const bonus = bonusId === null ? undefined : this.bonusOf(player, bonusId)
    if (bonus === undefined || total === 0) return { real: 0, bonus: 0 }
    player.hasMoved = true
    const waits = player.queue.find((waiting) => waiting.bonus === bonus)
    if (player.active === bonus || waits !== undefined) {
      const balance = waits?.credit ?? player.bonus
      bonus.short += Math.max(0, total - balance)
      if (waits === undefined) player.bonus = Math.max(0, balance - total)
      else waits.credit = Math.max(0, balance - total)
      return { real: 0, bonus: 0 - credited }
    }
    const end = this.ended.get(bonus.id)
    const past = this.past.get(bonus.id)
    if (end === undefined || past === undefined) return { real: 0, bonus: 0 }
    // what exceeds the cap was never the player's; the player gives back no more than was given
    const never = Math.min(total, end.forfeited)
    const given = end.result === "converted" ? end.converted + past.late : 0
    const back = Math.min(total - never, given)
    end.forfeited -= never
    past.late -= back
    player.real -= back
    bonus.short += total - never - back
    const real = Math.min(back, credited)
    return { real: 0 - real, bonus: real - credited }
  }

  /** Changes how much was wagered for a bonus, wherever it is. */
  private addWager(player: ModelPlayer, bonusId: number | null, wagered: number): void {
    const bonus = bonusId === null ? undefined : this.bonusOf(player, bonusId)
    if (bonus !== undefined) bonus.wagered += wagered
  }

  /** Pays out a bonus that does not run. */
  private convert(player: ModelPlayer, bonus: ModelBonus, money: number): void {
    const converted = bonus.maxConversion === 0 ? money : Math.min(money, bonus.maxConversion)
    player.real += converted
    if (money !== 0) player.hasMoved = true
    this.past.set(bonus.id, { bonus, late: 0 })
    this.ended.set(bonus.id, { result: "converted", converted, forfeited: money - converted })
  }

  /** The bonus of a reinstated bet did not end in vain when that bet met its requirement. */
  private convertEnded(player: ModelPlayer, bonusId: number | null): void {
    const end = bonusId === null ? undefined : this.ended.get(bonusId)
    const bonus = bonusId === null ? undefined : this.past.get(bonusId)?.bonus
    if (bonus === undefined || (end?.result !== "lost" && end?.result !== "expired")) return
    if (bonus.wagered >= bonus.requirement) this.convert(player, bonus, end.forfeited)
  }

  /**
   * A bet that is taken back was never wagered. A conversion that was not earned without it did not happen: all that became
   * real money of the bonus is the bonus's again.
   */
  private takeBackWager(player: ModelPlayer, { bonusId, wagered }: Settled): void {
    if (bonusId === null || wagered === 0) return
    this.addWager(player, bonusId, 0 - wagered)
    const past = this.past.get(bonusId)
    const end = this.ended.get(bonusId)
    if (past === undefined || end?.result !== "converted" || past.bonus.wagered >= past.bonus.requirement) return
    const back = end.converted + end.forfeited + past.late
    player.real -= end.converted + past.late
    if (end.converted !== 0 || past.late !== 0 || back !== 0) player.hasMoved = true
    past.late = 0
    this.undoEnd(player, past.bonus, back)
  }

  /** An end that did not happen: the bonus runs or waits with this money; gives false where it can do neither. */
  private undoEnd(player: ModelPlayer, bonus: ModelBonus, money: number): boolean {
    this.ended.delete(bonus.id)
    const { active } = player
    const mayRun = this.mayReceive(player)
    const isExcluded = this.now < player.excludedUntil && !player.isTimeOut
    if (this.now >= bonus.expiresAt || (active === null && (player.status === "closed" || isExcluded))) {
      const result = this.now >= bonus.expiresAt ? "expired" : "cancelled"
      this.ended.set(bonus.id, { result, converted: 0, forfeited: money })
      return false
    }
    if (active === null ? !mayRun : !this.givesWay(player, bonus)) {
      player.queue.push({ bonus, credit: money, ms: bonus.expiresAt - this.now })
    } else {
      this.displace(player)
      player.active = bonus
      player.bonus = money
    }
    player.queue.sort((a, b) => a.bonus.id - b.bonus.id)
    return true
  }

  /** Whether the running bonus is a later one of which nothing was played. */
  private givesWay(player: ModelPlayer, bonus: ModelBonus): boolean {
    const { active } = player
    return active !== null && active.id > bonus.id && active.wagered === 0 && player.bonus === active.amount &&
      !this.isOpen(player, active) && this.mayReceive(player)
  }

  /** The running bonus, if any, waits again, with all of its time. */
  private displace(player: ModelPlayer): void {
    const { active } = player
    if (active === null) return
    player.queue.push({ bonus: active, credit: player.bonus, ms: active.validDays * dayMs })
    player.queue.sort((a, b) => a.bonus.id - b.bonus.id)
    this.past.set(active.id, { bonus: active, late: 0 })
    player.active = null
    player.bonus = 0
    player.hasMoved = true
  }

  /** Those that ran before and wait end as if they ran, and the first of them runs when nothing of the running one was played. */
  private judgeWaiting(player: ModelPlayer): void {
    for (const waits of player.queue.filter(({ bonus }) => this.past.has(bonus.id))) {
      const { bonus, credit, ms } = waits
      const isMet = bonus.wagered >= bonus.requirement
      const isOpen = this.isOpen(player, { ...bonus, openUntil: this.now < bonus.openUntil ? bonus.openUntil : 0 })
      if (!isMet && (credit !== 0 || isOpen)) continue
      player.queue = player.queue.filter((other) => other !== waits)
      bonus.expiresAt = this.now + ms
      if (isMet) this.convert(player, bonus, credit)
      else this.ended.set(bonus.id, { result: "lost", converted: 0, forfeited: 0 })
    }
    const [first] = player.queue
    if (first !== undefined && this.past.has(first.bonus.id) && this.givesWay(player, first.bonus)) {
      this.displace(player)
    }
  }

  /** The requirement is met: pays out. Nothing is left, and nothing can come back: lost. Then the next one, as often as it takes. */
  private judge(player: ModelPlayer): void {
    this.judgeWaiting(player)
    this.startNext(player)
    const bonus = player.active
    if (bonus === null) return
    if (bonus.wagered >= bonus.requirement) {
      const converted = bonus.maxConversion === 0 ? player.bonus : Math.min(player.bonus, bonus.maxConversion)
      player.real += converted
      this.forfeit(player, "converted", converted)
    } else if (player.bonus === 0 && !this.isOpen(player, bonus)) {
      this.forfeit(player, "lost")
    } else {
      return
    }
    this.judge(player)
  }

  /** Removes the rest of the running bonus. */
  private forfeit(player: ModelPlayer, result: BonusResult, converted = 0): void {
    if (player.active === null) return
    if (player.bonus !== 0) player.hasMoved = true
    this.past.set(player.active.id, { bonus: player.active, late: 0 })
    this.ended.set(player.active.id, { result, converted, forfeited: player.bonus - converted })
    player.bonus = 0
    player.active = null
  }

  private mayReceive(player: ModelPlayer): boolean {
    return player.status === "active" && this.now >= player.excludedUntil && !player.excludedFromBonuses
  }

  private startNext(player: ModelPlayer): void {
    if (player.active !== null || !this.mayReceive(player)) return
    const next = player.queue.shift()
    if (next === undefined) return
    player.active = next.bonus
    player.active.expiresAt = this.now + next.ms
    if (next.credit !== 0 || player.bonus !== 0) player.hasMoved = true
    // excludes amounts credited by staff while no bonus ran
    player.bonus = next.credit
  }

  /** Applies due changes: the running bonus expires, the next one starts. */
  private applyDue(player: ModelPlayer): void {
    const { active } = player
    if (active !== null && this.now >= active.openUntil) active.openUntil = 0
    if (active !== null && this.now >= active.expiresAt) this.forfeit(player, "expired")
    this.startNext(player)
  }

  /** One step of the sequence for all that an action has moved. */
  private count(player: ModelPlayer): void {
    if (!this.isMidMessage) this.judge(player)
    if (player.hasMoved) player.walletSeq++
    player.hasMoved = false
  }

  /** Runs an action; one that is refused leaves no trace. */
  private attempt<A>(playerId: number, run: () => A | string): A | string {
    const player = this.player(playerId)
    const isDue = player.active === null
      ? player.queue.length > 0
      : this.now >= player.active.expiresAt || player.active.openUntil !== 0
    const before = isDue ? this.save() : undefined
    const answer = run()
    if (typeof answer === "string" && before !== undefined) this.restore(before)
    return answer
  }

  /** Whether something of the bonus is at stake. */
  private isOpen(player: ModelPlayer, bonus: ModelBonus): boolean {
    return bonus.openUntil !== 0 ||
      [...this.settled.values()].some((message) =>
        message.kind === "bet" && message.playerId === player.id && message.bonus !== 0 &&
        message.bonusId === bonus.id &&
        !message.takenBack && !this.isClosed(player.id, message.game, message.round)
      )
  }

  // Answers

  private answer(
    player: ModelPlayer,
    status: "processed" | "replayed" | "ignored",
    real: number,
    bonus: number,
    round: "open" | "closed"
  ): ModelAnswer {
    this.count(player)
    const { bonus: bonusBalance, real: balance, walletSeq } = player
    return {
      status,
      first: status === "ignored" ? "ignored" : "processed",
      real,
      bonus,
      balance,
      bonusBalance,
      walletSeq,
      round
    }
  }

  private moved(
    player: ModelPlayer,
    real: number,
    bonus: number,
    round: "open" | "closed",
    moves = real !== 0 || bonus !== 0
  ): ModelAnswer {
    if (moves) player.hasMoved = true
    return this.answer(player, "processed", real, bonus, round)
  }

  /** Answer to a known id, which may have a tombstone. */
  private again(
    player: ModelPlayer,
    known: Settled,
    message: { readonly policy: SettlementPolicy },
    kind: Settled["kind"],
    content: string,
    isOfRound: boolean
  ): ModelAnswer {
    if (known.kind !== "tombstone") return this.replay(player, known, message, kind, content, isOfRound)
    if (message.policy.afterTombstone === "refuse") return "BET_ROLLED_BACK"
    return known.playerId === player.id ? this.answer(player, "ignored", 0, 0, "closed") : "DUPLICATE_TRANSACTION"
  }

  private replay(
    player: ModelPlayer,
    known: Settled,
    { policy }: { readonly policy: SettlementPolicy },
    kind: Settled["kind"],
    content: string,
    isOfRound: boolean
  ): ModelAnswer {
    const isSame = known.kind === kind && known.playerId === player.id && {
      content: known.content === content,
      round: isOfRound,
      kind: true
    }[policy.sameMessage]
    if (!isSame) return "DUPLICATE_TRANSACTION"
    const isOpen = known.round !== "" && !this.isClosed(player.id, known.game, known.round)
    const answer = this.answer(player, "replayed", known.real, known.bonus, isOpen ? "open" : "closed")
    return typeof answer === "string" ? answer : { ...answer, first: known.status }
  }

  private save() {
    return structuredClone({
      players: this.players,
      settled: this.settled,
      closed: this.closed,
      open: this.open,
      ended: this.ended,
      past: this.past,
      plays: this.plays
    })
  }

  private restore(saved: ReturnType<SettlementModel["save"]>): void {
    this.players = saved.players
    this.settled = saved.settled
    this.closed = saved.closed
    this.open = saved.open
    this.ended = saved.ended
    this.past = saved.past
    this.plays = saved.plays
  }
}

/**
 * Mutable working copy of a player during one decision. Rules post to it step by step; `accept` turns it into the next player and the change to
 * write, and a dropped draft leaves no trace. Never outlives one call of a pure rule.
 */
import {
  type ActiveBonus,
  asActivated,
  asPending,
  type BonusResult,
  contribution,
  dayMs,
  type GameType,
  type GrantedBonus,
  type PendingBonus,
  type PlayerBonus,
  playerBonusFields,
  wager
} from "./Bonus.ts"
import {
  type BonusChange,
  type CasinoEntryType,
  type CasinoReferences,
  type CasinoSource,
  type Change,
  type Entry,
  type EntryReferences,
  type EntryType,
  type Event,
  noChange,
  type ReportCount,
  type RoundChange,
  settingsOf,
  type WalletKind
} from "./Change.ts"
import { dayOf, reportCountOf } from "./ReportCounts.ts"
import type { Accept, Context } from "./Decision.ts"
import type { EventType } from "./Events.ts"
import { endedWaiting, interrupted, mayReceiveBonuses, takesPlaceOf } from "./WaitingBonuses.ts"
import { PlayDraft } from "./PlayDraft.ts"
import { isBalance } from "../Money.ts"
import type { Player } from "./Player.ts"
import { append, newest, type Recent, remove, replace } from "./Recent.ts"
import {
  indexOfRound,
  indexOfTransaction,
  type Round,
  roundsCarried,
  type Transaction,
  transactionsCarried
} from "./Rounds.ts"

export class Draft extends PlayDraft {
  real: number
  bonus: number
  walletSeq: number
  activeBonus: ActiveBonus | null
  pendingBonuses: ReadonlyArray<PendingBonus>
  /** True while further transactions of the same message follow: the end of a bonus is judged after the last one. */
  isMidMessage = false
  rounds: Recent<Round>
  transactions: Recent<Transaction>

  private readonly context: Context
  private nextId: number
  private entrySeq: number
  private realUpdatedAt: number
  private bonusUpdatedAt: number
  private readonly entries: Array<Entry> = []
  private readonly newTransactions: Array<Transaction> = []
  private readonly roundChanges: Array<RoundChange> = []
  /** Allocated on first use: most decisions write no bonus. */
  private bonusChanges: Map<number, BonusChange> | undefined
  private readonly events: Array<Event> = []
  private readonly counts: Array<ReportCount> = []
  private bonusGrants: Player["bonusGrants"]
  /** Number of entries already covered by the wallet sequence, and its value then. */
  private entriesCovered = 0
  private walletSeqCovered: number

  constructor(player: Player, context: Context) {
    super(player, context.now)
    this.context = context
    this.nextId = context.firstId
    this.real = player.real
    this.bonus = player.bonus
    this.walletSeq = player.walletSeq
    this.entrySeq = player.entrySeq
    this.realUpdatedAt = player.realUpdatedAt
    this.bonusUpdatedAt = player.bonusUpdatedAt
    this.walletSeqCovered = player.walletSeq
    this.activeBonus = player.activeBonus
    this.pendingBonuses = player.pendingBonuses
    this.bonusGrants = player.bonusGrants
    this.rounds = player.rounds
    this.transactions = player.transactions
    // changes due by time precede the decision; bonuses that wait are judged with it
    const { activeBonus: running } = player
    if (running === null) this.activateNext(player)
    else if (context.now >= running.expiresAt) {
      this.endBonus("expired")
      this.activateNext(player)
    } else if (context.now >= (running.openUntil ?? Infinity)) this.activeBonus = { ...running, openUntil: null }
  }

  takeId(): number {
    return this.nextId++
  }

  /** Posts a ledger entry and returns its id. Zero posts nothing. */
  post(
    wallet: WalletKind,
    type: CasinoEntryType,
    amount: number,
    references: CasinoReferences
  ): number | undefined
  post(
    wallet: WalletKind,
    type: Exclude<EntryType, CasinoEntryType>,
    amount: number,
    references: EntryReferences
  ): number | undefined
  post(
    wallet: WalletKind,
    type: EntryType,
    amount: number,
    references: EntryReferences & Partial<CasinoReferences>
  ): number | undefined {
    if (amount === 0) return undefined
    const balanceAfter = wallet === "real" ? this.real += amount : this.bonus += amount
    // unreachable by the rules; an inexact balance must never be written
    if (!Number.isSafeInteger(balanceAfter)) throw new RangeError(`a balance of player ${this.player.id} is not exact`)
    if (wallet === "real") this.realUpdatedAt = this.now
    else this.bonusUpdatedAt = this.now
    const id = this.takeId()
    const source = references.source ?? null
    const counted = reportCountOf({ wallet, type, amount }, this.day, source)
    if (counted !== undefined) this.counts.push(counted)
    this.countInSession(type, amount)
    if (type === "casino_bet" && source !== null) this.visit(source.isLive ? "live" : "rng")
    if (type === "deposit") this.visit("deposit")
    this.entries.push({
      id,
      playerId: this.player.id,
      operatorId: this.player.operatorId,
      seq: ++this.entrySeq,
      wallet,
      type,
      amount,
      balanceAfter,
      currency: this.player.currency,
      paymentRequestId: references.paymentRequestId ?? null,
      gameId: references.gameId ?? null,
      gameRoundId: references.gameRoundId ?? null,
      playerBonusId: references.playerBonusId ?? null,
      createdAt: this.now
    })
    return id
  }

  /** Counts a round on the day it was opened, once it has a bet or a win. */
  countRound(source: CasinoSource, openedAt = this.now): void {
    this.counts.push({ figure: "rounds", day: dayOf(openedAt), source, amount: 1, bonusAmount: 0 })
  }

  /** Counts a paid withdrawal: its ledger entry was posted with the request. */
  countPayout(amount: number): void {
    this.counts.push({ figure: "withdrawals", day: this.day, source: null, amount, bonusAmount: 0 })
    this.visit("withdrawal")
  }

  /** Adds a provider transaction to the carried ones and to the change. */
  record(transaction: Transaction): void {
    this.transactions = append(this.transactions, transaction.transactionId, transaction)
    this.newTransactions.push(transaction)
  }

  /** Carries a transaction loaded from the store, and its round, so that the next retry is answered from memory. */
  recall(transaction: Transaction, round: Round | null): void {
    if (indexOfTransaction(this.transactions, transaction.providerId, transaction.transactionId) < 0) {
      this.transactions = append(this.transactions, transaction.transactionId, transaction)
    }
    if (round !== null && indexOfRound(this.rounds, round.gameId, round.roundId) < 0) {
      this.rounds = append(this.rounds, round.roundId, round)
    }
  }

  /** The player with the recalled records and no other change of this draft. */
  get unchanged(): Player {
    return this.transactions === this.player.transactions && this.rounds === this.player.rounds
      ? this.player
      : {
        ...this.player,
        rounds: newest(this.rounds, roundsCarried),
        transactions: newest(this.transactions, transactionsCarried)
      }
  }

  /** Marks a carried transaction as rolled back. Only the rollback's own row is written. */
  markRolledBack(target: Transaction): void {
    this.carryAs(target, { ...target, rolledBack: true })
  }

  /** Marks a carried transaction as valid again after its rollback was rolled back. */
  markReinstated(target: Transaction): void {
    this.carryAs(target, { ...target, rolledBack: false, reinstated: target.reinstated + 1 })
  }

  /** Carries the new state whether the target was carried or came from the store: later steps of the same decision must see it. */
  private carryAs(target: Transaction, next: Transaction): void {
    const index = indexOfTransaction(this.transactions, target.providerId, target.transactionId)
    this.transactions = index < 0
      ? append(this.transactions, target.transactionId, next)
      : replace(this.transactions, index, next)
  }

  /** Replaces a round by its next state, as the newest, and adds it to the change. */
  writeRound(round: Round, isNew: boolean): void {
    const index = isNew ? -1 : indexOfRound(this.rounds, round.gameId, round.roundId)
    this.rounds = append(index < 0 ? this.rounds : remove(this.rounds, index), round.roundId, round)
    this.roundChanges.push({ round, isNew })
  }

  emit(type: EventType, data: { readonly [field: string]: unknown }): void {
    this.events.push({
      id: this.takeId(),
      operatorId: this.player.operatorId,
      playerId: this.player.id,
      type,
      data,
      createdAt: this.now
    })
  }

  /** Counts a stake towards the running bonus and returns the wagered amount added. */
  wager(stake: number, gameId: number, gameType: GameType): number {
    const bonus = this.activeBonus
    if (bonus === null) return 0
    const added = wager(stake, contribution(bonus, gameId, gameType))
    if (added !== 0) this.activeBonus = { ...bonus, wagered: bonus.wagered + added }
    return added
  }

  /**
   * Grants a bonus: paid to the real wallet at once without a wagering requirement, queued while another one runs, otherwise activated and credited.
   */
  grantBonus(bonus: GrantedBonus, note: string | null): PlayerBonus {
    // the running one may be over by now
    this.judgeBonuses(this.player)
    const pending = { ...bonus, interrupted: null }
    const granted = asPending(pending)
    this.bonusGrants = { ...this.bonusGrants, [bonus.bonusId]: (this.bonusGrants[bonus.bonusId] ?? 0) + 1 }
    this.changeBonus({ bonus: granted, isNew: true, note })
    if (bonus.wagerRequirement === 0) {
      const references = { playerBonusId: bonus.id }
      this.post("bonus", "bonus_correction_up", bonus.amount, references)
      const paid = this.creditConversion(bonus, bonus.amount)
      const finished = {
        ...granted,
        ...paid,
        state: "finished" as const,
        result: "converted" as const,
        startedAt: this.now,
        finishedAt: this.now
      }
      this.emitBonus("bonus.granted", { ...granted, state: "activated", startedAt: this.now })
      this.finish(finished)
      return finished
    }
    if (this.activeBonus !== null || this.pendingBonuses.length > 0) {
      this.pendingBonuses = [...this.pendingBonuses, pending]
      this.emitBonus("bonus.granted", granted)
      return granted
    }
    const activated = asActivated(this.activate(pending))
    this.emitBonus("bonus.granted", activated)
    return activated
  }

  /** Forfeits staff corrections credited to the bonus wallet while no bonus ran: the next bonus must not convert them. */
  forfeitLoose(): void {
    if (this.activeBonus === null) this.post("bonus", "bonus_correction_down", -this.bonus, {})
  }

  private activate({ interrupted, ...bonus }: PendingBonus): ActiveBonus {
    this.forfeitLoose()
    const credit = interrupted?.held ?? bonus.amount
    const active: ActiveBonus = {
      ...bonus,
      wagered: interrupted?.wagered ?? 0,
      openRounds: interrupted?.openRounds ?? 0,
      openUntil: interrupted?.openUntil ?? null,
      restored: interrupted === null ? 0 : interrupted.restored + credit,
      short: interrupted?.short ?? 0,
      startedAt: interrupted?.startedAt ?? this.now,
      expiresAt: this.now + (interrupted?.remainingMs ?? bonus.validDays * dayMs)
    }
    this.activeBonus = active
    this.post("bonus", "bonus_correction_up", credit, { playerBonusId: bonus.id })
    return active
  }

  /** Activates the oldest pending bonus if none runs and the account may receive one. `player` provides the account status. */
  private activateNext(player: Player): void {
    const [next] = this.pendingBonuses
    if (next === undefined || this.activeBonus !== null || !mayReceiveBonuses(player, this.now)) return
    // balances leave room for rollbacks: it is activated once enough was spent
    if (!isBalance(this.bonus + (next.interrupted?.held ?? next.amount))) return
    this.pendingBonuses = this.pendingBonuses.slice(1)
    this.activate(next)
  }

  /** Adds a bonus to those that wait, in the order of their grants. */
  enqueue(bonus: PendingBonus): void {
    this.pendingBonuses = [...this.pendingBonuses, bonus].sort((a, b) => a.id - b.id)
    this.writeBonus(asPending(bonus))
  }

  /** Makes the running bonus, of which nothing was played, wait again: with its credit and all of its time. */
  displace(): void {
    const bonus = this.activeBonus
    if (bonus === null) return
    const displaced = interrupted(bonus, this.bonus, bonus.validDays * dayMs)
    this.post("bonus", "bonus_correction_down", -this.bonus, { playerBonusId: bonus.id })
    this.activeBonus = null
    this.enqueue(displaced)
  }

  /** Judges bonuses that wait: ends those that would have ended, lets an earlier one run again, and the oldest when none runs. */
  private judgeWaiting(player: Player): void {
    for (const bonus of this.pendingBonuses) {
      const ended = endedWaiting(bonus, this.now)
      if (ended === undefined) continue
      this.pendingBonuses = this.pendingBonuses.filter((other) => other !== bonus)
      if (ended.result === "converted") this.convert(ended, bonus.interrupted?.held ?? 0)
      else this.finish(ended)
    }
    const { activeBonus: running, pendingBonuses: [first] } = this
    const isDue = running !== null && first !== undefined && takesPlaceOf(first, running, this.bonus)
    if (isDue && mayReceiveBonuses(player, this.now)) this.displace()
    this.activateNext(player)
  }

  /** Converts a bonus that does not run: `money` returns to the bonus wallet first. */
  convert(bonus: PlayerBonus, money: number): void {
    this.post("bonus", "bonus_correction_up", money, { playerBonusId: bonus.id })
    this.finish({
      ...bonus,
      ...this.creditConversion(bonus, money),
      state: "finished",
      result: "converted",
      restored: bonus.restored + money,
      finishedAt: this.now
    })
  }

  /** Moves the convertible part of the bonus balance to the real wallet and forfeits the excess over the terms' maximum. */
  private creditConversion(bonus: GrantedBonus, balance: number) {
    const references = { playerBonusId: bonus.id }
    const converted = bonus.maxConversion === 0 ? balance : Math.min(balance, bonus.maxConversion)
    this.post("bonus", "bonus_conversion", -converted, references)
    this.post("real", "bonus_conversion", converted, references)
    this.post("bonus", "bonus_correction_down", -(balance - converted), references)
    return { converted, forfeited: balance - converted }
  }

  /** Ends the running bonus: pays out the converted part and forfeits the rest. The next one is activated at the end of the action. */
  endBonus(result: BonusResult): void {
    const bonus = this.activeBonus
    if (bonus === null) return
    const balance = this.bonus
    let ended = { converted: 0, forfeited: balance }
    if (result === "converted") ended = this.creditConversion(bonus, balance)
    else this.post("bonus", "bonus_correction_down", -balance, { playerBonusId: bonus.id })
    this.activeBonus = null
    this.finish({ ...asActivated(bonus), ...ended, state: "finished", result, finishedAt: this.now })
  }

  /** A finished bonus as changed by this decision, or as known from the store: null without one, undefined when it was not looked up. */
  endedBonus(bonusId: number): PlayerBonus | null | undefined {
    // its end may be undone, and still be what was written or looked up last
    if (this.activeBonus?.id === bonusId) return null
    const written = this.bonusWritten(bonusId)
    if (written !== undefined) return written.state === "finished" ? written : null
    return this.context.known?.bonuses.get(bonusId)
  }

  /** Writes a finished bonus and emits its event. */
  finish(bonus: PlayerBonus): void {
    this.writeBonus(bonus)
    this.emitBonus("bonus.completed", bonus)
  }

  /** Adds a bonus to the change. */
  writeBonus(bonus: PlayerBonus): void {
    const earlier = this.bonusChanges?.get(bonus.id)
    this.changeBonus({ bonus, isNew: earlier?.isNew ?? false, note: earlier?.note ?? null })
  }

  private changeBonus(change: BonusChange): void {
    this.bonusChanges ??= new Map()
    this.bonusChanges.set(change.bonus.id, change)
  }

  emitBonus(type: "bonus.granted" | "bonus.completed", bonus: PlayerBonus): void {
    this.emit(type, { bonus: playerBonusFields(this.player.id, this.player.currency, bonus) })
  }

  /** State of a bonus as written by this decision, if any. */
  bonusWritten(bonusId: number): PlayerBonus | undefined {
    return this.bonusChanges?.get(bonusId)?.bonus
  }

  /** Ends the running bonus when its requirement is met, or when it is empty and nothing can bring money back to it. True when it ended. */
  private endBonusWhenDue(): boolean {
    const bonus = this.activeBonus
    if (bonus === null) return false
    const isMet = bonus.wagered >= bonus.wagerRequirement
    if (!isMet && (this.bonus !== 0 || bonus.openRounds > 0 || bonus.openUntil !== null)) return false
    this.endBonus(isMet ? "converted" : "lost")
    return true
  }

  /** Ends and activates bonuses as long as one is due. `player` provides the account status. */
  private judgeBonuses(player: Player): void {
    do if (this.pendingBonuses.length > 0) this.judgeWaiting(player)
    while (this.endBonusWhenDue())
  }

  /** Completes an action: raises the wallet sequence if it moved money, unless its rule has. After the last one of a message, judges bonuses. */
  completeAction(player = this.player): void {
    if (!this.isMidMessage) this.judgeBonuses(player)
    if (this.entries.length > this.entriesCovered && this.walletSeq === this.walletSeqCovered) this.walletSeq++
    this.entriesCovered = this.entries.length
    this.walletSeqCovered = this.walletSeq
  }

  /** Accepts all that was posted and emitted, with this reply. */
  accept<Reply>(reply: Reply, more?: Omit<Partial<Change>, "events">, settings?: Partial<Player>): Accept<Reply> {
    this.completeAction(settings === undefined ? this.player : { ...this.player, ...settings })
    const awake = this.awake(settings)
    const { activeBonus } = this
    if (activeBonus !== null && activeBonus !== this.player.activeBonus) this.writeBonus(asActivated(activeBonus))
    return {
      _tag: "Accept",
      state: {
        ...this.player,
        ...settings,
        ...awake,
        counters: this.counters,
        session: this.session,
        obligations: this.obligations,
        activity: this.activity,
        real: this.real,
        bonus: this.bonus,
        realUpdatedAt: this.realUpdatedAt,
        bonusUpdatedAt: this.bonusUpdatedAt,
        entrySeq: this.entrySeq,
        walletSeq: this.walletSeq,
        activeBonus,
        pendingBonuses: this.pendingBonuses,
        bonusGrants: this.bonusGrants,
        rounds: newest(this.rounds, roundsCarried),
        transactions: newest(this.transactions, transactionsCarried)
      },
      reply,
      change: {
        ...noChange,
        entries: this.entries,
        transactions: this.newTransactions,
        rounds: this.roundChanges,
        counts: this.counts,
        visits: this.visits,
        bonuses: this.bonusChanges === undefined ? noChange.bonuses : [...this.bonusChanges.values()],
        obligations: this.obligationChanges,
        ...more,
        ...awake === undefined ? awake : { settings: settingsOf({ ...this.player, ...settings, ...awake }, this.now) },
        events: this.events
      },
      idsUsed: this.nextId - this.context.firstId
    }
  }

  get hasChange(): boolean {
    return this.newTransactions.length > 0 || this.entries.length > 0 || this.roundChanges.length > 0 ||
      this.bonusChanges !== undefined
  }
}

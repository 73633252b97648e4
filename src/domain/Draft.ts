/**
 * A player in the middle of one decision. Rules post to a draft step by step; `accept` turns it into the next player and the
 * change to write, and a draft that is dropped leaves no trace. Lives inside one call of one pure rule, never longer.
 */
import { contribution, type EndedBonus, type GameType, wager } from "./Bonus.ts"
import {
  type Change,
  type Entry,
  type EntryType,
  type Event,
  noChange,
  type RoundChange,
  type WalletKind
} from "./Change.ts"
import type { Accept, Context } from "./Decision.ts"
import type { ActiveBonus, BonusResult } from "./Bonus.ts"
import type { Counters } from "./Limits.ts"
import type { Player } from "./Player.ts"
import { carry, type Round, roundsCarried, type Transaction, transactionsCarried } from "./Rounds.ts"

/** What an entry is about, beside its wallet, type and amount. */
export interface EntryReferences {
  readonly paymentRequestId?: number
  readonly gameId?: number | null
  readonly gameRoundId?: string | null
  readonly playerBonusId?: number | null
}

export class Draft {
  readonly player: Player
  readonly now: number
  real: number
  bonus: number
  walletSeq: number
  counters: Counters
  activeBonus: ActiveBonus | null
  rounds: ReadonlyArray<Round>
  transactions: ReadonlyArray<Transaction>

  private readonly context: Context
  private nextId: number
  private entrySeq: number
  private realUpdatedAt: number
  private bonusUpdatedAt: number
  private readonly entries: Array<Entry> = []
  private readonly newTransactions: Array<Transaction> = []
  private readonly roundChanges: Array<RoundChange> = []
  private readonly endedBonuses: Array<EndedBonus> = []
  private readonly events: Array<Event> = []

  constructor(player: Player, context: Context) {
    this.player = player
    this.context = context
    this.now = context.now
    this.nextId = context.firstId
    this.real = player.real
    this.bonus = player.bonus
    this.walletSeq = player.walletSeq
    this.entrySeq = player.entrySeq
    this.realUpdatedAt = player.realUpdatedAt
    this.bonusUpdatedAt = player.bonusUpdatedAt
    this.counters = player.counters
    this.activeBonus = player.activeBonus
    this.rounds = player.rounds
    this.transactions = player.transactions
  }

  takeId(): number {
    return this.nextId++
  }

  /** Posts one entry and gives its id. Zero posts nothing: a ledger entry moves money. */
  post(wallet: WalletKind, type: EntryType, amount: number, references: EntryReferences): number | undefined {
    if (amount === 0) return undefined
    const balanceAfter = wallet === "real" ? this.real += amount : this.bonus += amount
    // no rule lets it come to this; if one does, nothing is written rather than something inexact
    if (!Number.isSafeInteger(balanceAfter)) throw new RangeError(`a balance of player ${this.player.id} is not exact`)
    if (wallet === "real") this.realUpdatedAt = this.now
    else this.bonusUpdatedAt = this.now
    const id = this.takeId()
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

  /** Carries a message and has it written. */
  record(transaction: Transaction): void {
    this.transactions = [...this.transactions, transaction]
    this.newTransactions.push(transaction)
  }

  /** Carries a message that the store knew, and its round, so that the next retry is answered from memory. */
  recall(transaction: Transaction, round: Round | null): void {
    const knowsTransaction = this.transactions.some((carried) =>
      carried.transactionId === transaction.transactionId && carried.providerId === transaction.providerId
    )
    if (!knowsTransaction) this.transactions = [...this.transactions, transaction]
    const knowsRound = round === null ||
      this.rounds.some((carried) => carried.roundId === round.roundId && carried.gameId === round.gameId)
    if (!knowsRound) this.rounds = [...this.rounds, round]
  }

  /** The player with what was recalled; nothing else of the draft. */
  get unchanged(): Player {
    return this.transactions === this.player.transactions && this.rounds === this.player.rounds
      ? this.player
      : {
        ...this.player,
        rounds: carry(this.rounds, roundsCarried),
        transactions: carry(this.transactions, transactionsCarried)
      }
  }

  /**
   * Carries a message as taken back, whether it was carried before or came from the store: what follows in the same decision
   * must see it. The rollback's own row is what is written.
   */
  markRolledBack(target: Transaction): void {
    const rolledBack = { ...target, rolledBack: true }
    const isTarget = (transaction: Transaction) =>
      transaction.transactionId === target.transactionId && transaction.providerId === target.providerId
    this.transactions = this.transactions.some(isTarget)
      ? this.transactions.map((transaction) => isTarget(transaction) ? rolledBack : transaction)
      : [...this.transactions, rolledBack]
  }

  /** Puts a round's next form in place of the one before, newest last, and has it written. */
  writeRound(round: Round, isNew: boolean): void {
    const others = this.rounds.filter((other) => other.gameId !== round.gameId || other.roundId !== round.roundId)
    this.rounds = [...others, round]
    this.roundChanges.push({ round, isNew })
  }

  emit(type: string, data: { readonly [field: string]: unknown }): void {
    this.events.push({
      id: this.takeId(),
      operatorId: this.player.operatorId,
      playerId: this.player.id,
      type,
      data,
      createdAt: this.now
    })
  }

  /** Counts a stake towards the running bonus and gives what it added. */
  wager(stake: number, gameId: number, gameType: GameType): number {
    const bonus = this.activeBonus
    if (bonus === null) return 0
    const added = wager(stake, contribution(bonus, gameId, gameType))
    if (added !== 0) this.activeBonus = { ...bonus, wagered: bonus.wagered + added }
    return added
  }

  /** Ends the running bonus: pays out what converts, forfeits the rest. */
  endBonus(result: BonusResult): void {
    const bonus = this.activeBonus
    if (bonus === null) return
    const references = { playerBonusId: bonus.id }
    const balance = this.bonus
    const converted = result !== "converted"
      ? 0
      : bonus.maxConversion === 0
      ? balance
      : Math.min(balance, bonus.maxConversion)
    this.post("bonus", "bonus_conversion", -converted, references)
    this.post("real", "bonus_conversion", converted, references)
    this.post("bonus", "bonus_correction_down", -(balance - converted), references)
    this.endedBonuses.push({
      id: bonus.id,
      result,
      wagered: bonus.wagered,
      converted,
      forfeited: balance - converted,
      finishedAt: this.now
    })
    this.activeBonus = null
  }

  /** How a bonus ended within this decision, if it did. */
  endedHere(bonusId: number): BonusResult | undefined {
    return this.endedBonuses.find((bonus) => bonus.id === bonusId)?.result
  }

  /**
   * Ends the running bonus where its terms say so: the requirement is met, or nothing of it is left to be won back. Called
   * once at the end of an action.
   */
  closeBonusWhenDue(): void {
    const bonus = this.activeBonus
    if (bonus === null) return
    if (bonus.wagered >= bonus.wagerRequirement) this.endBonus("converted")
    else if (this.bonus === 0 && bonus.openRounds === 0) this.endBonus("lost")
  }

  /** The decision to do all that was posted, answering `reply`. */
  accept<Reply>(reply: Reply, more?: Partial<Change>, settings?: Partial<Player>): Accept<Reply> {
    return {
      _tag: "Accept",
      state: {
        ...this.player,
        ...settings,
        counters: this.counters,
        real: this.real,
        bonus: this.bonus,
        realUpdatedAt: this.realUpdatedAt,
        bonusUpdatedAt: this.bonusUpdatedAt,
        entrySeq: this.entrySeq,
        walletSeq: this.walletSeq,
        activeBonus: this.activeBonus,
        rounds: carry(this.rounds, roundsCarried),
        transactions: carry(this.transactions, transactionsCarried)
      },
      reply,
      change: {
        ...noChange,
        entries: this.entries,
        transactions: this.newTransactions,
        rounds: this.roundChanges,
        activeBonus: this.activeBonus === this.player.activeBonus ? null : this.activeBonus,
        endedBonuses: this.endedBonuses,
        events: this.events,
        ...more
      },
      idsUsed: this.nextId - this.context.firstId
    }
  }

  get hasChange(): boolean {
    return this.newTransactions.length > 0 || this.entries.length > 0 || this.roundChanges.length > 0
  }
}

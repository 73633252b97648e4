/**
 * Runs rules one after the other on a store in memory, in place of a player's actor. Checks the
 * ledger invariants on every change.
 */
import { assert } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { isDeepStrictEqual } from "node:util"
import { type Change, noChange, type PlayerSettings, settingsOf } from "../../src/domain/state/Change.ts"
import { type Accept, type Context, type Knowledge, missing, type Step } from "../../src/domain/state/Decision.ts"
import type { PlayerBonus } from "../../src/domain/state/Bonus.ts"
import type { Player } from "../../src/domain/state/Player.ts"
import type { Refusal } from "../../src/domain/Refusal.ts"
import { hashOfName } from "../../src/domain/state/Recent.ts"
import { type Action, settle, settleAll } from "../../src/domain/settlement/Settlement.ts"
import { roundKey, roundsCarried, type Transaction, transactionsCarried } from "../../src/domain/state/Rounds.ts"
import type { Rejected } from "../../src/engine/Failures.ts"
import { judgeEnd, toldOf } from "./BonusEnds.ts"
import { checkEntries, checkTransaction, type Report } from "./LedgerInvariants.ts"
import * as MemoryPlayerStore from "./MemoryPlayerStore.ts"
import { noon } from "./Messages.ts"

/** The step that settles one message. */
export const does = (action: Action) => (player: Player, context: Context) => settle(player, action, context)

/** The step that settles all messages, or none. */
export const doesAll = (...actions: ReadonlyArray<Action>) => (player: Player, context: Context) =>
  settleAll(player, actions, context)

export type Answer<Reply, Error> = { readonly reply: Reply } | { readonly refusal: Error }

/** How often a rule may ask the store before an actor would give it up. */
const maxAttempts = 6

/** Cheap assertion for conditions checked a hundred thousand times. */
const mustBe = (holds: boolean, law: string, ...about: ReadonlyArray<unknown>): void => {
  if (!holds) assert.fail(`${law}: ${JSON.stringify(about)}`)
}

/** As `assert.deepStrictEqual`, which takes many times as long to see that both are equal. */
export const mustEqual = (actual: unknown, expected: unknown, about?: () => string): void => {
  if (!isDeepStrictEqual(actual, expected)) assert.deepStrictEqual(actual, expected, about?.())
}

/** Invariants of every change, for all rules. */
const checkLaws = (before: Player, accept: Accept<unknown>, change: Change, firstId: number): void => {
  const { idsUsed, state: after } = accept
  const fail: Report = (invariant, text) => assert.fail(`${invariant}: ${text}`)
  const position = { real: before.real, bonus: before.bonus, seq: before.entrySeq }
  const { bonus, real, seq } = checkEntries(
    `player ${before.id}`,
    position,
    change.entries,
    fail,
    new Set(change.transactions.flatMap(({ entryIds, kind }) => kind === "rollback" ? entryIds : []))
  )
  const ids = new Set<number>()
  for (const entry of change.entries) {
    mustBe(entry.playerId === before.id, "a player's entries are the player's own", entry)
    mustBe(entry.id >= firstId && entry.id < firstId + idsUsed, "an entry's id is one of those given", entry)
    ids.add(entry.id)
  }
  mustBe(ids.size === change.entries.length, "ids differ", change.entries)
  mustBe(after.real === real && after.bonus === bonus, "a balance is the sum of its entries", after)
  mustBe(after.entrySeq === seq, "the last number is kept", after)
  for (const balance of [after.real, after.bonus]) {
    mustBe(Number.isSafeInteger(balance) && !Object.is(balance, -0), "a balance is a whole number", after)
  }
  for (const transaction of change.transactions) {
    checkTransaction(`player ${before.id}`, transaction, change.entries, fail)
  }
  // in a batch the end of a bonus may go with a replay in front of the one message that is new
  const rise = after.walletSeq - before.walletSeq
  const isBonusOver = change.bonuses.some(({ bonus }) => bonus.state === "finished")
  mustBe(
    change.transactions.length > 1 || rise === Math.min(1, change.entries.length) ||
      (isBonusOver && change.entries.length > 1 && rise === 2),
    "the wallet sequence rises once per action that moves money, and never otherwise",
    change
  )
}

/** Deep-freezes a value, so that no rule mutates shared state. */
const freeze = <A>(value: A): A => {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const part of Object.values(value)) freeze(part)
  return value
}

export class RuleRunner {
  readonly store: MemoryPlayerStore.MemoryPlayerStore
  /** Epoch milliseconds. */
  now = noon
  /** How often the store was asked. */
  lookUps = 0
  private readonly actors = new Map<number, { state: Player; version: number }>()
  private readonly forgets: () => boolean
  private readonly rows = new Map<string, Transaction>()
  private readonly bonuses = new Map<number, PlayerBonus>()
  private nextId = 1000

  /** `forgets` says after each command whether its player leaves memory, as an idle one does. */
  constructor(players: ReadonlyArray<Player>, forgets: () => boolean = () => false) {
    this.store = MemoryPlayerStore.make()
    this.forgets = forgets
    for (const player of players) Effect.runSync(this.store.add(player))
  }

  player(playerId = 1): Player {
    return this.actorOf(playerId).state
  }

  forget(): void {
    this.actors.clear()
  }

  /** Changes a player's settings directly, without a rule. */
  set(changed: Partial<PlayerSettings>, playerId = 1): void {
    this.ask((player) => {
      const state = { ...player, ...changed }
      const change = { ...noChange, settings: settingsOf(state, this.now) }
      return { _tag: "Accept", state, reply: undefined, change, idsUsed: 0 }
    }, playerId)
  }

  ask<Reply, Error>(step: Step<Reply, Error>, playerId = 1): Answer<Reply, Error> {
    const actor = this.actorOf(playerId)
    let known: Knowledge | undefined
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const before = actor.state
      const decision = step(before, { now: this.now, firstId: this.nextId, known })
      if (decision._tag === "Missing") {
        this.lookUps++
        known = Effect.runSync(this.store.lookUp(before, decision.query, known))
        continue
      }
      if (decision._tag === "Refuse") return this.leave(playerId, { refusal: decision.error })
      const { change, reply } = decision
      const state = freeze(decision.state)
      if (change === null) {
        // a decision without writes changes no state, but the player may carry more stored rows
        mustEqual(MemoryPlayerStore.asLoaded(state), MemoryPlayerStore.asLoaded(before))
        actor.state = state
        return this.leave(playerId, { reply })
      }
      checkLaws(before, decision, change, this.nextId)
      this.nextId += decision.idsUsed
      const unit = { key: playerId, version: actor.version, before, after: state, changes: [change] }
      const rejected = this.commit(unit)
      if (rejected === undefined) {
        this.checkEnds(change)
        actor.state = state
        actor.version++
        return this.leave(playerId, { reply })
      }
      assert.strictEqual(rejected.because, "clash", "nobody else writes")
      this.lookUps++
      known = Effect.runSync(this.store.lookUp(before, this.store.claims(before, change), known))
    }
    assert.fail("a rule asked the store over and over")
  }

  /** The reply of a step that is not refused. */
  accept<Reply, Error>(step: Step<Reply, Error>, playerId = 1): Reply {
    const answer = this.ask(step, playerId)
    if ("refusal" in answer) assert.fail(`refused: ${JSON.stringify(answer.refusal)}`)
    return answer.reply
  }

  /** The refusal of a step that is refused, which changes nothing. */
  refuse<Reply, Error extends Refusal>(step: Step<Reply, Error>, playerId = 1): Error {
    const entries = this.store.tables().entries.length
    const answer = this.ask(step, playerId)
    if ("reply" in answer) assert.fail(`not refused: ${JSON.stringify(answer.reply)}`)
    assert.strictEqual(this.store.tables().entries.length, entries)
    return answer.refusal
  }

  /** Checks that a player's carried rows match the store, since rules trust them. */
  checkMemory(playerId = 1): void {
    const { rounds, seeds, transactions } = this.player(playerId)
    for (const carried of transactions.items) {
      const { providerId, transactionId } = carried
      const { query } = missing({ providerId, transactionIds: [transactionId] })
      const known = Effect.runSync(this.store.lookUp(this.player(playerId), query, undefined))
      mustEqual(carried, known.transactions.get(transactionId))
    }
    const stored = this.store.tables().rounds.get(playerId)
    for (const carried of rounds.items) {
      mustEqual(carried, stored?.get(roundKey(carried.gameId, carried.roundId)))
    }
    if (seeds !== null) {
      const known = Effect.runSync(this.store.lookUp(this.player(playerId), missing({ seeds: true }).query, undefined))
      mustEqual(seeds, known.seeds)
    }
    mustBe(transactions.items.length <= transactionsCarried, "few messages are carried", transactions.items.length)
    mustBe(rounds.items.length <= roundsCarried, "few rounds are carried", rounds.items.length)
    mustEqual(transactions.hashes, transactions.items.map(({ transactionId }) => hashOfName(transactionId)))
    mustEqual(rounds.hashes, rounds.items.map(({ roundId }) => hashOfName(roundId)))
  }

  /** Checks that a change ends and undoes ends as its messages say, and tells of it. */
  private checkEnds(change: Change): void {
    for (const row of change.transactions) this.rows.set(`${row.providerId} ${row.transactionId}`, row)
    for (const { bonus, isNew } of change.bonuses) {
      const { hasResumed, isRight } = judgeEnd(
        this.bonuses.get(bonus.id),
        bonus,
        change,
        (providerId, transactionId) => this.rows.get(`${providerId} ${transactionId}`)
      )
      mustBe(isRight, "a bonus ends once", bonus, change)
      const grants = toldOf(change.events, bonus.id).filter((told) => told === "granted").length
      mustBe(grants === Number(isNew || hasResumed), "an end that is undone is told of", bonus, change)
      this.bonuses.set(bonus.id, bonus)
    }
  }

  private commit(unit: Parameters<MemoryPlayerStore.MemoryPlayerStore["commit"]>[0][number]): Rejected | undefined {
    const exit = Effect.runSyncExit(this.store.commit([unit]))
    if (Exit.isSuccess(exit)) return undefined
    const failure = Exit.findErrorOption(exit)
    if (failure._tag === "Some" && failure.value._tag === "Rejected") return failure.value
    assert.fail("the store in memory failed")
  }

  private actorOf(playerId: number): { state: Player; version: number } {
    const found = this.actors.get(playerId)
    if (found !== undefined) return found
    const loaded = Effect.runSync(this.store.load(playerId, false))
    if (loaded === undefined) assert.fail(`there is no player ${playerId}`)
    const actor = { state: freeze(loaded.state), version: loaded.version }
    this.actors.set(playerId, actor)
    return actor
  }

  private leave<A>(playerId: number, answer: A): A {
    if (this.forgets()) this.actors.delete(playerId)
    return answer
  }
}

/** The ledger of a store proves itself: no gap, every balance is the sum of its entries, and it starts from the players' own. */
export const checkLedger = (store: MemoryPlayerStore.MemoryPlayerStore, beginning: ReadonlyArray<Player>): void => {
  const { entries, players } = store.tables()
  for (const player of beginning) {
    const own = entries.filter(({ playerId }) => playerId === player.id).sort((a, b) => a.seq - b.seq)
    const balances = { real: player.real, bonus: player.bonus }
    own.forEach((entry, index) => {
      balances[entry.wallet] += entry.amount
      mustBe(entry.seq === player.entrySeq + index + 1, "entries are numbered without a gap", entry)
      mustBe(entry.balanceAfter === balances[entry.wallet], "each entry carries the balance after it", entry)
    })
    const state = players.get(player.id)?.state
    mustEqual([state?.real, state?.bonus], [balances.real, balances.bonus])
  }
}

import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "fast-check"
import {
  applyDueBonusesStep,
  cancelBonusStep,
  type CatalogueBonus,
  grantStep,
  redeemStep
} from "../../src/domain/bonus/BonusGrants.ts"
import { correctionStep } from "../../src/domain/wallet/Corrections.ts"
import type { Context } from "../../src/domain/state/Decision.ts"
import { type ExclusionPeriod, periodEnd } from "../../src/domain/jurisdiction/ExclusionPeriods.ts"
import { selfExcludeStep } from "../../src/domain/limit/Exclusions.ts"
import { depositStep } from "../../src/domain/payment/Payments.ts"
import { noRestrictions, type Player } from "../../src/domain/state/Player.ts"
import {
  type Action,
  type Bet,
  type Closing,
  settle,
  settleAll,
  type Settlement,
  type SettlementPolicy
} from "../../src/domain/settlement/Settlement.ts"
import { withdrawalStep } from "../../src/domain/payment/Withdrawals.ts"
import { policies } from "../kit/Policies.ts"
import { checkLedger, mustEqual, RuleRunner } from "../kit/RuleRunner.ts"
import { runs } from "../kit/Runs.ts"
import { bet, close, day, hour, makePlayer, minute, noon, rollback, roulette, slot, win } from "../kit/Messages.ts"
import { checkBonusMoney } from "../kit/SettlementChecks.ts"
import { answerOf, type ModelAnswer, SettlementModel } from "../kit/SettlementModel.ts"

// Goal: a bonus's life cycle follows its terms under any traffic: the queue, wagering by contribution, conversion and
// its cap, loss, expiry, cancellation, the stake cap, caps of grants and of promo codes. Method: random traffic, mostly
// about bonuses, applied to the rules and to the plain model of the settlement tests; every answer, every balance and every
// bonus is compared after each command, and every kind of end and of refusal must occur.

const players = [1, 2]
type Pick = { readonly playerId: number; readonly pick: number }

/** A message about what the player has: a bet, or a win, a rollback or a close of one of the last few. */
type Move =
  | {
    readonly type: "bet"
    readonly playerId: number
    /** Minor units, or all that the player has. */
    readonly amount: number | "all"
    readonly game: typeof slot
    readonly joins: boolean
    readonly closes: Closing
  }
  | Pick & { readonly type: "win"; readonly amount: number; readonly closes: Closing; readonly isNamed: boolean }
  | Pick & { readonly type: "rollback" }
  | Pick & { readonly type: "close" }

type Command =
  | Move
  | Pick & { readonly type: "cancel" }
  | { readonly type: "batch"; readonly playerId: number; readonly moves: ReadonlyArray<Move> }
  | {
    readonly type: "grant"
    readonly playerId: number
    readonly amount: number
    readonly multiplier: number
    readonly maxBet: number
    readonly conversion: number
    readonly validDays: number
    readonly cap: number
  }
  | { readonly type: "redeem"; readonly playerId: number; readonly promo: number; readonly isStale: boolean }
  | { readonly type: "deposit"; readonly playerId: number; readonly amount: number }
  | { readonly type: "withdraw"; readonly playerId: number; readonly amount: number; readonly forfeitsBonus: boolean }
  | { readonly type: "correct"; readonly playerId: number; readonly wallet: "real" | "bonus"; readonly amount: number }
  | { readonly type: "self-exclude"; readonly playerId: number; readonly period: ExclusionPeriod }
  | { readonly type: "keep from bonuses"; readonly playerId: number; readonly isKept: boolean }
  | { readonly type: "look"; readonly playerId: number }
  | { readonly type: "wait"; readonly ms: number }
  | { readonly type: "wait for its end"; readonly playerId: number; readonly before: number }

const oneOf = <const A>(...values: ReadonlyArray<A>) => FastCheck.constantFrom(...values)

const playerId = oneOf(...players)
const picked = { playerId, pick: FastCheck.nat() }

/** A live game that contributes nothing to the bonuses here. */
const barred = { ...roulette, id: 13 }

const weighted = (weight: number, arbitrary: FastCheck.Arbitrary<Command>) => ({ weight, arbitrary })

const closings = oneOf<Closing>(false, false, false, true, "when_settled")

const moves: FastCheck.Arbitrary<Move> = FastCheck.oneof(
  {
    weight: 16,
    arbitrary: FastCheck.record({
      type: oneOf("bet"),
      playerId,
      amount: oneOf<number | "all">(1, 5, 20, 40, 41, 60, 100, "all", "all", "all"),
      game: oneOf(slot, slot, slot, roulette, barred),
      joins: oneOf(false, false, false, true),
      closes: closings
    })
  },
  {
    weight: 8,
    arbitrary: FastCheck.record({
      type: oneOf("win"),
      ...picked,
      amount: oneOf(0, 0, 7, 60, 200),
      closes: closings,
      isNamed: FastCheck.boolean()
    })
  },
  { weight: 8, arbitrary: FastCheck.record({ type: oneOf("rollback"), ...picked }) },
  { weight: 3, arbitrary: FastCheck.record({ type: oneOf("close"), ...picked }) }
)

const commands: FastCheck.Arbitrary<Command> = FastCheck.oneof(
  weighted(35, moves),
  weighted(
    4,
    FastCheck.record({
      type: oneOf("batch"),
      playerId,
      moves: FastCheck.array(moves, { minLength: 2, maxLength: 4 })
    })
  ),
  weighted(1, FastCheck.record({ type: oneOf("cancel"), ...picked })),
  weighted(
    5,
    FastCheck.record({
      type: oneOf("grant"),
      playerId,
      amount: oneOf(20, 50, 100),
      multiplier: oneOf(0, 1, 1, 2, 5),
      maxBet: oneOf(0, 0, 0, 40),
      conversion: oneOf(0, 1, 1, 1, 2),
      validDays: oneOf(1, 7),
      cap: oneOf(0, 0, 2)
    })
  ),
  weighted(
    2,
    FastCheck.record({ type: oneOf("redeem"), playerId, promo: oneOf(0, 1, 2), isStale: FastCheck.boolean() })
  ),
  weighted(1, FastCheck.record({ type: oneOf("deposit"), playerId, amount: oneOf(10, 50) })),
  weighted(
    1,
    FastCheck.record({ type: oneOf("withdraw"), playerId, amount: oneOf(1, 30), forfeitsBonus: FastCheck.boolean() })
  ),
  weighted(
    1,
    FastCheck.record({
      type: oneOf("correct"),
      playerId,
      wallet: oneOf("real", "bonus", "bonus"),
      amount: oneOf(30, 80, -10, -50)
    })
  ),
  weighted(
    1,
    FastCheck.record({
      type: oneOf("self-exclude"),
      playerId,
      period: FastCheck.oneof({ weight: 7, arbitrary: oneOf("24_hours") }, { weight: 1, arbitrary: oneOf("3_months") })
    })
  ),
  weighted(
    1,
    FastCheck.record({ type: oneOf("keep from bonuses"), playerId, isKept: oneOf(false, false, false, true) })
  ),
  weighted(1, FastCheck.record({ type: oneOf("look"), playerId })),
  weighted(2, FastCheck.record({ type: oneOf("wait"), ms: oneOf(minute, hour, day, day, 8 * day) })),
  weighted(1, FastCheck.record({ type: oneOf("wait for its end"), playerId, before: oneOf(0, 1) }))
)

const reload = (terms: Partial<CatalogueBonus>): CatalogueBonus => ({
  id: 900,
  operatorId: 1,
  name: "Reload",
  description: "",
  type: "no_deposit",
  defaultAmount: 40,
  wageringMultiplier: 1,
  validDays: 7,
  maxBet: 0,
  maxConversionMultiplier: 1,
  maxGrantsPerPlayer: 0,
  isActive: true,
  contributions: { [barred.id]: 0 },
  currency: "EUR",
  ...terms
})

const anyPolicy = oneOf<SettlementPolicy>(...Object.values(policies))

const promos = [{ id: 70, cap: 1 }, { id: 71, cap: 2 }, { id: 72, cap: 0 }]

const bank = { code: "bank", supportsWithdrawal: true, currencies: ["EUR"], minWithdrawal: 1, maxWithdrawal: 1000 }

/** Runs commands on the rules and the model. */
class Play {
  readonly runner: RuleRunner
  readonly model: SettlementModel
  /** Occurrences by name. */
  private readonly tally: Map<string, number>
  private readonly policy: SettlementPolicy
  private readonly bets: Array<{ readonly playerId: number; readonly message: Bet }> = []
  private readonly targets: Array<{ readonly playerId: number; readonly id: string }> = []
  /** The running bonus of each player after the last command. */
  private readonly ran = new Map<number, number | undefined>()
  private count = 0

  constructor(forgets: () => boolean, policy: SettlementPolicy, tally: Map<string, number>) {
    this.policy = policy
    const beginning = players.map((id) => makePlayer({ id, real: id === 1 ? 30 : 0 }))
    this.runner = new RuleRunner(beginning, forgets)
    for (const { cap, id } of promos) if (cap > 0) this.runner.store.limitPromo(id, cap)
    this.model = new SettlementModel(beginning, noon)
    this.tally = tally
  }

  run(command: Command): void {
    const { runner, model } = this
    switch (command.type) {
      case "bet":
      case "win":
      case "rollback":
      case "close": {
        const message = this.messageOf(command)
        return message === undefined ? undefined : this.settle(command.playerId, message)
      }
      case "batch":
        return this.settleAll(
          command.playerId,
          command.moves.flatMap((move) => this.messageOf({ ...move, playerId: command.playerId }) ?? [])
        )
      case "cancel": {
        const ids = [...runner.store.tables().bonuses.keys()]
        const id = ids[command.pick % ids.length] ?? 0
        const answer = runner.ask(cancelBonusStep({ id, reason: null, actor: "staff:1" }), command.playerId)
        return assert.strictEqual("reply" in answer, model.cancel(command.playerId, id))
      }
      case "grant":
        return this.grant(command)
      case "redeem":
        return this.redeem(command)
      case "deposit": {
        const { amount, playerId } = command
        const request = { externalReference: this.nextId(), methodCode: null, method: null, info: null, notes: null }
        const answer = runner.ask(depositStep({ amount, ...request }), playerId)
        if ("reply" in answer) model.deposit(playerId, amount)
        return
      }
      case "withdraw": {
        const { amount, forfeitsBonus, playerId } = command
        const request = { externalReference: null, methodCode: bank.code, method: bank, info: null, notes: null }
        const answer = runner.ask(
          withdrawalStep({ ...request, amount, bankName: null, kycThreshold: null, forfeitsBonus }),
          playerId
        )
        return assert.strictEqual("reply" in answer, model.withdraw(playerId, amount, forfeitsBonus))
      }
      case "correct": {
        const { amount, playerId, wallet } = command
        const answer = runner.ask(correctionStep({ wallet, amount, reason: "a mistake", actor: "staff:1" }), playerId)
        return assert.strictEqual("reply" in answer, model.correct(playerId, wallet, amount))
      }
      case "self-exclude": {
        const { period, playerId } = command
        const until = periodEnd(period, runner.now) ?? Infinity
        const answer = runner.ask(selfExcludeStep({ period, until: null, type: null, actor: "key:pk" }), playerId)
        return assert.strictEqual("reply" in answer, model.selfExclude(playerId, until, period === "24_hours"))
      }
      case "keep from bonuses":
        runner.set({ restrictions: { ...noRestrictions, excludedFromBonuses: command.isKept } }, command.playerId)
        return model.excludeFromBonuses(command.playerId, command.isKept)
      case "look":
        runner.accept(applyDueBonusesStep, command.playerId)
        return model.look(command.playerId)
      case "wait":
        return this.waitUntil(runner.now + command.ms)
      case "wait for its end": {
        const end = runner.player(command.playerId).activeBonus?.expiresAt ?? 0
        return this.waitUntil(Math.max(runner.now, end - command.before))
      }
    }
  }

  private messageOf(move: Move): Action | undefined {
    const { policy } = this
    if (move.type === "bet") {
      const { amount, closes, game, joins, playerId } = move
      const { bonus, real } = this.runner.player(playerId)
      const last = this.bets.findLast((placed) => placed.playerId === playerId)?.message
      const id = this.nextId()
      return bet(id, amount === "all" ? Math.max(1, real + bonus) : amount, {
        policy,
        game: joins ? last?.game ?? game : game,
        roundId: joins ? last?.roundId ?? id : id,
        closesRound: closes
      })
    }
    if (move.type === "rollback") {
      const target = this.pick(this.targets, move)
      return target === undefined ? undefined : rollback(this.nextId(), target.id, { policy })
    }
    const target = this.pick(this.bets, move)?.message
    if (target === undefined) return undefined
    const { game, roundId, transactionId } = target
    if (move.type === "close") return close(roundId, game, { policy })
    const { amount, closes: closesRound, isNamed } = move
    return win(this.nextId(), isNamed ? transactionId : null, amount, { policy, game, roundId, closesRound })
  }

  /** Compares balances, the running bonus with its progress, queued bonuses, and the ends of the others. */
  check(): void {
    for (const playerId of players) {
      const { activeBonus, bonus, pendingBonuses, real, walletSeq } = this.runner.player(playerId)
      assert.deepStrictEqual({ real, bonus, walletSeq }, this.model.balances(playerId))
      const { active, queue, wagered } = this.model.bonuses(playerId)
      assert.deepStrictEqual(
        [activeBonus?.id ?? null, activeBonus?.wagered ?? 0, pendingBonuses.map(({ id }) => id)],
        [active, wagered, queue]
      )
      const ran = this.ran.get(playerId)
      if (queue.some((id) => id === ran)) this.note("displaced")
      this.ran.set(playerId, active ?? undefined)
    }
    const { ended } = this.model.bonuses(1)
    for (const { converted, forfeited, id, result } of this.runner.store.tables().bonuses.values()) {
      assert.deepStrictEqual(result === null ? undefined : { result, converted, forfeited }, ended.get(id))
    }
  }

  /** Counts the ends of bonuses, and those that were undone. */
  finish(): void {
    const told = new Map<unknown, string>()
    for (const { data, type } of this.runner.store.tables().events) {
      const { id, result, state } = Object(data["bonus"])
      const before = told.get(id)
      if (type === "bonus.granted" && before !== undefined) this.note(`${before} undone: ${state}`)
      if (type === "bonus.completed" && before !== undefined) this.note(`${before} undone: ${result}`)
      if (type === "bonus.completed") told.set(id, String(result))
      else told.delete(id)
    }
    for (const { converted, forfeited, result } of this.runner.store.tables().bonuses.values()) {
      if (result !== null) this.note(result === "converted" && converted > 0 && forfeited > 0 ? "capped" : result)
    }
  }

  private grant({ amount, cap, conversion, maxBet, multiplier, playerId, validDays }: Command & { type: "grant" }) {
    const bonus = reload({
      id: 900 + cap,
      defaultAmount: amount,
      wageringMultiplier: multiplier,
      validDays,
      maxBet,
      maxConversionMultiplier: conversion,
      maxGrantsPerPlayer: cap
    })
    const answer = this.runner.ask(grantStep({ bonus, amount: null, note: null }), playerId)
    const state = this.model.grant(playerId, {
      id: "reply" in answer ? answer.reply.id : 0,
      bonusId: bonus.id,
      cap,
      amount,
      requirement: amount * multiplier,
      maxBet,
      maxConversion: amount * conversion,
      validDays,
      contributions: bonus.contributions
    })
    if ("refusal" in answer) this.note(String(answer.refusal.details["reason"]))
    assert.strictEqual("reply" in answer ? answer.reply.state : undefined, state)
  }

  private redeem({ isStale, playerId, promo: which }: Command & { type: "redeem" }) {
    const promo = promos[which] ?? assert.fail("there is no such code")
    const redeemed = this.runner.store.tables().redemptions.filter(({ promoCodeId }) => promoCodeId === promo.id)
    const bonus = reload({ id: 950 + promo.id })
    const answer = this.runner.ask(
      redeemStep({
        id: promo.id,
        code: "CODE",
        bonus,
        isActive: true,
        expiresAt: null,
        // a look-up may be out of date when the cap is checked
        isUsedUp: !isStale && promo.cap > 0 && redeemed.length >= promo.cap,
        isRedeemed: !isStale && redeemed.some((redemption) => redemption.playerId === playerId)
      }),
      playerId
    )
    const expected = this.model.redeem(playerId, promo, {
      id: "reply" in answer ? answer.reply.bonus.id : 0,
      bonusId: bonus.id,
      cap: 0,
      amount: bonus.defaultAmount,
      requirement: bonus.defaultAmount,
      maxBet: 0,
      maxConversion: bonus.defaultAmount,
      validDays: bonus.validDays,
      contributions: bonus.contributions
    })
    if ("reply" in answer) return assert.strictEqual(answer.reply.bonus.state, expected)
    const { code, details } = answer.refusal
    this.note(String(details["reason"]) + (isStale ? " since" : ""))
    if (code === "PROMO_CODE_INVALID") return assert.strictEqual(details["reason"], expected)
    // a player who may have no bonus need not learn the state of a code that was valid when looked up
    assert.include(isStale ? ["used", "exhausted", "BONUS_INVALID"] : ["BONUS_INVALID"], expected)
  }

  /** Settles a message on both sides. */
  private settle(playerId: number, message: Action): void {
    const does = (player: Player, context: Context) => settle(player, message, context)
    const answer = answerOf(this.runner.ask<Settlement, { readonly code: string }>(does, playerId))
    mustEqual(answer, this.model.settle(playerId, message))
    this.keep(playerId, message, answer)
  }

  private settleAll(playerId: number, messages: ReadonlyArray<Action>): void {
    if (messages.length === 0) return
    const does = (player: Player, context: Context) => settleAll(player, messages, context)
    const answer = this.runner.ask<ReadonlyArray<Settlement>, { readonly code: string }>(does, playerId)
    const answers = "reply" in answer ? answer.reply.map((reply) => answerOf({ reply })) : answer.refusal.code
    mustEqual(answers, this.model.batch(playerId, messages))
    for (const [index, message] of messages.entries()) {
      this.keep(playerId, message, typeof answers === "string" ? answers : answers[index] ?? "")
    }
  }

  private keep(playerId: number, message: Action, answer: ModelAnswer): void {
    if (typeof answer === "string") return this.note(answer)
    if (message.action === "bet") this.bets.push({ playerId, message })
    if ("transactionId" in message) this.targets.push({ playerId, id: message.transactionId })
  }

  private pick<A extends { readonly playerId: number }>(from: ReadonlyArray<A>, { pick, playerId }: Pick) {
    // the latest few, to hit open messages more often than settled ones
    const own = from.filter((one) => one.playerId === playerId).slice(-4)
    return own.length === 0 ? undefined : own[pick % own.length]
  }

  private waitUntil(instant: number): void {
    this.runner.now = instant
    this.model.now = instant
  }

  private nextId(): string {
    return `${this.count++}`
  }

  private note(name: string): void {
    this.tally.set(name, (this.tally.get(name) ?? 0) + 1)
  }
}

describe("bonuses in random traffic", () => {
  for (const remembers of [true, false]) {
    it(`are granted, wagered and ended by their terms, actor ${remembers ? "kept in memory" : "passivated after every message"}`, () => {
      const tally = new Map<string, number>()
      FastCheck.assert(
        FastCheck.property(
          FastCheck.array(commands, { minLength: 20, maxLength: 80, size: "max" }),
          anyPolicy,
          (all, policy) => {
            const play = new Play(() => !remembers, policy, tally)
            for (const command of all) {
              play.run(command)
              play.check()
            }
            checkLedger(play.runner.store, players.map((id) => makePlayer({ id, real: id === 1 ? 30 : 0 })))
            checkBonusMoney(play.runner, [])
            play.finish()
          }
        ),
        { numRuns: runs(150, 1500), seed: 20_261_121 }
      )
      const ends = ["converted", "capped", "lost", "expired", "cancelled"]
      const refusals = ["BONUS_INVALID", "max_grants_per_player", "excluded_from_bonuses", "time_out", "self_exclusion"]
      const undone = [
        "displaced",
        ...["activated", "pending", "expired"].flatMap((state) => [
          `converted undone: ${state}`,
          `lost undone: ${state}`
        ])
      ]
      // an exclusion of months between an end and what undoes it: drawn in long runs only
      const rare = ["converted undone: cancelled", "lost undone: cancelled"]
      const codes = ["used", "used since", "exhausted", "exhausted since"]
      for (const name of [...ends, ...undone, ...refusals, ...codes]) {
        assert.isAbove(tally.get(name) ?? 0, runs(0, 4), name)
      }
      for (const name of rare) assert.isAtLeast(tally.get(name) ?? 0, runs(0, 1), name)
    })
  }
})

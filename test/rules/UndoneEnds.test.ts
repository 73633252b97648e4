import { assert, describe, it } from "@effect/vitest"
import { applyDueBonusesStep, cancelBonusStep } from "../../src/domain/bonus/BonusGrants.ts"
import { noRestrictions, type Player } from "../../src/domain/state/Player.ts"
import type { Context } from "../../src/domain/state/Decision.ts"
import { type Bet, settleBetWin, type Win } from "../../src/domain/settlement/Settlement.ts"
import { does, doesAll, RuleRunner } from "../kit/RuleRunner.ts"
import {
  adjustment,
  bet,
  close,
  day,
  makeBonus,
  makePlayer,
  minute,
  noon,
  promoWin,
  rollback,
  roulette,
  win
} from "../kit/Messages.ts"
import { correctionStep } from "../../src/domain/wallet/Corrections.ts"
import { staffCloseStep } from "../../src/domain/settlement/OtherMessages.ts"
import { policies } from "../kit/Policies.ts"

// Messages that undo the end of a bonus, by hand: conversions and losses, what they led to, and caps. Every test runs with
// the player kept in memory, and with passivation after every message.

const doesBoth = (placed: Bet, won: Win) => (player: Player, context: Context) =>
  settleBetWin(player, placed, won, context)

/** State and result of each bonus as its events told them. */
const toldOf = (runner: RuleRunner, bonusId: number) =>
  runner.store.tables().events.flatMap(({ data }) => {
    const { id, result, state } = Object(data["bonus"])
    return id === bonusId ? [result === null ? state : result] : []
  })

const moves = (runner: RuleRunner, from: number) =>
  runner.store.tables().entries.slice(from).map(({ amount, playerBonusId, type, wallet }) => [
    wallet,
    type,
    amount,
    playerBonusId
  ])

for (const remembers of [true, false]) {
  const makeRunner = (overrides: Partial<Player>) => new RuleRunner([makePlayer(overrides)], () => !remembers)
  const bonusOf = (runner: RuleRunner) => runner.store.tables().bonuses.get(501)
  const memory = `actor ${remembers ? "kept in memory" : "passivated after every message"}`

  describe(`a bonus conversion (${memory})`, () => {
    const { hub88: policy } = policies
    const rich = {
      real: 300_000,
      bonus: 10_000,
      activeBonus: makeBonus({ amount: 10_000, wagerRequirement: 300_000 })
    }

    it("is reversed once by the rollback of the bet that met the wagering requirement, and the bonus is active again", () => {
      const runner = makeRunner(rich)
      runner.accept(does(bet("b", 300_000)))
      assert.deepInclude(runner.player(), { real: 10_000, bonus: 0, activeBonus: null })
      const reply = runner.accept(does(rollback("k", "b")))
      assert.deepInclude(reply, { realAmount: 300_000, bonusAmount: 0, balance: 300_000, bonusBalance: 10_000 })
      assert.deepStrictEqual(moves(runner, 3), [
        ["real", "bonus_conversion", -10_000, 501],
        ["bonus", "bonus_conversion", 10_000, 501],
        ["real", "casino_rollback", 300_000, null]
      ])
      assert.deepStrictEqual(runner.player().activeBonus, rich.activeBonus)
      assert.deepInclude(bonusOf(runner), { state: "activated", result: null, converted: 0, finishedAt: null })
      for (const again of [rollback("k", "b"), rollback("k2", "b")]) runner.accept(does(again))
      assert.deepInclude(runner.player(), { real: 300_000, bonus: 10_000, walletSeq: 2 })
      // it converts when the wagering requirement is met again
      runner.accept(does(bet("b2", 300_000, { roundId: "second" })))
      assert.deepInclude(runner.player(), { real: 10_000, bonus: 0, activeBonus: null })
      assert.deepInclude(bonusOf(runner), { result: "converted", converted: 10_000, restored: 0 })
    })

    it("is reversed once by a message that rolls back several of the wagered bets", () => {
      const runner = makeRunner({ ...rich, real: 400_000 })
      runner.accept(does(bet("a", 100_000)))
      runner.accept(does(bet("b", 200_000, { roundId: "second" })))
      assert.deepInclude(runner.player(), { real: 110_000, bonus: 0, activeBonus: null })
      runner.accept(doesAll(rollback("kb", "b"), rollback("ka", "a")))
      assert.deepInclude(runner.player(), { real: 400_000, bonus: 10_000 })
      assert.deepInclude(runner.player().activeBonus, { wagered: 0, restored: 0, short: 0 })
      assert.deepStrictEqual(toldOf(runner, 501), ["converted", "activated"])
    })

    // nothing is converted, so that no entry tells of the undoing
    const spent = { real: 0, bonus: 100, activeBonus: makeBonus({ wagerRequirement: 100, maxConversion: 100 }) }

    it("is reversed and repeated by one message that rolls back the bet and places another, with an event for each", () => {
      const runner = makeRunner(spent)
      runner.accept(does(bet("b", 100, { policy, closesRound: true })))
      assert.deepInclude(bonusOf(runner), { result: "converted", converted: 0 })
      runner.accept(doesAll(win("w", "b", 0, { policy }), rollback("k", "b", { policy }), bet("b2", 100, { policy })))
      assert.deepInclude(runner.player(), { real: 0, bonus: 0, activeBonus: null })
      assert.deepInclude(bonusOf(runner), { result: "converted", converted: 0, wagered: 100 })
      assert.deepStrictEqual(toldOf(runner, 501), ["converted", "activated", "converted"])
    })

    it("is reversed and repeated by one message that rolls back and reinstates the bet, with the bonus money won meanwhile", () => {
      const runner = makeRunner(spent)
      runner.accept(does(bet("b", 100, { policy })))
      runner.accept(doesAll(
        win("w", "b", 300, { policy }),
        rollback("k", "b", { policy }),
        rollback("kk", "k", { policy })
      ))
      assert.deepInclude(runner.player(), { real: 100, bonus: 0, activeBonus: null })
      assert.deepInclude(bonusOf(runner), { result: "converted", converted: 100, late: 0, forfeited: 200 })
      assert.deepStrictEqual(toldOf(runner, 501), ["converted", "activated", "converted"])
    })

    it("stands if the wagering requirement is met without the rolled-back bet", () => {
      const runner = makeRunner({ ...rich, real: 400_000 })
      runner.accept(does(bet("b", 100)))
      runner.accept(does(bet("b2", 300_000, { roundId: "second" })))
      runner.accept(does(rollback("k", "b")))
      assert.deepInclude(runner.player(), { real: 110_000, bonus: 0, activeBonus: null })
      assert.deepInclude(bonusOf(runner), { result: "converted", converted: 10_000, wagered: 300_000 })
      runner.accept(does(rollback("k2", "b2")))
      assert.deepInclude(runner.player(), { real: 400_000, bonus: 10_000 })
      assert.strictEqual(runner.player().activeBonus?.wagered, 0)
    })

    it("when reversed, turns real money that was won since then in the bonus's open rounds back into bonus money", () => {
      const runner = makeRunner({ real: 0, bonus: 200, activeBonus: makeBonus({ amount: 200, wagerRequirement: 150 }) })
      runner.accept(does(bet("b", 100)))
      runner.accept(does(bet("b2", 50, { roundId: "second" })))
      assert.deepInclude(runner.player(), { real: 50, bonus: 0 })
      runner.accept(does(win("w", "b", 500, { closesRound: true })))
      assert.deepInclude(bonusOf(runner), { converted: 50, late: 500 })
      assert.strictEqual(runner.player().real, 550)
      runner.accept(does(rollback("k", "b2")))
      assert.deepInclude(runner.player(), { real: 0, bonus: 600 })
      assert.deepInclude(runner.player().activeBonus, { wagered: 100, openRounds: 0, restored: 500 })
      // a win rolled back afterwards is taken from the bonus, not from the player
      runner.accept(does(rollback("kw", "w")))
      assert.deepInclude(runner.player(), { real: 0, bonus: 100 })
    })

    it("leaves a loss limit as it is: neither late wins, nor the reversal that takes them back, nor their rollbacks count", () => {
      const runner = makeRunner({
        real: 100,
        bonus: 200,
        limits: { max_daily_loss: 100 },
        activeBonus: makeBonus({ amount: 200, wagerRequirement: 250 })
      })
      const lossNow = () => runner.player().counters.lossDay
      runner.accept(does(bet("b", 200, { policy })))
      runner.accept(does(bet("second", 50, { policy, roundId: "second" })))
      runner.accept(does(win("w", "b", 500, { policy, closesRound: true })))
      // 100 of the 200 staked were real money, and 250 of the 500 won
      assert.deepInclude(runner.player(), { real: 550, bonus: 0 })
      assert.strictEqual(lossNow(), 100 - 250)
      runner.accept(does(rollback("k", "second", { policy })))
      assert.deepInclude(runner.player(), { real: 250, bonus: 350 })
      assert.strictEqual(lossNow(), 100 - 250)
      runner.accept(correctionStep({ wallet: "real", amount: 1000, reason: "as a deposit", actor: "staff:1" }))
      assert.strictEqual(runner.refuse(does(bet("c", 251, { policy, roundId: "third" }))).code, "LIMIT_EXCEEDED")
      runner.accept(does(rollback("wk", "w", { policy })))
      assert.deepInclude(runner.player(), { real: 1000, bonus: 100 })
      assert.strictEqual(lossNow(), 100)
      assert.strictEqual(runner.refuse(does(bet("c", 1, { policy, roundId: "third" }))).code, "LIMIT_EXCEEDED")
    })

    it("when reversed, also restores the amount that the conversion cap had forfeited", () => {
      const runner = makeRunner({
        ...rich,
        activeBonus: makeBonus({ amount: 10_000, wagerRequirement: 300_000, maxConversion: 4000 })
      })
      runner.accept(does(bet("b", 300_000)))
      assert.deepInclude(bonusOf(runner), { converted: 4000, forfeited: 6000 })
      runner.accept(does(rollback("k", "b")))
      assert.deepInclude(runner.player(), { real: 300_000, bonus: 10_000 })
      assert.deepInclude(bonusOf(runner), { converted: 0, forfeited: 0, restored: 6000 })
    })

    const ends: ReadonlyArray<readonly [string, (runner: RuleRunner) => void, "cancelled" | "expired"]> = [
      ["its time is over", (runner) => runner.now = noon + 8 * day, "expired"],
      [
        "the player has excluded themselves",
        (runner) => runner.set({ exclusion: { type: "self_exclusion", since: 0, until: null } }),
        "cancelled"
      ]
    ]
    for (const [because, happens, result] of ends) {
      it(`when reversed, forfeits the whole bonus if ${because}`, () => {
        const runner = makeRunner(rich)
        runner.accept(does(bet("b", 300_000)))
        happens(runner)
        runner.accept(does(rollback("k", "b")))
        assert.deepInclude(runner.player(), { real: 300_000, bonus: 0, activeBonus: null })
        assert.deepInclude(bonusOf(runner), { result, converted: 0, forfeited: 10_000 })
      })
    }

    for (const status of ["locked", "closed"] as const) {
      it(`when reversed while the account is ${status}, leaves the bonus pending until the account is active`, () => {
        const runner = makeRunner(rich)
        runner.accept(does(bet("b", 300_000)))
        runner.set({ status })
        runner.accept(does(rollback("k", "b")))
        assert.deepInclude(runner.player(), { real: 300_000, bonus: 0, activeBonus: null })
        assert.deepInclude(bonusOf(runner), { state: "pending", result: null, converted: 0, forfeited: 0 })
        runner.set({ status: "active" })
        runner.accept(applyDueBonusesStep)
        assert.deepInclude(runner.player(), { real: 300_000, bonus: 10_000 })
        assert.deepStrictEqual(runner.player().activeBonus?.id, 501)
      })
    }

    it("does not happen to a cancelled bonus: a late win and its rollback leave entries that add up to zero", () => {
      const runner = makeRunner({ real: 0, bonus: 100, activeBonus: makeBonus() })
      runner.accept(does(bet("b", 60)))
      runner.set({ status: "closed" })
      runner.accept(cancelBonusStep({ id: 501, reason: null, actor: "staff:1" }))
      assert.deepInclude(runner.accept(does(win("w", "b", 90))), { realAmount: 0, bonusAmount: 0, balance: 0 })
      assert.deepInclude(runner.accept(does(rollback("k", "w"))), { realAmount: 0, bonusAmount: 0, bonusBalance: 0 })
      const wins = runner.store.tables().entries.filter(({ type }) =>
        type === "casino_win" || type === "casino_rollback"
      )
      assert.deepStrictEqual(wins.map(({ amount }) => amount), [90, -90])
      assert.deepInclude(bonusOf(runner), { result: "cancelled", restored: 90 })
    })

    it("pays a late win up to the conversion cap and forfeits the rest, until that win is rolled back", () => {
      const activeBonus = makeBonus({ amount: 1000, wagerRequirement: 1000, maxConversion: 1000 })
      const runner = makeRunner({ real: 0, bonus: 1000, activeBonus })
      runner.accept(does(bet("b", 1000)))
      assert.deepInclude(bonusOf(runner), { result: "converted", converted: 0 })
      const paid = runner.accept(does(win("w", "b", 50_000)))
      assert.deepInclude(paid, { realAmount: 1000, bonusAmount: 0, balance: 1000, bonusBalance: 0 })
      assert.deepInclude(bonusOf(runner), { converted: 0, late: 1000, forfeited: 49_000 })
      // a second one of the same round finds no room
      assert.deepInclude(runner.accept(does(win("w2", "b", 10))), { realAmount: 0, balance: 1000 })
      runner.accept(does(rollback("k2", "w2")))
      assert.deepInclude(runner.accept(does(rollback("k", "w"))), { realAmount: -1000, balance: 0, bonusBalance: 0 })
      assert.deepInclude(bonusOf(runner), { result: "converted", late: 0, forfeited: 0 })
      runner.accept(does(rollback("kb", "b")))
      assert.deepInclude(runner.player(), { real: 0, bonus: 1000 })
      assert.deepInclude(runner.player().activeBonus, { wagered: 0, openRounds: 0 })
    })

    it("repays an earlier win that is rolled back from the amount forfeited by the cap, and the rest from the real wallet", () => {
      const activeBonus = makeBonus({ amount: 1000, wagerRequirement: 600, maxConversion: 1000 })
      const runner = makeRunner({ real: 0, bonus: 1000, activeBonus })
      runner.accept(doesAll(bet("b", 500), win("w", "b", 3000, { closesRound: true })))
      runner.accept(does(bet("b2", 100, { roundId: "second", closesRound: true })))
      assert.deepInclude(runner.player(), { real: 1000, bonus: 0 })
      assert.deepInclude(bonusOf(runner), { result: "converted", converted: 1000, forfeited: 2400 })
      assert.deepInclude(runner.accept(does(rollback("k", "w"))), { realAmount: -600, balance: 400, bonusBalance: 0 })
      assert.deepInclude(bonusOf(runner), { result: "converted", converted: 1000, late: -600, forfeited: 0 })
    })

    it("pays late wins up to the conversion cap, whichever of them is rolled back first", () => {
      for (const [taken, left] of [["w1", 1000], ["w2", 1000], ["w3", 1000]] as const) {
        const activeBonus = makeBonus({ amount: 1000, wagerRequirement: 1000, maxConversion: 1000 })
        const runner = makeRunner({ real: 0, bonus: 1000, activeBonus })
        runner.accept(does(bet("b", 1000)))
        for (const [id, amount] of [["w1", 1000], ["w2", 700], ["w3", 600]] as const) {
          runner.accept(does(win(id, "b", amount)))
        }
        runner.accept(does(rollback("k", taken)))
        assert.strictEqual(runner.player().real, left, taken)
        const rest = ["w1", "w2", "w3"].filter((id) => id !== taken)
        for (const id of rest) runner.accept(does(rollback(`k${id}`, id)))
        assert.deepInclude(runner.player(), { real: 0, bonus: 0 })
        assert.deepInclude(bonusOf(runner), { converted: 0, late: 0, forfeited: 0 })
      }
    })

    it("when reversed, leaves the bonus pending while the account may not receive bonuses, and active afterwards", () => {
      const states = [
        { status: "locked" as const },
        { restrictions: { ...noRestrictions, excludedFromBonuses: true } },
        { exclusion: { type: "time_out" as const, since: 0, until: noon + day } }
      ]
      for (const state of states) {
        for (const staked of [1000, 300_000]) {
          const runner = makeRunner({
            real: staked - 1000,
            bonus: 1000,
            activeBonus: makeBonus({ amount: 1000, wagerRequirement: 300_000 })
          })
          runner.accept(does(bet("b", staked, { closesRound: true })))
          runner.set(state)
          runner.accept(does(rollback("k", "b")))
          assert.deepInclude(runner.player(), { real: staked - 1000, bonus: 0, activeBonus: null })
          assert.deepInclude(bonusOf(runner), { state: "pending", result: null, held: 1000, forfeited: 0 })
          runner.set({ status: "active", restrictions: noRestrictions, exclusion: null })
          runner.accept(applyDueBonusesStep)
          assert.deepInclude(runner.player(), { bonus: 1000 })
          assert.deepInclude(runner.player().activeBonus, { id: 501, wagered: 0 })
        }
      }
    })

    it("pays no more than the conversion cap for a bet and its win in one message", () => {
      const activeBonus = makeBonus({ wagerRequirement: 100, maxConversion: 100 })
      const runner = makeRunner({ real: 0, bonus: 100, activeBonus })
      runner.accept(doesBoth(bet("b", 100), win("w", "b", 5000, { closesRound: true })))
      assert.deepInclude(runner.player(), { real: 100, bonus: 0 })
      assert.deepInclude(bonusOf(runner), { result: "converted", converted: 100, forfeited: 4900 })
    })

    it("when reversed, restores the bonus without the stake that is still open in another round", () => {
      const activeBonus = makeBonus({ amount: 200, wagerRequirement: 200, maxConversion: 50 })
      const runner = makeRunner({ real: 0, bonus: 300, activeBonus })
      runner.accept(does(bet("b", 100)))
      runner.accept(does(bet("b2", 110, { roundId: "second" })))
      assert.deepInclude(bonusOf(runner), { converted: 50, forfeited: 40, wagered: 210 })
      runner.accept(does(rollback("k", "b2")))
      assert.deepInclude(runner.player(), { real: 0, bonus: 200 })
      assert.deepInclude(bonusOf(runner), { state: "activated", converted: 0, forfeited: 0 })
    })
  })

  const second = { ...makeBonus({ id: 502, amount: 1000, wagerRequirement: 2000 }), interrupted: null }

  describe(`a bonus with a second bonus queued after it (${memory})`, () => {
    const bonusesOf = (runner: RuleRunner) => {
      const { bonuses } = runner.store.tables()
      return [bonuses.get(501), bonuses.get(502)] as const
    }
    const queued = {
      real: 10_000,
      bonus: 1000,
      activeBonus: makeBonus({ amount: 1000, wagerRequirement: 2000 }),
      pendingBonuses: [second]
    }

    it("is active again when its conversion is reversed, and the second bonus, not wagered yet, is queued again", () => {
      const runner = makeRunner(queued)
      runner.accept(does(bet("b", 2000)))
      assert.deepInclude(runner.player(), { real: 9000, bonus: 1000 })
      assert.strictEqual(runner.player().activeBonus?.id, 502)
      runner.now += day
      assert.deepInclude(runner.accept(does(rollback("k", "b"))), { balance: 10_000, bonusBalance: 1000 })
      assert.deepInclude(runner.player().activeBonus, { id: 501, wagered: 0, expiresAt: noon + 7 * day })
      assert.deepStrictEqual(runner.player().pendingBonuses.map(({ id }) => id), [502])
      assert.deepStrictEqual(toldOf(runner, 501), ["converted", "activated"])
      assert.deepStrictEqual(toldOf(runner, 502), [])
      assert.deepInclude(bonusesOf(runner)[1], { state: "pending", held: 1000, expiresAt: null, forfeited: 0 })
      // it has all of its time when its turn comes
      runner.accept(does(bet("b2", 2000, { roundId: "second" })))
      assert.deepInclude(runner.player().activeBonus, { id: 502, expiresAt: noon + 8 * day })
      assert.deepInclude(runner.player(), { real: 9000, bonus: 1000 })
    })

    it("is pending with its money and progress when its conversion is reversed after a bet counted for the second bonus", () => {
      const runner = makeRunner({ ...queued, real: 2500 })
      runner.accept(does(bet("a", 500, { roundId: "first" })))
      runner.accept(does(bet("b", 1500)))
      runner.accept(does(bet("c", 100, { roundId: "third" })))
      assert.deepInclude(runner.player(), { real: 1400, bonus: 1000 })
      runner.now += 2 * day
      runner.accept(does(rollback("k", "b")))
      assert.deepInclude(runner.player(), { real: 1900, bonus: 1000 })
      assert.strictEqual(runner.player().activeBonus?.id, 502)
      assert.deepInclude(bonusesOf(runner)[0], {
        state: "pending",
        result: null,
        wagered: 500,
        held: 1000,
        remainingMs: 5 * day,
        converted: 0,
        expiresAt: null
      })
      assert.deepStrictEqual(toldOf(runner, 501), ["converted", "pending"])
      assert.deepStrictEqual(moves(runner, 6).slice(0, 3), [
        ["real", "bonus_conversion", -1000, 501],
        ["bonus", "bonus_conversion", 1000, 501],
        ["bonus", "bonus_correction_down", -1000, 501]
      ])
      runner.now += day
      runner.accept(cancelBonusStep({ id: 502, reason: null, actor: "staff:1" }))
      assert.deepInclude(runner.player(), { real: 1900, bonus: 1000, pendingBonuses: [] })
      assert.deepInclude(runner.player().activeBonus, { id: 501, wagered: 500, expiresAt: noon + 8 * day })
    })

    it("gets back a rolled-back stake while it is pending, and forfeits that stake when it is cancelled", () => {
      const runner = makeRunner({ ...queued, real: 0 })
      runner.accept(does(bet("b", 1000, { closesRound: true })))
      assert.strictEqual(runner.player().activeBonus?.id, 502)
      runner.accept(does(bet("c", 400, { roundId: "other" })))
      assert.deepInclude(runner.accept(does(rollback("k", "b"))), { bonusAmount: 1000, bonusBalance: 600 })
      assert.deepInclude(bonusesOf(runner)[0], { state: "pending", held: 1000, wagered: 0 })
      assert.deepStrictEqual(toldOf(runner, 501), ["lost", "pending"])
      runner.accept(cancelBonusStep({ id: 501, reason: null, actor: "staff:1" }))
      assert.deepInclude(bonusesOf(runner)[0], { result: "cancelled", forfeited: 1000, held: null })
      assert.deepInclude(runner.player(), { bonus: 600 })
    })

    it("is active again before the second bonus after a late win, and lost again when that win is rolled back", () => {
      const vendor = { policy: policies.hub88 }
      const runner = makeRunner({ ...queued, real: 0 })
      runner.accept(does(bet("b", 1000, { ...vendor, closesRound: true })))
      runner.accept(does(win("w", "b", 3000, vendor)))
      assert.strictEqual(runner.player().activeBonus?.id, 501)
      assert.strictEqual(runner.player().bonus, 3000)
      assert.deepStrictEqual(toldOf(runner, 501), ["lost", "activated"])
      assert.deepStrictEqual(runner.player().pendingBonuses.map(({ id }) => id), [502])
      // the win is taken back from it, which loses it once more
      runner.accept(does(rollback("k", "w", vendor)))
      assert.deepStrictEqual(toldOf(runner, 501), ["lost", "activated", "lost"])
      assert.deepInclude(runner.player(), { bonus: 1000, pendingBonuses: [] })
      assert.deepInclude(bonusesOf(runner)[0], { result: "lost", forfeited: 0 })
    })
  })

  describe(`a lost bonus (${memory})`, () => {
    const activeBonus = makeBonus({ amount: 1000, wagerRequirement: 20_000 })
    const allIn = { real: 0, bonus: 1000, activeBonus }
    /** As before the first message. */
    const isAsBefore = (runner: RuleRunner) => {
      assert.deepInclude(runner.player(), { real: 0, bonus: 1000 })
      assert.deepStrictEqual(runner.player().activeBonus, { ...activeBonus, restored: 0 })
      assert.deepInclude(bonusOf(runner), { state: "activated", result: null, forfeited: 0, finishedAt: null })
    }

    it("is active again when the win and then the bet are rolled back, one by one or in one batch", () => {
      for (const isBatch of [false, true]) {
        const runner = makeRunner(allIn)
        runner.accept(does(bet("b", 1000)))
        runner.accept(does(win("w", "b", 1500, { closesRound: true })))
        const rollbacks = [rollback("kw", "w"), rollback("kb", "b")]
        if (isBatch) runner.accept(doesAll(...rollbacks))
        else for (const action of rollbacks) runner.accept(does(action))
        isAsBefore(runner)
        assert.deepStrictEqual(toldOf(runner, 501), isBatch ? [] : ["lost", "activated"])
      }
    })

    it("is active again when a bet and its win that came in one message are rolled back", () => {
      const runner = makeRunner(allIn)
      runner.accept(doesBoth(bet("b", 1000), win("w", "b", 300, { closesRound: true })))
      assert.deepInclude(runner.player(), { bonus: 300 })
      runner.accept(does(rollback("kw", "w")))
      runner.accept(does(rollback("kb", "b")))
      isAsBefore(runner)
    })

    const ends = {
      "a win of 0 and a close message": [bet("b", 1000), win("w", "b", 0), close()],
      "a win of 0 that closes the round": [bet("b", 1000), win("w", "b", 0, { closesRound: true })],
      "a bet that closes the round": [bet("b", 1000, { closesRound: true })],
      "a close message": [bet("b", 1000), close()]
    }
    for (const [name, messages] of Object.entries(ends)) {
      it(`is active again when its bet, lost by ${name}, is rolled back`, () => {
        const runner = makeRunner(allIn)
        for (const action of messages) runner.accept(does(action))
        assert.deepInclude(bonusOf(runner), { result: "lost", forfeited: 0 })
        runner.now += day
        assert.deepInclude(runner.accept(does(rollback("k", "b"))), { bonusAmount: 1000, bonusBalance: 1000 })
        isAsBefore(runner)
        for (const again of [rollback("k", "b"), rollback("k2", "b")]) runner.accept(does(again))
        isAsBefore(runner)
      })
    }

    it("is not reported as lost if it is empty only between two messages of a batch", () => {
      const runner = makeRunner(allIn)
      runner.accept(doesAll(
        bet("b", 1000, { closesRound: true }),
        rollback("k", "b"),
        bet("b2", 400, { roundId: "second", closesRound: true })
      ))
      assert.deepInclude(runner.player(), { bonus: 600 })
      assert.deepStrictEqual(toldOf(runner, 501), [])
    })

    it("gets back the stakes of both bets that lost it", () => {
      const runner = makeRunner(allIn)
      runner.accept(does(bet("b", 700, { closesRound: true })))
      runner.accept(does(bet("b2", 300, { roundId: "second", closesRound: true })))
      runner.accept(does(rollback("k2", "b2")))
      assert.deepInclude(runner.player().activeBonus, { wagered: 700 })
      runner.accept(does(rollback("k", "b")))
      isAsBefore(runner)
    })

    for (
      const [because, happens, result] of [
        ["its time is over", (runner: RuleRunner) => runner.now = noon + 8 * day, "expired"],
        [
          "the player has excluded themselves",
          (runner: RuleRunner) => runner.set({ exclusion: { type: "self_exclusion", since: 0, until: null } }),
          "cancelled"
        ]
      ] as const
    ) {
      it(`forfeits a rolled-back stake when ${because}, with an event`, () => {
        const runner = makeRunner(allIn)
        runner.accept(does(bet("b", 1000, { closesRound: true })))
        happens(runner)
        assert.deepInclude(runner.accept(does(rollback("k", "b"))), { bonusAmount: 0, bonusBalance: 0 })
        assert.deepInclude(bonusOf(runner), { result, forfeited: 1000 })
        assert.deepStrictEqual(toldOf(runner, 501), ["lost", result])
      })
    }

    const accepting = Object.entries(policies).filter(([, { closedRounds }]) => closedRounds === "accept")
    for (const [protocol, policy] of accepting) {
      describe(`a bonus under the policy of ${protocol}`, () => {
        it("is active again when the bet that closed its round and lost the bonus is rolled back", () => {
          const runner = makeRunner(allIn)
          runner.accept(does(bet("b", 1000, { policy, closesRound: true })))
          assert.deepInclude(bonusOf(runner), { result: "lost" })
          runner.accept(does(rollback("k", "b", { policy })))
          isAsBefore(runner)
        })

        it("stays active for nine minutes after a second bet in a closed round, and gets the win of that bet", () => {
          const runner = makeRunner({ ...allIn, real: 10 })
          runner.accept(doesAll(bet("b", 10, { policy }), win("w", "b", 0, { policy, closesRound: true })))
          runner.accept(does(bet("b2", 1000, { policy })))
          runner.now += 9 * minute
          runner.accept(applyDueBonusesStep)
          assert.strictEqual(runner.player().activeBonus?.id, 501)
          runner.accept(does(win("w2", "b2", 3000, { policy })))
          // the round was paid with 10 of real money and 1000 of the bonus
          assert.deepInclude(runner.player(), { real: 30, bonus: 2970 })
          assert.deepStrictEqual(toldOf(runner, 501), [])
        })

        it("gets a win that arrives after the close of its round", () => {
          const runner = makeRunner(allIn)
          runner.accept(does(bet("b", 1000, { policy })))
          runner.accept(does(close("round", undefined, { policy })))
          runner.now += 11 * minute
          runner.accept(applyDueBonusesStep)
          assert.deepInclude(bonusOf(runner), { result: "lost" })
          assert.deepInclude(runner.accept(does(win("w", "b", 3000, { policy }))), { bonusAmount: 3000 })
          assert.deepInclude(runner.player(), { real: 0, bonus: 3000 })
        })
      })
    }

    it("is lost ten minutes after the last bet at a vendor that reports no losses, and active again with a later win", () => {
      const { spribe: policy } = policies
      const runner = makeRunner({ ...allIn, pendingBonuses: [second] })
      runner.accept(does(bet("b", 600, { policy })))
      runner.now += 6 * minute
      runner.accept(does(bet("b2", 400, { policy, roundId: "second" })))
      runner.now += 6 * minute
      runner.accept(applyDueBonusesStep)
      assert.strictEqual(runner.player().activeBonus?.id, 501)
      runner.now += 4 * minute
      runner.accept(applyDueBonusesStep)
      assert.deepInclude(bonusOf(runner), { result: "lost", forfeited: 0 })
      assert.strictEqual(runner.player().activeBonus?.id, 502)
      // later still, it is paid all the same
      runner.accept(does(win("w", "b", 5000, { policy, closesRound: "when_settled" })))
      assert.deepInclude(runner.player(), { bonus: 5000 })
      assert.strictEqual(runner.player().activeBonus?.id, 501)
    })

    it("is lost when staff close the round that holds its stake, and active again with a win of that round", () => {
      const { hub88, spribe } = policies
      for (const policy of [hub88, spribe]) {
        const runner = makeRunner({ ...allIn, pendingBonuses: [second] })
        const closes = staffCloseStep({
          providerId: 1,
          gameId: 11,
          roundId: "round",
          reason: "silent",
          actor: "staff:1"
        })
        runner.accept(closes)
        assert.isEmpty(runner.store.tables().audit)
        runner.accept(does(bet("b", 1000, { policy })))
        runner.accept(closes)
        assert.deepInclude(bonusOf(runner), { result: "lost" })
        assert.strictEqual(runner.player().activeBonus?.id, 502)
        runner.accept(closes)
        const lines = runner.store.tables().audit
        assert.deepStrictEqual(lines.map(({ action, reason, subject }) => [action, reason, subject]), [
          ["round.close", "silent", "round:11:round"]
        ])
        runner.accept(does(win("w", "b", 10, { policy })))
        assert.deepInclude(runner.player(), { bonus: 10 })
        assert.strictEqual(runner.player().activeBonus?.id, 501)
      }
    })
  })

  describe(`a bonus that cannot cover a rolled-back win, so that a shortfall remains (${memory})`, () => {
    const { hub88: policy } = policies
    const allIn = { real: 0, bonus: 100, activeBonus: makeBonus() }
    const shortOf = (runner: RuleRunner) => (runner.player().activeBonus ?? bonusOf(runner))?.short
    /** Its win of 100 was staked again before it was taken back. */
    const makeShort = (overrides: Partial<Player> = {}) => {
      const runner = makeRunner({ ...allIn, ...overrides })
      runner.accept(does(bet("b", 100, { policy })))
      runner.accept(does(win("w", "b", 100, { policy })))
      runner.accept(does(bet("c", 100, { policy, roundId: "second" })))
      assert.deepInclude(runner.accept(does(rollback("kw", "w", { policy }))), { bonusAmount: -100, bonusBalance: 0 })
      assert.strictEqual(shortOf(runner), 100)
      return runner
    }

    it("settles the shortfall with rolled-back stakes", () => {
      const runner = makeShort()
      assert.deepStrictEqual(moves(runner, 3), [
        ["bonus", "bonus_correction_up", 100, 501],
        ["bonus", "casino_rollback", -100, 501]
      ])
      assert.deepInclude(runner.accept(does(rollback("kc", "c", { policy }))), { bonusAmount: 0, bonusBalance: 0 })
      assert.deepStrictEqual(moves(runner, 5), [
        ["bonus", "casino_rollback", 100, 501],
        ["bonus", "bonus_correction_down", -100, 501]
      ])
      assert.strictEqual(shortOf(runner), 0)
      runner.accept(does(rollback("kb", "b", { policy })))
      assert.deepInclude(runner.player(), { real: 0, bonus: 100 })
    })

    it("settles the shortfall with a late win, and is short again when that win is rolled back", () => {
      const runner = makeShort()
      assert.deepInclude(runner.accept(does(win("wc", "c", 130, { policy, roundId: "second" }))), {
        bonusAmount: 30,
        bonusBalance: 30
      })
      assert.strictEqual(shortOf(runner), 0)
      runner.accept(does(rollback("kwc", "wc", { policy })))
      assert.deepInclude(runner.player(), { real: 0, bonus: 0 })
      assert.strictEqual(shortOf(runner), 100)
    })

    it("is lost when no round is open, and active again when rolled-back stakes exceed the shortfall", () => {
      const runner = makeShort()
      for (const round of ["round", "second"]) runner.accept(does(close(round, undefined, { policy })))
      assert.deepInclude(bonusOf(runner), { result: "lost", short: 100, forfeited: 0 })
      runner.accept(does(rollback("kc", "c", { policy })))
      assert.deepInclude(bonusOf(runner), { result: "lost", short: 0 })
      assert.deepStrictEqual(toldOf(runner, 501), ["lost"])
      runner.accept(does(rollback("kb", "b", { policy })))
      assert.deepInclude(runner.player(), { real: 0, bonus: 100 })
      assert.deepStrictEqual(toldOf(runner, 501), ["lost", "activated"])
    })

    it("has a shortfall when a win is rolled back after the bonus was lost", () => {
      const runner = makeRunner(allIn)
      runner.accept(doesAll(bet("b", 100, { policy }), win("w", "b", 100, { policy, closesRound: true })))
      runner.accept(does(bet("c", 100, { policy, roundId: "second", closesRound: true })))
      assert.deepInclude(bonusOf(runner), { result: "lost" })
      runner.accept(does(rollback("kw", "w", { policy })))
      assert.deepInclude(bonusOf(runner), { result: "lost", short: 100 })
      runner.accept(does(rollback("kc", "c", { policy })))
      assert.deepInclude(runner.player(), { real: 0, bonus: 0 })
    })

    it("pays real money only for wins beyond the shortfall once the bonus is converted", () => {
      const runner = makeShort({ activeBonus: makeBonus({ wagerRequirement: 210 }) })
      runner.accept(doesAll(promoWin("p", 10, { policy }), bet("d", 10, { policy, roundId: "third" })))
      assert.deepInclude(bonusOf(runner), { result: "converted", converted: 0, short: 100 })
      assert.deepInclude(runner.player(), { real: 0, bonus: 0 })
      const late = { policy, roundId: "second" }
      assert.deepInclude(runner.accept(does(win("wc", "c", 70, late))), { realAmount: 0, balance: 0 })
      assert.deepInclude(runner.accept(does(win("wc2", "c", 50, late))), { realAmount: 20, balance: 20 })
      // taken back, the player gives back what was given, and the bonus is short of the rest
      runner.accept(does(rollback("kwc", "wc", { policy })))
      assert.deepInclude(runner.player(), { real: 0, bonus: 0 })
      assert.deepInclude(bonusOf(runner), { converted: 0, late: 0, short: 50 })
    })

    it("takes back from the real wallet at most what its conversion paid when a win is rolled back after the conversion", () => {
      const runner = makeRunner({ real: 0, bonus: 100, activeBonus: makeBonus({ wagerRequirement: 250 }) })
      runner.accept(doesAll(bet("b", 100, { policy }), win("w", "b", 200, { policy, closesRound: true })))
      runner.accept(does(bet("c", 150, { policy, roundId: "second", closesRound: true })))
      assert.deepInclude(bonusOf(runner), { result: "converted", converted: 50 })
      runner.accept(does(rollback("kw", "w", { policy })))
      assert.deepInclude(runner.player(), { real: 0, bonus: 0 })
      assert.deepInclude(bonusOf(runner), { converted: 50, late: -50, short: 150 })
    })

    it("has its forfeited amount corrected when a win is rolled back after it expired", () => {
      const runner = makeRunner(allIn)
      runner.accept(doesAll(bet("b", 100, { policy }), win("w", "b", 80, { policy, closesRound: true })))
      runner.now += 8 * day
      runner.accept(applyDueBonusesStep)
      assert.deepInclude(bonusOf(runner), { result: "expired", forfeited: 80 })
      runner.accept(does(rollback("kw", "w", { policy })))
      assert.deepInclude(bonusOf(runner), { result: "expired", forfeited: 0, short: 0 })
      runner.accept(does(rollback("kb", "b", { policy })))
      assert.deepInclude(bonusOf(runner), { result: "expired", forfeited: 100, wagered: 0 })
    })

    it("has a shortfall when a bet whose returned stake was forfeited is reinstated", () => {
      const activeBonus = makeBonus({ amount: 200, wagerRequirement: 200, maxConversion: 50 })
      const runner = makeRunner({ real: 0, bonus: 280, activeBonus })
      for (const [id, amount] of [["a", 100], ["b", 20], ["c", 100]] as const) {
        runner.accept(does(bet(id, amount, { policy, roundId: id })))
      }
      runner.accept(does(rollback("k", "b", { policy })))
      assert.deepInclude(bonusOf(runner), { result: "converted", converted: 50, late: 0, forfeited: 30 })
      runner.accept(does(rollback("kc", "c", { policy })))
      runner.accept(does(bet("d", 170, { policy, roundId: "d", game: roulette })))
      assert.strictEqual(runner.player().bonus, 10)
      runner.accept(does(rollback("kk", "k", { policy })))
      assert.deepInclude(runner.player(), { real: 0, bonus: 0 })
      assert.strictEqual(shortOf(runner), 10)
      runner.accept(does(rollback("l", "b", { policy })))
      assert.deepInclude(runner.player(), { real: 0, bonus: 10 })
      assert.strictEqual(shortOf(runner), 0)
    })
  })

  describe(`a wagering requirement that a reinstated bet meets again (${memory})`, () => {
    const { hub88: policy } = policies
    const met = { real: 200, bonus: 100, activeBonus: makeBonus({ wagerRequirement: 200 }) }

    it("converts a pending bonus at once", () => {
      const runner = makeRunner({ ...met, real: 220, pendingBonuses: [second] })
      runner.accept(does(bet("b", 200, { policy })))
      runner.accept(does(bet("c", 10, { policy, roundId: "second" })))
      runner.accept(does(rollback("k", "b", { policy })))
      assert.deepInclude(bonusOf(runner), { state: "pending", held: 100 })
      runner.accept(does(rollback("kk", "k", { policy })))
      assert.deepInclude(bonusOf(runner), { result: "converted", converted: 100, held: null, wagered: 200 })
      assert.deepInclude(runner.player(), { real: 110, bonus: 1000, pendingBonuses: [] })
      assert.deepStrictEqual(toldOf(runner, 501), ["converted", "pending", "converted"])
      // and waits once more without it
      runner.accept(does(rollback("l", "b", { policy })))
      assert.deepInclude(bonusOf(runner), { state: "pending", held: 100, converted: 0 })
    })

    it("converts a bonus that has expired since", () => {
      const runner = makeRunner(met)
      runner.accept(does(bet("b", 200, { policy })))
      runner.now += 8 * day
      runner.accept(does(rollback("k", "b", { policy })))
      assert.deepInclude(bonusOf(runner), { result: "expired", forfeited: 100 })
      runner.accept(does(rollback("kk", "k", { policy })))
      assert.deepInclude(bonusOf(runner), { result: "converted", converted: 100, forfeited: 0 })
      assert.deepInclude(runner.player(), { real: 100, bonus: 0 })
      assert.deepStrictEqual(toldOf(runner, 501), ["converted", "expired", "converted"])
    })

    it("converts a bonus that was lost since, without activating it in between", () => {
      const activeBonus = makeBonus({ amount: 120, wagerRequirement: 120, contributions: { [roulette.id]: 50 } })
      const runner = makeRunner({ real: 80, bonus: 120, activeBonus })
      runner.accept(doesAll(bet("b", 20, { policy }), rollback("k", "b", { policy })))
      runner.accept(does(bet("c", 200, { policy, game: roulette, roundId: "second", closesRound: true })))
      assert.deepInclude(bonusOf(runner), { result: "lost", wagered: 100 })
      runner.accept(doesAll(adjustment("a", 30, { policy }), rollback("kk", "k", { policy })))
      assert.deepInclude(bonusOf(runner), { result: "converted", converted: 0, wagered: 120 })
      assert.deepInclude(runner.player(), { real: 10, bonus: 0 })
      assert.deepStrictEqual(toldOf(runner, 501), ["lost", "converted"])
    })

    it("does not convert a bonus that staff cancelled", () => {
      const runner = makeRunner(met)
      runner.accept(does(bet("b", 200, { policy })))
      runner.accept(does(rollback("k", "b", { policy })))
      runner.accept(cancelBonusStep({ id: 501, reason: null, actor: "staff:1" }))
      runner.accept(does(rollback("kk", "k", { policy })))
      assert.deepInclude(bonusOf(runner), { result: "cancelled", forfeited: 100 })
      assert.deepInclude(runner.player(), { real: 0, bonus: 0 })
    })
  })

  describe(`an earlier bonus that is pending while a later one is active (${memory})`, () => {
    it("is lost when its last stake can no longer win", () => {
      const interrupted = {
        wagered: 100,
        openRounds: 0,
        openUntil: noon + 10 * minute,
        restored: 0,
        short: 0,
        startedAt: noon - day,
        held: 0,
        remainingMs: day
      }
      const first = { ...makeBonus({ id: 501, amount: 100, wagerRequirement: 2000 }), interrupted }
      const openUntil = noon + day
      const running = { ...makeBonus({ id: 502, amount: 100, wagerRequirement: 2000 }), wagered: 10, openUntil }
      const runner = makeRunner({ bonus: 90, activeBonus: running, pendingBonuses: [first] })
      runner.accept(applyDueBonusesStep)
      assert.strictEqual(runner.player().pendingBonuses.length, 1)
      runner.now += 10 * minute
      runner.accept(applyDueBonusesStep)
      assert.deepInclude(bonusOf(runner), { result: "lost", forfeited: 0 })
      assert.deepInclude(runner.player(), { bonus: 90, pendingBonuses: [] })
      assert.strictEqual(runner.player().activeBonus?.openUntil, openUntil)
    })

    const { hub88: policy } = policies

    it("is active again when the only bet of the later bonus is rolled back", () => {
      const runner = makeRunner({
        real: 220,
        bonus: 100,
        activeBonus: makeBonus({ wagerRequirement: 200 }),
        pendingBonuses: [second]
      })
      runner.accept(does(bet("b", 200, { policy })))
      runner.accept(does(bet("c", 10, { policy, roundId: "second" })))
      runner.accept(does(rollback("k", "b", { policy })))
      assert.strictEqual(runner.player().activeBonus?.id, 502)
      runner.accept(does(rollback("kc", "c", { policy })))
      assert.deepInclude(runner.player(), { real: 220, bonus: 100 })
      assert.deepInclude(runner.player().activeBonus, { id: 501, wagered: 0 })
      assert.deepStrictEqual(runner.player().pendingBonuses.map(({ id }) => id), [502])
    })

    it("is lost when it holds neither money nor an open stake", () => {
      const runner = makeRunner({ real: 0, bonus: 100, activeBonus: makeBonus(), pendingBonuses: [second] })
      runner.accept(does(bet("b", 100, { policy, closesRound: true })))
      runner.accept(does(bet("c", 10, { policy, roundId: "second" })))
      runner.accept(does(rollback("k", "b", { policy })))
      assert.deepInclude(bonusOf(runner), { state: "pending", held: 100 })
      runner.accept(does(rollback("kk", "k", { policy })))
      assert.deepInclude(bonusOf(runner), { result: "lost", held: null })
      assert.deepInclude(runner.player(), { bonus: 990, pendingBonuses: [] })
    })
  })
}

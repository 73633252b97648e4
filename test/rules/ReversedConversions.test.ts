import { assert, describe, it } from "@effect/vitest"
import { cancelBonusStep } from "../../src/domain/bonus/BonusGrants.ts"
import { noRestrictions, type Player } from "../../src/domain/player/Player.ts"
import { does, RuleRunner } from "../kit/RuleRunner.ts"
import { bet, day, makeBonus, makePlayer, noon, rollback, win } from "../kit/Messages.ts"

// Rollbacks that undo the basis of a conversion: the bonus's money returns to its previous wallet. Every test runs with the
// player kept in memory, and with passivation after every message.

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

  describe(`a conversion, for a player who ${remembers ? "remembers" : "forgets"}`, () => {
    const rich = {
      real: 300_000,
      bonus: 10_000,
      activeBonus: makeBonus({ amount: 10_000, wagerRequirement: 300_000 })
    }

    it("is reversed by the rollback of the bet that met the requirement, once, and the bonus runs on", () => {
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

    it("stands while the requirement is met without the bet", () => {
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

    it("takes along what its open rounds won in real money since", () => {
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

    it("gives back what the cap had taken, too", () => {
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
      ["the account is closed", (runner) => runner.set({ status: "closed" }), "cancelled"],
      [
        "the player is kept from bonuses",
        (runner) => runner.set({ restrictions: { ...noRestrictions, excludedFromBonuses: true } }),
        "cancelled"
      ]
    ]
    for (const [because, happens, result] of ends) {
      it(`leaves nothing of the bonus when ${because}`, () => {
        const runner = makeRunner(rich)
        runner.accept(does(bet("b", 300_000)))
        happens(runner)
        runner.accept(does(rollback("k", "b")))
        assert.deepInclude(runner.player(), { real: 300_000, bonus: 0, activeBonus: null })
        assert.deepInclude(bonusOf(runner), { result, converted: 0, forfeited: 10_000 })
      })
    }

    it("leaves nothing in the sums of wins of one that came when the bonus was over, once it is taken back", () => {
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
  })
}

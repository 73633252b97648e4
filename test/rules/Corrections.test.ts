import { assert, describe, it } from "@effect/vitest"
import { type Correction, correctionStep } from "../../src/domain/wallet/Corrections.ts"
import { RuleRunner } from "../kit/RuleRunner.ts"
import { grantStep } from "../../src/domain/bonus/BonusGrants.ts"
import { settle } from "../../src/domain/settlement/Settlement.ts"
import { bet, makePlayer } from "../kit/Messages.ts"

const correct = (wallet: Correction["wallet"], amount: number) =>
  correctionStep({ wallet, amount, reason: "a mistake", actor: "staff:7" })

describe("a correction", () => {
  const cases = [
    ["real", 50, "correction_up", 1050],
    ["real", -50, "correction_down", 950],
    ["real", -1500, "correction_down", -500],
    ["bonus", 50, "bonus_correction_up", 150],
    ["bonus", -100, "bonus_correction_down", 0]
  ] as const
  for (const [wallet, amount, type, balanceAfter] of cases) {
    it(`of ${amount} in the ${wallet} wallet is a ${type}, with its reason in the audit log`, () => {
      const runner = new RuleRunner([makePlayer({ bonus: 100 })])
      const entry = runner.accept(correct(wallet, amount))
      assert.deepInclude(entry, { wallet, type, amount, balanceAfter, seq: 1 })
      assert.strictEqual(runner.player().walletSeq, 1)
      const [record] = runner.store.tables().audit
      assert.deepInclude(record, {
        actor: "staff:7",
        action: "player.correct",
        playerId: 1,
        reason: "a mistake",
        before: { wallet, balance: balanceAfter - amount },
        after: { wallet, balance: balanceAfter }
      })
      assert.notStrictEqual(record?.id, entry.id)
    })
  }

  // Goal: no bonus pays out more than it granted. Method: money in the bonus wallet without a bonus, then a bonus that converts.
  it("of the bonus wallet, made while no bonus is active, does not go to the next bonus", () => {
    const runner = new RuleRunner([makePlayer({ real: 200, pendingBonuses: [] })])
    runner.accept(correct("bonus", 5000))
    runner.accept(grantStep({
      bonus: {
        id: 5,
        operatorId: 1,
        name: "Welcome",
        description: "",
        type: "no_deposit",
        defaultAmount: 100,
        wageringMultiplier: 1,
        validDays: 7,
        maxBet: 0,
        maxConversionMultiplier: 0,
        maxGrantsPerPlayer: 0,
        isActive: true,
        contributions: {},
        currency: "EUR"
      },
      amount: null,
      note: null
    }))
    assert.deepInclude(runner.player(), { real: 200, bonus: 100 })
    runner.accept((player, context) => settle(player, bet("b", 100), context))
    assert.deepInclude(runner.player(), { real: 200, bonus: 0, activeBonus: null })
  })

  it("is refused when it is 0, makes the bonus balance negative or exceeds the safe integer range", () => {
    const runner = new RuleRunner([makePlayer({ bonus: 100 })])
    for (const step of [correct("real", 0), correct("bonus", -101), correct("real", Number.MAX_SAFE_INTEGER)]) {
      assert.deepInclude(runner.refuse(step), { code: "VALIDATION_FAILED" })
    }
    assert.strictEqual(runner.store.tables().audit.length, 0)
  })
})

import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { restrictStep } from "../../src/domain/player/AccountStatus.ts"
import type { Step } from "../../src/domain/state/Decision.ts"
import { activeHoldIds, type Player, type Restrictions } from "../../src/domain/state/Player.ts"
import { type Refusal, refuse } from "../../src/domain/Refusal.ts"
import { placeHoldStep, releaseHoldStep } from "../../src/domain/payment/WithdrawalHolds.ts"
import { RuleRunner } from "../kit/RuleRunner.ts"
import { makePlayer } from "../kit/Messages.ts"
import { transitionStep, type PaymentTransitionName } from "../../src/domain/payment/PaymentTransitions.ts"
import { withdrawalStep } from "../../src/domain/payment/Withdrawals.ts"
import { transitionOf, withdrawalOf } from "../kit/Payments.ts"

// Goal: alerts hold withdrawals independently of staff restrictions: closing an alert releases only its own hold,
// staff release all at once, and a released hold is not placed again. Method: the rules at a runner with a store; then any order of
// placing, releasing, lifting and restricting against a plain model.

const place = (alertId: number) => placeHoldStep({ alertId, rule: "structuring" })
const release = (alertId: number) => releaseHoldStep({ alertId, actor: "staff:1" })
const withdraw = (externalReference: string | null = null) => withdrawalStep(withdrawalOf(10, { externalReference }))
const move = (paymentId: number, name: PaymentTransitionName) => transitionStep(transitionOf(paymentId, name))
const restrict = (canWithdraw: boolean) => restrictStep({ restrictions: { canWithdraw }, actor: "staff:1" })

describe("withdrawal holds", () => {
  it("refuse new withdrawals and stop open ones from being approved or paid, but not from being refunded", () => {
    const runner = new RuleRunner([makePlayer({ real: 1000 })])
    const opened = [1, 2, 3].map((reference) => runner.accept(withdraw(`w${reference}`)).payment.id)
    const [first = 0, second = 0, third = 0] = opened
    runner.accept(move(first, "approve"))
    runner.accept(place(5))
    const held = { code: "PLAYER_RESTRICTED", details: { reason: "compliance_hold" } } as const
    const isHeld = (step: Step<unknown, Refusal>) => assert.deepInclude(runner.refuse(step), held)
    isHeld(withdraw("w4"))
    isHeld(move(first, "pay"))
    isHeld(move(second, "approve"))
    // existing withdrawals are still replayed, and money may always be returned
    runner.accept(withdraw("w1"))
    runner.accept(move(second, "reject"))
    runner.accept(move(third, "cancel"))
    runner.accept(release(5))
    runner.accept(move(first, "pay"))
    runner.accept(withdraw("w4"))
  })

  it("leave a line in the audit log for each change, and none where nothing changes", () => {
    const runner = new RuleRunner([makePlayer()])
    runner.accept(place(5))
    runner.accept(place(5))
    runner.accept(release(6))
    runner.accept(restrict(true))
    runner.accept(restrict(true))
    runner.accept(release(5))
    const lines = runner.store.tables().audit.map((
      { action, after, before, reason }
    ) => [action, before, after, reason])
    const fields = {
      can_login: true,
      can_deposit: true,
      can_withdraw: true,
      can_bet: true,
      excluded_from_bonuses: false
    }
    assert.deepStrictEqual(lines, [
      ["player.hold", { withdrawal_holds: [] }, { withdrawal_holds: [5] }, "alert 5: structuring"],
      ["player.restrict", { ...fields, withdrawal_holds: [5] }, fields, null],
      ["player.hold", { withdrawal_holds: [] }, { withdrawal_holds: [] }, "alert 5 holds no more"]
    ])
  })

  it("refuse a change of restrictions as a whole when the caller may not lift the hold", () => {
    const runner = new RuleRunner([makePlayer({ real: 1000 })])
    const liftRefusal = refuse("INSUFFICIENT_SCOPE", "not you")
    const sent = (restrictions: Partial<Restrictions>) => restrictStep({ restrictions, actor: "staff:2", liftRefusal })
    runner.accept(sent({ canWithdraw: true }))
    runner.accept(place(5))
    const held = runner.player()
    assert.deepStrictEqual(runner.refuse(sent({ canWithdraw: true, canBet: false })), liftRefusal)
    assert.deepStrictEqual(runner.player(), held)
    // restrictions, and permissions unrelated to withdrawals
    runner.accept(sent({ canBet: false }))
    runner.accept(sent({ canWithdraw: false }))
    assert.deepStrictEqual(activeHoldIds(runner.player().withdrawalHolds), [5])
    runner.accept(release(5))
    assert.isTrue(runner.accept(sent({ canWithdraw: true })).restrictions.canWithdraw)
  })

  it("agree with a plain model after changes in any order", () => {
    const alerts = [1, 2, 3]
    const act = fc.oneof(
      fc.record({ what: fc.constantFrom("place" as const, "release" as const), alert: fc.constantFrom(...alerts) }),
      fc.record({ what: fc.constantFrom("let" as const, "stop" as const), alert: fc.constant(0) })
    )
    fc.assert(fc.property(fc.array(act, { maxLength: 30 }), (acts) => {
      const runner = new RuleRunner([makePlayer({ real: 1000 })])
      const held = new Set<number>()
      const lifted = new Set<number>()
      let mayWithdraw = true
      for (const { alert, what } of acts) {
        if (what === "place") {
          runner.accept(place(alert))
          if (!lifted.has(alert)) held.add(alert)
        } else if (what === "release") {
          runner.accept(release(alert))
          held.delete(alert)
          lifted.delete(alert)
        } else {
          runner.accept(restrict(what === "let"))
          mayWithdraw = what === "let"
          if (mayWithdraw) {
            for (const each of held) lifted.add(each)
            held.clear()
          }
        }
        const player: Player = runner.player()
        assert.sameMembers([...activeHoldIds(player.withdrawalHolds)], [...held])
        assert.strictEqual(player.restrictions.canWithdraw, mayWithdraw)
        const answer = runner.ask(withdraw())
        assert.strictEqual("refusal" in answer, held.size > 0 || !mayWithdraw)
      }
    }))
  })
})

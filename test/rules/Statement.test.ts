import { assert, it } from "@effect/vitest"
import { entryTypes } from "../../src/domain/state/Change.ts"
import { totalsOf } from "../../src/domain/wallet/Statement.ts"

// Goal: the totals of a statement explain the whole change of the balances. Method: one amount of each type and sign, each of another size.

it("an account statement's totals count each ledger entry once, in the right total and with the right sign", () => {
  const sums = entryTypes.flatMap((type, index) => [
    { type, amount: 2 ** (2 * index) },
    { type, amount: -(2 ** (2 * index + 1)) }
  ])
  const { bonuses, corrections, deposits, net, staked, withdrawals, won } = totalsOf(sums)
  const moved = sums.reduce((sum, { amount }) => sum + amount, 0)
  assert.strictEqual(deposits - withdrawals + net + bonuses + corrections, moved)
  assert.strictEqual(net, won - staked)
  const of = (...some: Parameters<typeof totalsOf>[0]) => totalsOf(some)
  assert.deepInclude(of({ type: "casino_bet", amount: -70 }, { type: "casino_rollback", amount: 20 }), {
    staked: 50,
    won: 0
  })
  assert.deepInclude(of({ type: "casino_win", amount: 90 }, { type: "casino_rollback", amount: -30 }), {
    staked: 0,
    won: 60
  })
  assert.deepInclude(of({ type: "deposit", amount: 500 }, { type: "chargeback", amount: -500 }), { deposits: 0 })
  const returned = of({ type: "withdrawal", amount: -300 }, { type: "withdrawal_rejection", amount: 100 })
  assert.deepInclude(returned, { withdrawals: 200, net: 0 })
  assert.deepInclude(of({ type: "bonus_conversion", amount: -9 }, { type: "bonus_conversion", amount: 9 }), {
    bonuses: 0
  })
})

import { assert, describe, it } from "@effect/vitest"
import { dayNumber, noRules, type Rules } from "../../src/domain/jurisdiction/Rules.ts"
import { depositStep } from "../../src/domain/payment/Payments.ts"
import { transitionStep } from "../../src/domain/payment/PaymentTransitions.ts"
import { withdrawalStep } from "../../src/domain/payment/Withdrawals.ts"
import { standing } from "../../src/domain/standing/Standing.ts"
import type { Player } from "../../src/domain/state/Player.ts"
import { makePlayer } from "../kit/Messages.ts"
import { depositOf, transitionOf, withdrawalOf } from "../kit/Payments.ts"
import { RuleRunner } from "../kit/RuleRunner.ts"

// Goal: 4.5: deposits less withdrawals of a month of UTC stay at or below the jurisdiction's cap. Method: a player under a cap pays in and out around
// the end of a month.

type Cap = NonNullable<Rules["deposits"]["net_cap"]>

const cap: Cap = { amount: 1000, under_age: 24, amount_under: 400 }

const november = Date.UTC(2026, 10, 20, 12)
const december = Date.UTC(2026, 11, 1)

const payer = (more: Partial<Player> = {}, net_cap: Cap = cap) => {
  const player = makePlayer({ real: 0, rules: { ...noRules, deposits: { net_cap } }, ...more })
  const runner = new RuleRunner([player])
  runner.now = november
  let made = 0
  return {
    runner,
    deposit: (amount: number) => runner.ask(depositStep(depositOf(amount, `d${made++}`))),
    withdraw: (amount: number) => runner.accept(withdrawalStep(withdrawalOf(amount))).payment.id,
    move: (id: number, transition: "cancel" | "reject") => runner.accept(transitionStep(transitionOf(id, transition)))
  }
}

const used = (answer: object): unknown => "refusal" in answer ? Object(answer.refusal).details : undefined

const beyond = (of: number, value = 1000) => ({
  limit: "net_deposit_cap",
  value,
  used: of,
  resets_at: "2026-12-01T00:00:00.000Z"
})

describe("4.5 the net deposit cap", () => {
  it("counts a withdrawal from its request on, unless it is rejected or cancelled in the same month", () => {
    const { deposit, move, withdraw } = payer()
    assert.isUndefined(used(deposit(1000)))
    assert.deepStrictEqual(used(deposit(1)), beyond(1000))
    const ids = [withdraw(300), withdraw(200)]
    assert.deepStrictEqual(used(deposit(501)), beyond(500))
    move(ids[0] ?? 0, "cancel")
    move(ids[1] ?? 0, "reject")
    assert.deepStrictEqual(used(deposit(1)), beyond(1000))
  })

  it("starts at zero each month, and ignores the cancellation of an earlier month's withdrawal", () => {
    const { deposit, move, runner, withdraw } = payer()
    deposit(1000)
    const id = withdraw(400)
    runner.now = december
    move(id, "cancel")
    assert.isUndefined(used(deposit(1000)))
    assert.deepStrictEqual(used(deposit(1)), { ...beyond(1000), resets_at: "2027-01-01T00:00:00.000Z" })
    withdraw(1400)
    assert.deepStrictEqual(used(deposit(1401)), { ...beyond(-400), resets_at: "2027-01-01T00:00:00.000Z" })
  })

  it("is lower for players below an age, and rises at midnight as the birthday begins", () => {
    const { deposit, runner } = payer({ birthDay: dayNumber("2002-11-30") })
    runner.now = Date.UTC(2026, 10, 30) - 1
    assert.deepStrictEqual(used(deposit(401)), beyond(0, 400))
    runner.now++
    assert.isUndefined(used(deposit(1000)))
  })

  it("is checked before the player's own limits, and appears in the player's abilities", () => {
    const { deposit, runner } = payer({ limits: { max_single_deposit: 10 } })
    assert.deepInclude(used(deposit(1001)), { limit: "net_deposit_cap" })
    assert.deepInclude(used(deposit(1000)), { limit: "max_single_deposit" })
    const full = payer()
    full.deposit(1000)
    const caps = { kycThreshold: null, dailyDepositCap: null, dailyWithdrawalCap: null }
    assert.deepStrictEqual(standing(full.runner.player(), caps, runner.now).deposit?.details, beyond(1000))
  })

  it("is the amount that a case decided on only where that is higher than the jurisdiction's", () => {
    assert.deepStrictEqual(used(payer({ netDepositCap: 1500 }).deposit(1501)), beyond(0, 1500))
    const { deposit } = payer({ netDepositCap: 600 })
    assert.isUndefined(used(deposit(1000)))
    assert.deepStrictEqual(used(deposit(1)), beyond(1000))
  })

  it("counts deposits made before the profile version that introduces it", () => {
    const { deposit, runner, withdraw } = payer({ rules: noRules })
    deposit(5000)
    withdraw(4500)
    const { counters } = runner.player()
    const later = payer({ counters })
    assert.deepStrictEqual(used(later.deposit(501)), beyond(500))
    assert.isUndefined(used(later.deposit(500)))
  })
})

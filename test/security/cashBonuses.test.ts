import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { staffCall } from "../support/Backoffice.ts"
import { goTo, pass, whileTimePasses } from "../support/Calendar.ts"
import { layerCasinos, openCasino, staff } from "../support/Casino.ts"
import { dataOf } from "../support/PublicApi.ts"

// Goal: money that one member of staff made does not leave by the same hands, whether it is called a bonus or made before midnight. Method: the
// attacks of one token of the role payments without a budget, on a running service.

const api = "/backoffice/v1"

const newPayer = Effect.gen(function*() {
  const { data } = yield* staffCall("POST", `${api}/staff`, { name: "payer", role: "payments", daily_budget: null })
  const { token } = data
  const call = (path: string, body: { readonly [field: string]: unknown }) =>
    staffCall("POST", `${api}${path}`, body, { authorization: `Bearer ${token}` })
  return {
    correct: (player: number, amount: number) => call(`/players/${player}/corrections`, { amount, reason: "why not" }),
    grant: (player: number, bonus: number, amount: number) => call(`/players/${player}/bonuses`, { bonus, amount }),
    /** The status that the payment has afterwards, or why it was refused. */
    approve: (payment: number) =>
      Effect.map(
        call(`/payments/${payment}/approve`, {}),
        ({ code, data, details }) => code === undefined ? data.status : details["reason"] ?? code
      )
  }
})

layer(layerCasinos, { excludeTestServices: true })("money that one person made", (it) => {
  it.effect("goes by the rule for corrections when it is granted as a bonus of cash", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino({ withdrawal_second_approval_above: 10_000 })
      const { id: player } = yield* casino.register()
      const cash = yield* casino.newBonus({ type: "cash", wagering_multiplier: 0 })
      const wagered = yield* casino.newBonus()
      const thief = yield* newPayer
      const refused = yield* thief.grant(player, cash.id, 10_001)
      assert.deepStrictEqual([refused.code, refused.details["reason"]], ["BONUS_INVALID", "second_approver"])
      assert.deepStrictEqual(yield* casino.balances(player), [0, 0])
      // in parts, with a correction among them
      assert.strictEqual((yield* thief.grant(player, cash.id, 6000)).status, 201)
      assert.strictEqual((yield* thief.correct(player, 4000)).status, 201)
      assert.strictEqual((yield* thief.grant(player, cash.id, 1)).details["reason"], "second_approver")
      assert.strictEqual((yield* thief.correct(player, 1)).status, 202)
      // money that has to be wagered is another thing
      assert.strictEqual((yield* thief.grant(player, wagered.id, 20_000)).status, 201)
      // and it counts with what is withdrawn
      const payment = dataOf(yield* casino.withdraw(player, 1), 201)
      assert.strictEqual(yield* thief.approve(payment.id), "corrected_balance")
      assert.deepStrictEqual((yield* staff("GET", `/ledger/verification?operator=${casino.slug}`)).violations, [])
    }))

  it.effect("is not paid out by the same person after midnight", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* openCasino({ withdrawal_second_approval_above: 10_000 })
      const { id: player } = yield* casino.register()
      const thief = yield* newPayer
      yield* goTo("2026-03-15T23:59:00Z")
      assert.strictEqual((yield* thief.correct(player, 10_000)).status, 201)
      yield* pass(120_000)
      const payment = dataOf(yield* casino.withdraw(player, 10_000), 201)
      assert.strictEqual(yield* thief.approve(payment.id), "corrected_balance")
    })))
})

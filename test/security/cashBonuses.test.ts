import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { made, staffCall } from "../kit/Backoffice.ts"
import { goTo, pass, whileTimePasses } from "../kit/Calendar.ts"
import { fresh, layerCasinos, openCasino, staff } from "../kit/Casino.ts"
import { dataOf } from "../kit/PublicApi.ts"

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
    make: (path: string, body: { readonly [field: string]: unknown }) => call(path, body),
    change: (path: string, body: { readonly [field: string]: unknown }) =>
      staffCall("PATCH", `${api}${path}`, body, { authorization: `Bearer ${token}` }),
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

  it.effect("is not made by the role that corrects balances, as a bonus of its own terms and a code for it", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino({ withdrawal_second_approval_above: 10_000 })
      const { id: accomplice } = yield* casino.register()
      const cash = yield* casino.newBonus({ type: "cash", wagering_multiplier: 0 })
      const code = fresh("P")
      const promo = yield* made("/promo-codes", {
        operator: casino.slug,
        code,
        bonus: cash.id,
        max_redemptions: 1
      })
      const thief = yield* newPayer
      const offer = { operator: casino.slug, name: "P", type: "cash", default_amount: 5_000_000 }
      const attempts = [
        yield* thief.make("/bonuses", offer),
        yield* thief.change(`/bonuses/${cash.id}`, { default_amount: 5_000_000 }),
        yield* thief.make("/promo-codes", {
          operator: casino.slug,
          code: fresh("Q"),
          bonus: cash.id,
          max_redemptions: 9
        }),
        yield* thief.change(`/promo-codes/${promo.id}`, { active: false })
      ]
      for (const { code: refused, details, status } of attempts) {
        assert.deepStrictEqual([status, refused, details["required_roles"]], [403, "INSUFFICIENT_SCOPE", ["admin"]])
      }
      dataOf(yield* casino.post(`/players/${accomplice}/promo-codes`, { code }), 201)
      assert.deepStrictEqual(yield* casino.balances(accomplice), [500, 0])
      // what is on offer is granted as before, of another amount too
      assert.strictEqual((yield* thief.grant(accomplice, cash.id, 70)).status, 201)
    }))

  it.effect("is bounded by the number of redemptions of a code for it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const casino = yield* openCasino()
      const required = { max_redemptions: ["is required for a bonus without wagering"] }
      const codeFor = (bonus: number, more: { readonly [field: string]: unknown } = {}) =>
        staffCall("POST", `${api}/promo-codes`, { operator: casino.slug, code: fresh("C"), bonus, ...more })
      const cash = yield* casino.newBonus({ type: "cash", wagering_multiplier: 0 })
      const unwagered = yield* casino.newBonus({ wagering_multiplier: 0 })
      for (const { id } of [cash, unwagered]) {
        for (const more of [{}, { max_redemptions: null }, { expires_at: "2099-01-01T00:00:00Z" }]) {
          const refused = yield* codeFor(id, more)
          assert.deepStrictEqual([refused.code, refused.details], ["VALIDATION_FAILED", required])
        }
        assert.strictEqual((yield* codeFor(id, { max_redemptions: 2 })).status, 201)
      }
      // nor does a bonus lose its wagering once there is a code without end
      const wagered = yield* casino.newBonus()
      const { data: endless } = yield* codeFor(wagered.id)
      const loses = staffCall("PATCH", `${api}/bonuses/${wagered.id}`, { wagering_multiplier: 0 })
      const switches = (active: boolean) => staffCall("PATCH", `${api}/promo-codes/${endless.id}`, { active })
      const kept = yield* loses
      assert.deepStrictEqual([kept.code, kept.details], ["VALIDATION_FAILED", {
        wagering_multiplier: [
          `must not be 0 while a promo code without max_redemptions grants it, like ${endless.code}`
        ]
      }])
      assert.strictEqual((yield* switches(false)).status, 200)
      assert.strictEqual((yield* loses).status, 200)
      assert.deepStrictEqual((yield* switches(true)).details, required)
      // one from before the rule can be switched off, and its bonus changed
      yield* sql`UPDATE promo_codes SET active = true WHERE id = ${endless.id}`
      assert.strictEqual(
        (yield* staffCall("PATCH", `${api}/bonuses/${wagered.id}`, { active: false, max_bet: 5 })).status,
        200
      )
      assert.strictEqual((yield* switches(false)).status, 200)
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

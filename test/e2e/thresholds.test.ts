import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { layerCasinos } from "../kit/Backoffice.ts"
import { assertRefused, dataOf, made, openCasino, registration, staff, staffCall } from "../kit/Casino.ts"

// Goal: an operator's thresholds are amounts of the operator's currency, for players of any currency; amounts without a rate
// count as above. Method: an operator in EUR with players of several currencies, with and without rates, over HTTP.

/** Answer to an approval with a token. */
const approve = (payment: number, token: string) =>
  Effect.map(
    staffCall("POST", `/backoffice/v1/payments/${payment}/approve`, {}, { authorization: `Bearer ${token}` }),
    ({ code, data }) => code ?? data.status
  )

const setRate = (currency: string, rate: number) => staff("POST", "/rates", { currency, base: "EUR", rate })

/** A casino whose payment method takes yen as well. */
const openWith = Effect.fnUntraced(function*(settings: { readonly [field: string]: unknown }) {
  const casino = yield* openCasino(settings)
  yield* made("/payment-methods", { operator: casino.slug, code: "wire", currencies: ["EUR", "SEK"] })
  const asks = Effect.fnUntraced(function*(currency: string) {
    const { id } = yield* casino.register({ currency })
    dataOf(yield* casino.deposit(id, 10_000_000), 201)
    return {
      id,
      withdraw: (amount: number) => casino.withdraw(id, amount, { payment_method: "wire" }),
      allowance: Effect.map(casino.get(`/players/${id}/wallet`), ({ data }) => data.unverified_withdrawal_allowance)
    }
  })
  return { ...casino, asks }
})

layer(layerCasinos, { excludeTestServices: true })("thresholds in the operator's currency", (it) => {
  it.effect("a withdrawal above the threshold at today's rate needs a second approval, and without a rate every withdrawal does", () =>
    Effect.gen(function*() {
      const casino = yield* openWith({ withdrawal_second_approval_above: 10_000 })
      const [first, second] = [
        (yield* made("/staff", { name: "One", role: "payments" })).token,
        (yield* made("/staff", { name: "Two", role: "payments" })).token
      ]
      // one player each, since the withdrawals of a day count together
      const states = Effect.fnUntraced(function*(currency: string, amount: number) {
        const player = yield* casino.asks(currency)
        const { id } = dataOf(yield* player.withdraw(amount), 201)
        return [yield* approve(id, first), yield* approve(id, first), yield* approve(id, second)]
      })
      const one = ["allowed", "PAYMENT_REQUEST_INVALID", "PAYMENT_REQUEST_INVALID"]
      const two = ["new", "PAYMENT_REQUEST_INVALID", "allowed"]
      assert.deepStrictEqual([yield* states("EUR", 10_000), yield* states("EUR", 10_001)], [one, two])
      // without a rate the value of a krona is unknown
      assert.deepStrictEqual(yield* states("SEK", 1), two)
      // and an approver may not set the rate
      const rate = { currency: "SEK", base: "EUR", rate: 0.000_001 }
      const cheap = yield* staffCall("POST", "/backoffice/v1/rates", rate, { authorization: `Bearer ${first}` })
      assert.deepStrictEqual([cheap.status, cheap.code], [403, "INSUFFICIENT_SCOPE"])
      yield* setRate("SEK", 0.09)
      // 1111.11 SEK are 99.9999 EUR, and 1111.12 are more than 100
      assert.deepStrictEqual([yield* states("SEK", 111_111), yield* states("SEK", 111_112)], [one, two])
    }))

  // Goal: a method with bounds of 5.00 to 100.00 EUR has the same bounds in yen, and not the same numbers in the player's currency.
  it.effect("the limits of a payment method are converted at today's rate, and refuse every amount without a rate", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const bounds = { min_deposit: 500, max_deposit: 10_000, min_withdrawal: 500, max_withdrawal: 10_000 }
      yield* made("/payment-methods", { operator: casino.slug, code: "wire", currencies: ["EUR", "PLN"], ...bounds })
      yield* made("/payment-methods", { operator: casino.slug, code: "open", currencies: ["PLN"] })
      const wire = { payment_method: "wire" }
      const { id } = yield* casino.register({ currency: "PLN" })
      dataOf(yield* casino.deposit(id, 1_000_000), 201)
      const unknown = { reason: "exchange_rate", payment_method: "wire", currency: "PLN" }
      assertRefused(yield* casino.deposit(id, 1000, wire), 422, "PAYMENT_REQUEST_INVALID", unknown)
      assertRefused(yield* casino.withdraw(id, 1000, wire), 422, "PAYMENT_REQUEST_INVALID", unknown)
      dataOf(yield* casino.deposit(id, 1000, { payment_method: "open" }), 201)
      // 5.00 EUR are 21.74 PLN, and 100.00 EUR are 434.78
      yield* setRate("PLN", 0.23)
      for (const amount of [2173, 43_479]) {
        assertRefused(yield* casino.deposit(id, amount, wire), 422, "PAYMENT_REQUEST_INVALID", {
          min_deposit: 2174,
          max_deposit: 43_478
        })
        assertRefused(yield* casino.withdraw(id, amount, wire), 422, "PAYMENT_REQUEST_INVALID", {
          min_withdrawal: 2174,
          max_withdrawal: 43_478
        })
      }
      for (const amount of [2174, 43_478]) {
        dataOf(yield* casino.deposit(id, amount, wire), 201)
        dataOf(yield* casino.withdraw(id, amount, wire), 201)
      }
      const listed = (yield* casino.get("/payment-methods")).data
      assert.deepInclude(listed.find(({ code }: { readonly code: string }) => code === "wire"), bounds)
    }))

  // Goal: the operator's limits apply at every moment in every currency, and the player's changes of them follow the ordinary rules.
  it.effect("default limits apply from registration, in the player's currency, which needs a rate", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const before = yield* casino.register()
      const set = (default_limits: unknown) =>
        staffCall("PATCH", `/backoffice/v1/operators/${casino.slug}`, { default_limits })
      assert.strictEqual((yield* set({ max_dayly_deposit: 1 })).code, "VALIDATION_FAILED")
      assert.strictEqual((yield* set({ max_session_minutes: 4 })).code, "VALIDATION_FAILED")
      assert.strictEqual((yield* set({ max_single_bet: -1 })).code, "VALIDATION_FAILED")
      const limits = { max_single_bet: 500, max_daily_deposit: 10_000, max_session_minutes: 60 }
      assert.deepStrictEqual((yield* set({ ...limits, max_balance: null })).data.default_limits, limits)
      const limitsOf = (id: number) => Effect.map(casino.get(`/players/${id}/limits`), ({ data }) => data.limits)
      const { id } = yield* casino.register()
      assert.deepInclude(yield* limitsOf(id), { ...limits, max_balance: null })
      assertRefused(yield* casino.deposit(id, 10_001), 422, "LIMIT_EXCEEDED")
      dataOf(yield* casino.deposit(id, 10_000), 201)
      assert.deepInclude((yield* casino.limit(id, { max_single_bet: 400, max_daily_deposit: 10_001 })).meta, {
        applied: ["max_single_bet"],
        pending: ["max_daily_deposit"]
      })
      assert.isNull((yield* limitsOf(before.id)).max_single_bet, "a setting is for players to come")
      const body = { ...registration("krone"), currency: "CZK" }
      assertRefused(yield* casino.call("POST", "/players", body), 422, "VALIDATION_FAILED", {
        currency: ["has no exchange rate to EUR, which the operator's default limits need"]
      })
      yield* setRate("CZK", 0.04)
      const other = dataOf(yield* casino.call("POST", "/players", body), 201)
      assert.deepInclude(yield* limitsOf(other.id), {
        max_single_bet: 12_500,
        max_daily_deposit: 250_000,
        max_session_minutes: 60
      })
      assertRefused(yield* casino.deposit(other.id, 250_001), 422, "LIMIT_EXCEEDED")
      assert.deepStrictEqual((yield* set({})).data.default_limits, {})
      assert.isNull((yield* limitsOf((yield* casino.register()).id)).max_single_bet)
    }))

  // Goal: a cap of 5.00 EUR is 819 KRW for a player in won, and not 500 of the player's currency.
  it.effect("a bonus's max_bet is converted when the bonus is granted, which needs a rate", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const bonus = yield* casino.newBonus({ max_bet: 500 })
      const seat = yield* casino.sit(100_000, { currency: "KRW" })
      const strange = yield* casino.grant(seat.id, bonus.id, { amount: 5000 })
      assertRefused(strange, 422, "BONUS_INVALID", { reason: "exchange_rate", currency: "KRW" })
      yield* setRate("KRW", 0.0061)
      const granted = dataOf(yield* casino.grant(seat.id, bonus.id, { amount: 5000 }), 201)
      assert.strictEqual(granted.max_bet, 819)
      yield* setRate("KRW", 0.0001)
      dataOf(yield* seat.bet(700, { currency: "KRW" }))
      assertRefused(yield* seat.bet(820, { currency: "KRW" }), 422, "BONUS_INVALID", { max_bet: 819, retry: "never" })
    }))

  // Goal: a bonus of 10.00 EUR is 1639 KRW for a player in won, by whichever way it is granted. Method: no rate, then a rate, per way.
  it.effect("a bonus's default amount and max_bet are converted alike when an operator, staff or a promo code grants it", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const bonus = yield* casino.newBonus({ default_amount: 1000, max_bet: 500 })
      yield* made("/promo-codes", { operator: casino.slug, code: "WON", bonus: bonus.id })
      const ways = {
        operator: (id: number) => casino.grant(id, bonus.id),
        staff: (id: number) => staffCall("POST", `/backoffice/v1/players/${id}/bonuses`, { bonus: bonus.id }),
        code: (id: number) => casino.post(`/players/${id}/promo-codes`, { code: "won" })
      }
      yield* setRate("KRW", 0.0061)
      for (const [way, ask] of Object.entries(ways)) {
        const strange = yield* casino.register({ currency: "ISK" })
        assertRefused(yield* ask(strange.id), 422, "BONUS_INVALID", { reason: "exchange_rate", currency: "ISK" })
        const { id } = yield* casino.register({ currency: "KRW" })
        const answer = dataOf(yield* ask(id), 201)
        assert.deepInclude(answer.bonus ?? answer, { amount: 1639, max_bet: 819, currency: "KRW" }, way)
      }
    }))

  it.effect("the amount that an unverified player may withdraw is in the player's currency; without a rate it is 0, so that every withdrawal needs KYC", () =>
    Effect.gen(function*() {
      const casino = yield* openWith({ kyc_withdrawal_threshold: 10_000, currency: "EUR" })
      const euros = yield* casino.asks("EUR")
      const dollars = yield* casino.asks("SEK")
      const before = yield* openWith({ kyc_withdrawal_threshold: 10_000, currency: "NOK" })
      const strange = yield* before.asks("SEK")
      assert.strictEqual(yield* euros.allowance, 10_000)
      // NOK has no rate for SEK, although EUR has one
      assert.strictEqual(yield* strange.allowance, 0)
      assertRefused(yield* strange.withdraw(1), 422, "KYC_REQUIRED", {
        kyc_status: "not_started",
        unverified_withdrawal_allowance: 0,
        threshold: 0
      })
      yield* setRate("SEK", 0.1)
      assert.strictEqual(yield* dollars.allowance, 100_000)
      dataOf(yield* dollars.withdraw(60_000), 201)
      assert.strictEqual(yield* dollars.allowance, 40_000)
      assertRefused(yield* dollars.withdraw(40_001), 422, "KYC_REQUIRED", {
        kyc_status: "not_started",
        unverified_withdrawal_allowance: 40_000,
        threshold: 100_000
      })
    }))
})

import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { layerCasinos } from "../kit/Backoffice.ts"
import { assertRefused, dataOf, fresh, made, move, openCasino, staff, staffCall } from "../kit/Casino.ts"

// Goal: a disproportionate credit of a provider is settled, and not paid out before a review by staff. Method: over HTTP, as the
// provider with each message that credits, with the withdrawal right behind it; the alert, closing it, and the operator's settings.

const held = { reason: "compliance_hold" }

layer(layerCasinos, { excludeTestServices: true })("a credit above the large_credit threshold", (it) => {
  const openWith = Effect.fnUntraced(function*(settings: { readonly [field: string]: unknown } = {}) {
    const casino = yield* openCasino(settings)
    const seated = Effect.gen(function*() {
      const { id } = yield* casino.register()
      dataOf(yield* casino.deposit(id, 100_000), 201)
      const { session_token } = dataOf(yield* casino.launch(id))
      const { player_ref } = dataOf(yield* casino.callWallet("authenticate", { session_token }))
      const promo = (amount: number) =>
        casino.callWallet("promo-win", {
          request_id: fresh("r"),
          transaction_id: fresh("t"),
          player_ref,
          amount,
          currency: "EUR",
          kind: "jackpot",
          campaign_id: "c"
        })
      const round = (amount: number) => ({
        request_id: fresh("r"),
        transaction_id: fresh("t"),
        session_token,
        game_id: "slots",
        round_id: fresh("round"),
        amount,
        currency: "EUR"
      })
      return { id: Number(id), player_ref, promo, round }
    })
    return { ...casino, seated }
  })

  it.effect("is settled, and a following withdrawal is refused until the alert is closed", () =>
    Effect.gen(function*() {
      const casino = yield* openWith()
      const { id, promo } = yield* casino.seated
      const before = dataOf(yield* casino.withdraw(id, 100), 201)
      yield* move(before.id, "approve")
      assert.deepInclude(dataOf(yield* promo(10_000_000)), { status: "processed" })
      dataOf(yield* casino.withdraw(id, 100), 201)
      const large = dataOf(yield* promo(900_000_000_000_000))
      assert.deepInclude(large, { status: "processed", real_amount: 900_000_000_000_000 })
      assertRefused(yield* casino.withdraw(id, 100), 422, "PLAYER_RESTRICTED", held)
      assert.deepStrictEqual((yield* move(before.id, "pay")).details, held)
      const [alert, ...others] = yield* staff("GET", `/alerts?player=${id}`)
      assert.deepStrictEqual(others, [])
      assert.deepInclude(alert, {
        rule: "large_credit",
        severity: "critical",
        status: "open",
        stops_withdrawals: true,
        operator_id: casino.id
      })
      assert.deepInclude(alert.details, {
        amount: 900_000_000_000_000,
        provider_id: casino.studio.id,
        above: 10_000_000
      })
      assert.deepStrictEqual((yield* staff("GET", `/ledger/verification?operator=${casino.slug}`)).violations, [])
      yield* staff("PATCH", `/alerts/${alert.id}`, { status: "closed", note: "the jackpot is real" })
      dataOf(yield* casino.withdraw(id, 100), 201)
    }))

  it.effect("is recognised in the sum of a day's smaller credits as well, and again after the alert is closed", () =>
    Effect.gen(function*() {
      const casino = yield* openWith()
      const { id, promo } = yield* casino.seated
      const alertsOf = staff("GET", `/alerts?player=${id}`)
      dataOf(yield* promo(9_999_999))
      dataOf(yield* casino.withdraw(id, 100), 201)
      dataOf(yield* promo(9_999_999))
      assertRefused(yield* casino.withdraw(id, 100), 422, "PLAYER_RESTRICTED", held)
      const [alert, ...others] = yield* alertsOf
      assert.deepStrictEqual(others, [])
      assert.deepInclude(alert.details, { amount: 9_999_999, credited_today: 19_999_998, above: 10_000_000 })
      yield* staff("PATCH", `/alerts/${alert.id}`, { status: "closed", note: "looked at" })
      dataOf(yield* casino.withdraw(id, 100), 201)
      dataOf(yield* promo(200_000))
      assertRefused(yield* casino.withdraw(id, 100), 422, "PLAYER_RESTRICTED", held)
      assert.strictEqual((yield* alertsOf).length, 2)
    }))

  it.effect("holds withdrawals whether it is a win, a bet-win or part of a batch; a replay raises no second alert", () =>
    Effect.gen(function*() {
      const casino = yield* openWith()
      const alertsOf = (id: number) =>
        Effect.map(staff("GET", `/alerts?player=${id}`), (alerts: ReadonlyArray<unknown>) => alerts.length)
      const won = yield* casino.seated
      const bet = won.round(100)
      dataOf(yield* casino.callWallet("bet", bet))
      const win = {
        ...bet,
        request_id: fresh("r"),
        transaction_id: fresh("t"),
        player_ref: won.player_ref,
        bet_transaction_id: bet.transaction_id,
        amount: 10_000_001,
        round_closed: true
      }
      dataOf(yield* casino.callWallet("win", win))
      assert.deepInclude(dataOf(yield* casino.callWallet("win", win)), { status: "replayed" })
      assertRefused(yield* casino.withdraw(won.id, 100), 422, "PLAYER_RESTRICTED", held)
      assert.strictEqual(yield* alertsOf(won.id), 1)

      const both = yield* casino.seated
      const paid = { transaction_id: fresh("t"), amount: 10_000_001 }
      dataOf(yield* casino.callWallet("bet-win", { ...both.round(100), round_closed: true, win: paid }))
      assertRefused(yield* casino.withdraw(both.id, 100), 422, "PLAYER_RESTRICTED", held)

      const batched = yield* casino.seated
      const first = batched.round(100)
      dataOf(
        yield* casino.callWallet("batch", {
          request_id: fresh("r"),
          actions: [
            { action: "bet", ...first },
            {
              ...first,
              action: "win",
              transaction_id: fresh("t"),
              player_ref: batched.player_ref,
              bet_transaction_id: first.transaction_id,
              amount: 10_000_001,
              round_closed: true
            }
          ]
        })
      )
      assertRefused(yield* casino.withdraw(batched.id, 100), 422, "PLAYER_RESTRICTED", held)
    }))

  it.effect("is defined by a configurable threshold, which cannot be set below the minimum", () =>
    Effect.gen(function*() {
      const casino = yield* openWith()
      const configure = (terms: { readonly [field: string]: unknown }) =>
        staffCall("PATCH", "/backoffice/v1/alert-rules/large_credit", { operator: casino.slug, ...terms })
      for (const threshold of [1, 99_999]) {
        const refused = yield* configure({ threshold })
        assert.deepStrictEqual([refused.status, refused.code, refused.details], [422, "VALIDATION_FAILED", {
          threshold: ["must be at least 100000"]
        }])
      }
      assert.strictEqual((yield* configure({ enabled: true })).data.threshold, 10_000_000)
      assert.strictEqual((yield* configure({ threshold: 100_000 })).data.threshold, 100_000)
      // and the minimum is exact to the unit
      const { id, promo } = yield* casino.seated
      dataOf(yield* promo(100_000))
      dataOf(yield* casino.withdraw(id, 100), 201)
      dataOf(yield* promo(100_001))
      assertRefused(yield* casino.withdraw(id, 100), 422, "PLAYER_RESTRICTED", held)
      // other rules take any
      const { status } = yield* staffCall("PATCH", "/backoffice/v1/alert-rules/large_deposit", {
        operator: casino.slug,
        threshold: 1
      })
      assert.strictEqual(status, 200)
    }))

  it.effect("is judged by the operator's threshold; a player has at most 20 holds, and a release covers earlier alerts only", () =>
    Effect.gen(function*() {
      const casino = yield* openWith()
      yield* staff("PATCH", "/alert-rules/large_credit", { operator: casino.slug, threshold: 200_000 })
      const { id, promo } = yield* casino.seated
      for (let count = 0; count < 25; count++) dataOf(yield* promo(200_001))
      const [row] = yield* staff("GET", `/players?operator=${casino.slug}&search=player`)
      assert.isFalse(row.restrictions.can_withdraw)
      const lines = yield* staff("GET", `/audit?player=${id}&action=player.credit_alert&per_page=100`)
      assert.lengthOf(lines, 25)
      const longest = Math.max(
        ...lines.map(({ after }: { readonly after: { readonly withdrawal_holds: ReadonlyArray<number> } }) =>
          after.withdrawal_holds.length
        )
      )
      assert.strictEqual(longest, 20)
      // a release by staff covers existing alerts, not later ones
      const { token } = yield* made("/staff", { name: "Carla", role: "compliance" })
      yield* staffCall("PATCH", `/backoffice/v1/players/${id}/restrictions`, { can_withdraw: true }, {
        authorization: `Bearer ${token}`
      })
      dataOf(yield* casino.withdraw(id, 100), 201)
      dataOf(yield* promo(200_001))
      assertRefused(yield* casino.withdraw(id, 100), 422, "PLAYER_RESTRICTED", held)

      const lenient = yield* openWith()
      yield* staff("PATCH", "/alert-rules/large_credit", { operator: lenient.slug, enabled: false })
      const other = yield* lenient.seated
      dataOf(yield* other.promo(90_000_000))
      dataOf(yield* lenient.withdraw(other.id, 100), 201)
    }))
})

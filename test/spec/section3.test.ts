import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { DueAccountChanges } from "../../src/features/players/DueAccountChanges.ts"
import { layerCasinos, SharedCasino } from "../kit/Backoffice.ts"
import { operatorWith } from "../kit/HttpCalls.ts"
import { assertRefused, type BothServers, type Casino, dataOf, made, openCasino, staff } from "../kit/Casino.ts"
import { dayMs, goTo, hourMs, pass, whileTimePasses } from "../kit/Calendar.ts"

// Goal: states make the transitions of SPEC section 3, and no others (DECISIONS section 3). Method: over real HTTP, each state in
// turn and every move from it; the state after a refused move is compared with the one before. Rows covered by other files are
// listed in coverage.test.ts.

layer(layerCasinos, { excludeTestServices: true })("SPEC 3 states and transitions", (it) => {
  it.effect("3.1 PUT status goes from each of the three statuses to each of them, and needs players:write", () =>
    Effect.gen(function*() {
      const casino = yield* SharedCasino
      const { id } = yield* casino.register()
      const statuses = ["active", "locked", "closed"]
      for (const from of statuses) {
        for (const to of statuses) {
          dataOf(yield* casino.put(`/players/${id}/status`, { status: from }))
          assert.strictEqual(dataOf(yield* casino.put(`/players/${id}/status`, { status: to })).status, to)
          assert.strictEqual(dataOf(yield* casino.get(`/players/${id}`)).status, to)
        }
      }
      const reader = operatorWith(
        yield* made("/keys", { operator: casino.slug, scopes: ["players:read", "limits:write", "payments:write"] })
      )
      assertRefused(yield* reader.put(`/players/${id}/status`, { status: "active" }), 403, "INSUFFICIENT_SCOPE", {
        required_scopes: ["players:write"]
      })
      assert.strictEqual(dataOf(yield* casino.get(`/players/${id}`)).status, "closed")
    }))

  it.effect("3.1 an exclusion wins over active: setting the status active does not lift it", () =>
    Effect.gen(function*() {
      const casino = yield* SharedCasino
      const seat = yield* casino.sit()
      const { self_exclusion } = dataOf(yield* casino.exclude(seat.id, { period: "7_days" }))
      for (const status of ["locked", "active"]) {
        const player = dataOf(yield* casino.put(`/players/${seat.id}/status`, { status }))
        assert.deepStrictEqual([player.status, player.self_exclusion], [status, self_exclusion])
      }
      const because = { reason: "time_out" }
      assertRefused(yield* casino.launch(seat.id), 422, "PLAYER_RESTRICTED", because)
      assertRefused(yield* casino.deposit(seat.id, 100), 422, "PLAYER_RESTRICTED", because)
      assertRefused(yield* casino.post(`/players/${seat.id}/session-tokens`), 422, "PLAYER_RESTRICTED", because)
      assertRefused(yield* seat.bet(10), 422, "PLAYER_RESTRICTED", { ...because, retry: "never" })
    }))

  it.effect("3.3 verified lasts through the last day of the document, and a scheduled job ends it afterwards", () =>
    whileTimePasses(Effect.gen(function*() {
      const { run } = yield* DueAccountChanges
      const casino = yield* SharedCasino
      const { id } = yield* casino.register()
      yield* staff("POST", `/players/${id}/kyc`, { status: "pending_review" })
      yield* staff("POST", `/players/${id}/kyc`, { status: "verified", document_expires_on: "2026-11-25" })
      const shown = Effect.map(
        Effect.andThen(run, casino.get(`/players/${id}`)),
        ({ data }) => [data.kyc_status, data.is_verified]
      )
      yield* goTo("2026-11-25T23:59:59.999Z")
      assert.deepStrictEqual(yield* shown, ["verified", true])
      yield* pass(1)
      assert.deepStrictEqual(yield* shown, ["expired", false])
    })))

  /** States of a player's bonuses, newest first. */
  const bonusesOf = (casino: Casino, playerId: number) =>
    Effect.map(
      casino.get(`/players/${playerId}/bonuses`),
      ({ data }): ReadonlyArray<readonly [string, string | null]> =>
        data.map(({ result, state }: { readonly state: string; readonly result: string | null }) => [state, result])
    )

  it.effect("3.4 however a bonus ends, the oldest pending one is activated, and its valid days start then", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* SharedCasino
      const bonus = yield* casino.newBonus({ wagering_multiplier: 1, valid_days: 3 })
      const converted = yield* casino.sit(500)
      dataOf(yield* casino.grant(converted.id, bonus.id), 201)
      dataOf(yield* casino.grant(converted.id, bonus.id, { amount: 70 }), 201)
      dataOf(yield* casino.grant(converted.id, bonus.id, { amount: 80 }), 201)
      dataOf(yield* converted.bet(500, { round_closed: true }))
      assert.deepStrictEqual(yield* bonusesOf(casino, converted.id), [
        ["pending", null],
        ["activated", null],
        ["finished", "converted"]
      ])
      assert.deepStrictEqual(yield* casino.balances(converted.id), [500, 70])

      const lost = yield* casino.sit(0)
      const hard = yield* casino.newBonus({ wagering_multiplier: 50, default_amount: 100 })
      dataOf(yield* casino.grant(lost.id, hard.id), 201)
      dataOf(yield* casino.grant(lost.id, bonus.id, { amount: 70 }), 201)
      dataOf(yield* lost.bet(100, { round_closed: true }))
      assert.deepStrictEqual(yield* bonusesOf(casino, lost.id), [["activated", null], ["finished", "lost"]])
      assert.deepStrictEqual(yield* casino.balances(lost.id), [0, 70])

      const cancelled = yield* casino.sit(100)
      const running = dataOf(yield* casino.grant(cancelled.id, bonus.id), 201)
      dataOf(yield* casino.grant(cancelled.id, bonus.id, { amount: 70 }), 201)
      yield* staff("POST", `/player-bonuses/${running.id}/cancel`, {})
      assert.deepStrictEqual(yield* bonusesOf(casino, cancelled.id), [["activated", null], ["finished", "cancelled"]])
      assert.deepStrictEqual(yield* casino.balances(cancelled.id), [100, 70])

      const expired = yield* casino.register()
      dataOf(yield* casino.grant(expired.id, bonus.id), 201)
      dataOf(yield* casino.grant(expired.id, bonus.id, { amount: 70 }), 201)
      yield* pass(3 * dayMs)
      assert.deepStrictEqual(yield* casino.balances(expired.id), [0, 70])
      const [next, first] = dataOf(yield* casino.get(`/players/${expired.id}/bonuses`))
      assert.deepStrictEqual([first.result, first.forfeited_amount, first.expires_at], [
        "expired",
        500,
        "2026-11-23T12:00:00.000Z"
      ])
      assert.deepStrictEqual([next.state, next.started_at, next.expires_at], [
        "activated",
        "2026-11-23T12:00:00.000Z",
        "2026-11-26T12:00:00.000Z"
      ])
    })))

  it.effect("3.5 an excluded player cannot play, deposit or receive bonuses, but may withdraw", () =>
    Effect.gen(function*() {
      const casino = yield* SharedCasino
      const bonus = yield* casino.newBonus()
      yield* made("/promo-codes", { operator: casino.slug, code: "GIFT", bonus: bonus.id })
      for (const [period, reason] of [["24_hours", "time_out"], ["6_months", "self_exclusion"]] as const) {
        const seat = yield* casino.sit(1000)
        dataOf(yield* casino.exclude(seat.id, { period }))
        assertRefused(yield* casino.launch(seat.id), 422, "PLAYER_RESTRICTED", { reason })
        assertRefused(yield* seat.bet(10), 422, "PLAYER_RESTRICTED")
        assertRefused(yield* casino.deposit(seat.id, 100), 422, "PLAYER_RESTRICTED", { reason })
        assertRefused(yield* casino.grant(seat.id, bonus.id), 422, "BONUS_INVALID", { reason })
        const redeemed = yield* casino.post(`/players/${seat.id}/promo-codes`, { code: "gift" })
        assertRefused(redeemed, 422, "BONUS_INVALID", { reason })
        assert.strictEqual(dataOf(yield* casino.withdraw(seat.id, 1000), 201).status, "new")
        assert.deepStrictEqual(yield* casino.balances(seat.id), [0, 0])
      }
    }))

  it.effect("3.1 to 3.6 each change of a player advances updated_at", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* SharedCasino
      const { id, updated_at } = yield* casino.register()
      let last: string = updated_at
      const changes: ReadonlyArray<readonly [what: string, change: Effect.Effect<unknown, unknown, BothServers>]> = [
        ["status", casino.put(`/players/${id}/status`, { status: "locked" })],
        ["status back", casino.put(`/players/${id}/status`, { status: "active" })],
        ["KYC", staff("POST", `/players/${id}/kyc`, { status: "pending_review" })],
        ["restrictions", staff("PATCH", `/players/${id}/restrictions`, { can_bet: false })],
        ["profile", casino.patch(`/players/${id}`, { city: "Oslo" })],
        ["exclusion", casino.exclude(id, { period: "24_hours" })]
      ]
      for (const [what, change] of changes) {
        yield* pass(hourMs)
        yield* change
        const { updated_at: next } = dataOf(yield* casino.get(`/players/${id}`))
        assert.isAbove(Date.parse(next), Date.parse(last), what)
        last = next
      }
    })))

  it.effect("3.6 a raise and a removal wait; a lower value sent meanwhile applies at once and cancels the waiting change", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* openCasino({ cooling_off_hours: 48 })
      const { id } = yield* casino.register()
      const show = Effect.map(casino.get(`/players/${id}/limits`), ({ data }) => data)
      const put = Effect.fnUntraced(function*(value: number | null) {
        const { data, meta } = yield* casino.limit(id, { max_daily_bet: value })
        return [
          data.limits.max_daily_bet,
          data.pending_changes.map(({ effective_at, requested_value }: { readonly [field: string]: unknown }) => [
            requested_value,
            effective_at
          ]),
          meta
        ]
      })
      const applied = { applied: ["max_daily_bet"], pending: [], cooling_off_hours: 48 }
      const pending = { applied: [], pending: ["max_daily_bet"], cooling_off_hours: 48 }
      const day = (date: number) => `2026-11-${date}T12:00:00.000Z`
      // a first limit, after null too, and a lower one
      assert.deepStrictEqual(yield* put(null), [null, [], applied])
      assert.deepStrictEqual(yield* put(1000), [1000, [], applied])
      assert.deepStrictEqual(yield* put(900), [900, [], applied])
      // one minor unit more is a raise, and so is removal
      assert.deepStrictEqual(yield* put(901), [900, [[901, day(22)]], pending])
      yield* pass(24 * hourMs)
      assert.deepStrictEqual(yield* put(null), [900, [[null, day(23)]], pending])
      assert.deepStrictEqual(yield* put(800), [800, [], applied])
      yield* pass(72 * hourMs)
      assert.strictEqual((yield* show).limits.max_daily_bet, 800)
      // a pending raise takes effect at its instant, on any read
      assert.deepStrictEqual(yield* put(null), [800, [[null, day(26)]], pending])
      yield* goTo("2026-11-26T11:59:59.999Z")
      assert.deepStrictEqual([(yield* show).limits.max_daily_bet, (yield* show).pending_changes.length], [800, 1])
      yield* pass(1)
      assert.deepStrictEqual([(yield* show).limits.max_daily_bet, (yield* show).pending_changes], [null, []])
    })))
})

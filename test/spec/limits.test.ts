import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { goTo, minuteMs, pass, whileTimePasses } from "../kit/Calendar.ts"
import { layerCasinos, SharedCasino } from "../kit/Backoffice.ts"
import { assertRefused, type Casino, dataOf, move, openCasino } from "../kit/Casino.ts"
import type { Reply } from "../kit/HttpCalls.ts"
import { noon } from "../kit/Noon.ts"

// Goal: each of the sixteen limits of SPEC 2.9 accepts the exact limit and refuses one unit more, with the
// details of DECISIONS 2.9, and resets at the first millisecond of the next window, not before. Method: over HTTP, on a Friday
// at noon, with a calendar set by the test.

const day = "2026-11-21T00:00:00.000Z"
const week = "2026-11-23T00:00:00.000Z"
const month = "2026-12-01T00:00:00.000Z"
const year = "2027-01-01T00:00:00.000Z"

const assertLimit = (answer: Reply, limit: string, value: number, used: number, resetsAt: string | null) => {
  assertRefused(answer, 422, "LIMIT_EXCEEDED")
  const { retry: _, ...details } = answer.details
  assert.deepStrictEqual(details, { limit, value, used, resets_at: resetsAt })
}

const justBefore = (instant: string) => new Date(Date.parse(instant) - 1).toISOString()

/** Another session of a player: wallet sessions end after twelve hours. */
const seatAgain = Effect.fnUntraced(function*(casino: Casino, seat: Effect.Success<ReturnType<Casino["sit"]>>) {
  const { session_token } = dataOf(yield* casino.launch(seat.id))
  return casino.playOf(session_token, seat.ref)
})

layer(layerCasinos, { excludeTestServices: true })("SPEC 2.9 the sixteen limits at their edges", (it) => {
  for (const limit of ["max_single_bet", "casino_max_single_bet"]) {
    it.effect(`2.9 ${limit}: a bet of exactly the limit is accepted, and one unit more is refused`, () =>
      Effect.gen(function*() {
        const casino = yield* SharedCasino
        const seat = yield* casino.sit(5000)
        dataOf(yield* casino.limit(seat.id, { [limit]: 1000 }))
        dataOf(yield* seat.bet(1000))
        assertLimit(yield* seat.bet(1001), limit, 1000, 0, null)
        dataOf(yield* seat.bet(1000))
      }))
  }

  const windows: ReadonlyArray<readonly [limit: string, end: string]> = [
    ["max_daily_bet", day],
    ["max_weekly_bet", week],
    ["max_monthly_bet", month],
    ["casino_max_daily_bet", day],
    ["max_daily_loss", day],
    ["max_weekly_loss", week],
    ["max_monthly_loss", month]
  ]
  for (const [limit, end] of windows) {
    it.effect(`2.9 ${limit}: bets are accepted up to exactly the limit until its window ends`, () =>
      whileTimePasses(Effect.gen(function*() {
        const casino = yield* SharedCasino
        const seat = yield* casino.sit(5000)
        dataOf(yield* casino.limit(seat.id, { [limit]: 1000 }))
        dataOf(yield* seat.bet(400))
        assertLimit(yield* seat.bet(601), limit, 1000, 400, end)
        dataOf(yield* seat.bet(600))
        assertLimit(yield* seat.bet(1), limit, 1000, 1000, end)
        yield* goTo(justBefore(end))
        const late = yield* seatAgain(casino, seat)
        assertLimit(yield* late.bet(1), limit, 1000, 1000, end)
        yield* goTo(end)
        dataOf(yield* late.bet(1000))
        assert.strictEqual((yield* late.bet(1)).details["used"], 1000)
      })))
  }

  it.effect("2.9 max_single_deposit: a deposit of exactly the limit is accepted, and one unit more is refused", () =>
    Effect.gen(function*() {
      const casino = yield* SharedCasino
      const { id } = yield* casino.register()
      dataOf(yield* casino.limit(id, { max_single_deposit: 1000 }))
      dataOf(yield* casino.deposit(id, 1000), 201)
      assertLimit(yield* casino.deposit(id, 1001), "max_single_deposit", 1000, 0, null)
      dataOf(yield* casino.deposit(id, 1000), 201)
    }))

  const deposits: ReadonlyArray<readonly [limit: string, end: string]> = [
    ["max_daily_deposit", day],
    ["max_weekly_deposit", week],
    ["max_monthly_deposit", month],
    ["max_yearly_deposit", year]
  ]
  for (const [limit, end] of deposits) {
    it.effect(`2.9 ${limit}: deposits are accepted up to exactly the limit until its window ends; nothing reduces the used amount`, () =>
      whileTimePasses(Effect.gen(function*() {
        const casino = yield* SharedCasino
        const { id } = yield* casino.register()
        dataOf(yield* casino.limit(id, { [limit]: 1000 }))
        const first = dataOf(yield* casino.deposit(id, 400), 201)
        assertLimit(yield* casino.deposit(id, 601), limit, 1000, 400, end)
        dataOf(yield* casino.deposit(id, 600), 201)
        assertLimit(yield* casino.deposit(id, 1), limit, 1000, 1000, end)
        // gross: neither a reversal nor a withdrawal makes room
        assert.strictEqual((yield* move(first.id, "chargeback")).status, 200)
        dataOf(yield* casino.withdraw(id, 600), 201)
        assertLimit(yield* casino.deposit(id, 1), limit, 1000, 1000, end)
        yield* goTo(justBefore(end))
        assertLimit(yield* casino.deposit(id, 1), limit, 1000, 1000, end)
        yield* goTo(end)
        dataOf(yield* casino.deposit(id, 1000), 201)
        assert.strictEqual((yield* casino.deposit(id, 1)).details["used"], 1000)
      })))
  }

  it.effect("2.9 max_balance: deposits are accepted up to exactly the limit; wins, refunds and cash bonuses may exceed it", () =>
    Effect.gen(function*() {
      const casino = yield* SharedCasino
      const seat = yield* casino.sit(400)
      dataOf(yield* casino.limit(seat.id, { max_balance: 1000 }))
      assertLimit(yield* casino.deposit(seat.id, 601), "max_balance", 1000, 400, null)
      dataOf(yield* casino.deposit(seat.id, 600), 201)
      assertLimit(yield* casino.deposit(seat.id, 1), "max_balance", 1000, 1000, null)
      const held = dataOf(yield* casino.withdraw(seat.id, 500), 201)
      dataOf(yield* casino.deposit(seat.id, 500), 201)
      assert.strictEqual((yield* move(held.id, "reject")).status, 200)
      const { transaction_id } = dataOf(yield* seat.bet(100))
      dataOf(yield* seat.win(transaction_id, 2000))
      const cash = yield* casino.newBonus({ type: "cash", wagering_multiplier: 0, default_amount: 50 })
      dataOf(yield* casino.grant(seat.id, cash.id), 201)
      assert.deepStrictEqual(yield* casino.balances(seat.id), [3450, 0])
      assertLimit(yield* casino.deposit(seat.id, 1), "max_balance", 1000, 3450, null)
    }))

  it.effect("2.9 max_session_minutes: counts from the first launch, to the millisecond, until a break of 15 minutes", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* SharedCasino
      const seat = yield* casino.sit(1000)
      dataOf(yield* casino.limit(seat.id, { max_session_minutes: 5 }))
      const { transaction_id } = dataOf(yield* seat.bet(10))
      yield* pass(5 * minuteMs - 1)
      dataOf(yield* casino.launch(seat.id))
      dataOf(yield* seat.bet(10))
      yield* pass(1)
      const opens = new Date(Date.parse(noon) + 20 * minuteMs - 1).toISOString()
      assertLimit(yield* seat.bet(10), "max_session_minutes", 5, 5, opens)
      assertLimit(yield* casino.launch(seat.id), "max_session_minutes", 5, 5, opens)
      // settlement goes on, and does not count as play
      yield* pass(10 * minuteMs)
      dataOf(yield* seat.win(transaction_id, 100))
      yield* goTo(justBefore(opens))
      assertRefused(yield* seat.bet(10), 422, "LIMIT_EXCEEDED")
      yield* goTo(opens)
      dataOf(yield* seat.bet(10))
      dataOf(yield* casino.launch(seat.id))
      // five minutes from here
      yield* pass(5 * minuteMs - 1)
      dataOf(yield* seat.bet(10))
      yield* pass(1)
      assertRefused(yield* casino.launch(seat.id), 422, "LIMIT_EXCEEDED")
    })))

  it.effect("2.9 each limit takes null or 0 to 2^53-1, the session limit null or 5 to 1440, and nothing else", () =>
    Effect.gen(function*() {
      const casino = yield* SharedCasino
      const { id } = yield* casino.register()
      const { limits } = dataOf(yield* casino.get(`/players/${id}/limits`))
      const names = Object.keys(limits)
      assert.strictEqual(names.length, 16)
      for (const name of names) {
        const isSession = name === "max_session_minutes"
        const [least, most] = isSession ? [5, 1440] : [0, Number.MAX_SAFE_INTEGER]
        for (const value of [most + 1, least - 1, 7.5, "100", true, [100], {}]) {
          const refused = yield* casino.limit(id, { [name]: value })
          assertRefused(refused, 422, "VALIDATION_FAILED")
          assert.hasAllKeys(refused.details, [`limits.${name}`], JSON.stringify(value))
        }
        for (const value of [null, most, least]) {
          const { data, meta } = yield* casino.limit(id, { [name]: value })
          assert.deepStrictEqual([data.limits[name], meta.applied, meta.pending], [value, [name], []])
        }
      }
      // 0 refuses every such action
      const seat = yield* casino.sit(100)
      dataOf(yield* casino.limit(seat.id, { max_single_bet: 0, max_single_deposit: 0 }))
      assertLimit(yield* seat.bet(1), "max_single_bet", 0, 0, null)
      assertLimit(yield* casino.deposit(seat.id, 1), "max_single_deposit", 0, 0, null)
    }))

  it.effect("2.9 all sixteen limits at once: one PUT sets them, and of those that a bet exceeds the first in the list is reported", () =>
    Effect.gen(function*() {
      const casino = yield* SharedCasino
      const seat = yield* casino.sit(1000)
      const { limits } = dataOf(yield* casino.get(`/players/${seat.id}/limits`))
      const all = Object.fromEntries(Object.keys(limits).map((name, index) => [name, 100 + index]))
      const { data, meta } = yield* casino.limit(seat.id, all)
      assert.deepStrictEqual(data.limits, all)
      assert.sameMembers(meta.applied, Object.keys(all))
      assert.strictEqual((yield* seat.bet(101)).details["limit"], "max_single_bet")
      dataOf(yield* seat.bet(100))
      assert.strictEqual((yield* seat.bet(100)).details["limit"], "max_daily_bet")
    }))

  it.effect("4 bet limits count gross stakes, loss limits net real money; wins reduce losses, rollbacks reduce both; a raised limit waits", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* openCasino({ cooling_off_hours: 1 })
      const seat = yield* casino.sit(1000)
      const bonus = yield* casino.newBonus({ wagering_multiplier: 50 })
      dataOf(yield* casino.limit(seat.id, { max_daily_bet: 1500, max_daily_loss: 500 }))
      const used = Effect.map(casino.get(`/players/${seat.id}/limits`), ({ data: { usage } }) => [
        usage.max_daily_bet.used,
        usage.max_daily_loss.used
      ])
      const first = dataOf(yield* seat.bet(500))
      assertLimit(yield* seat.bet(1), "max_daily_loss", 500, 500, day)
      dataOf(yield* seat.win(first.transaction_id, 900))
      assert.deepStrictEqual(yield* used, [500, -400])
      const second = dataOf(yield* seat.bet(900))
      dataOf(yield* seat.rollback(second.transaction_id))
      assert.deepStrictEqual(yield* used, [500, -400])
      // bonus money is staked after 500 of real money, and does not count as loss
      dataOf(yield* casino.withdraw(seat.id, 900), 201)
      dataOf(yield* casino.grant(seat.id, bonus.id), 201)
      assert.deepInclude(dataOf(yield* seat.bet(700)), { real_amount: -500, bonus_amount: -200 })
      assert.deepStrictEqual(yield* used, [1200, 100])
      dataOf(yield* casino.limit(seat.id, { max_daily_bet: 1600 }))
      yield* pass(60 * minuteMs - 1)
      assertLimit(yield* seat.bet(301), "max_daily_bet", 1500, 1200, day)
      yield* pass(1)
      assertLimit(yield* seat.bet(401), "max_daily_bet", 1600, 1200, day)
    })))
})

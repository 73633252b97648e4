import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import {
  count,
  countDeposit,
  type Counters,
  emptyCounters,
  type LimitField,
  limitFields,
  notePlay,
  refuseBet,
  refuseDeposit,
  refusePlay
} from "../../src/domain/limit/Limits.ts"
import { limitsResource } from "../../src/domain/limit/LimitUsage.ts"
import type { Player } from "../../src/domain/player/Player.ts"
import { newPlayer } from "../kit/players.ts"

const instant = (text: string) => Date.parse(text)
const start = instant("2026-11-20T12:00:00.000Z")
const minute = 60_000

const usage = (player: Player, field: LimitField, now = start) => limitsResource(player, now).usage[field]

/** Counters after a bet, a loss and a deposit, all at one moment. */
const countersAt = (at: number, stake: number, loss: number, deposit: number): Counters =>
  countDeposit(count(emptyCounters, at, stake, loss, at), at, deposit)

describe("limitsResource", () => {
  it("has all sixteen limits, null where there is none", () => {
    const resource = limitsResource(newPlayer({ id: 7, limits: { max_daily_bet: 0, max_session_minutes: 60 } }), start)
    assert.deepStrictEqual([resource.player_id, resource.currency], [7, "EUR"])
    assert.deepStrictEqual(Object.keys(resource.limits), [...limitFields])
    assert.deepStrictEqual(Object.keys(resource.usage), [...limitFields])
    for (const field of limitFields) {
      const expected = field === "max_daily_bet" ? 0 : field === "max_session_minutes" ? 60 : null
      assert.strictEqual(resource.limits[field], expected, field)
      assert.strictEqual(resource.usage[field].remaining, expected, field)
    }
    assert.deepStrictEqual(resource.pending_changes, [])
    assert.isNull(resource.self_exclusion)
  })

  it("lists what waits, the next first, and not what is due", () => {
    const player = newPlayer({
      limits: { max_daily_bet: 1, max_balance: 2, max_daily_loss: 3, max_weekly_loss: 4 },
      pendingLimits: [
        { field: "max_balance", value: 20, effectiveAt: start + 2 },
        { field: "max_weekly_loss", value: null, effectiveAt: start + 1 },
        { field: "max_daily_loss", value: 30, effectiveAt: start },
        { field: "max_daily_bet", value: 10, effectiveAt: start + 2 }
      ]
    })
    const { limits, pending_changes } = limitsResource(player, start)
    assert.deepInclude(limits, { max_daily_bet: 1, max_balance: 2, max_daily_loss: 30, max_weekly_loss: 4 })
    assert.deepStrictEqual(pending_changes.map(({ field }) => field), [
      "max_weekly_loss",
      "max_daily_bet",
      "max_balance"
    ])
    assert.deepStrictEqual(pending_changes[0], {
      field: "max_weekly_loss",
      current_value: 4,
      requested_value: null,
      effective_at: "2026-11-20T12:00:00.001Z"
    })
  })

  it("shows an exclusion while it lasts", () => {
    const at = (until: number | null) =>
      limitsResource(newPlayer({ exclusion: { type: "self_closure", since: start - 5, until } }), start).self_exclusion
    assert.deepStrictEqual(at(start + 1), {
      type: "self_closure",
      since: "2026-11-20T11:59:59.995Z",
      until: "2026-11-20T12:00:00.001Z"
    })
    assert.deepInclude(at(null), { until: null })
    assert.isNull(at(start))
  })
})

describe("usage", () => {
  it("says what was used and what is left in each window", () => {
    const player = newPlayer({
      real: 700,
      limits: {
        max_single_bet: 50,
        max_daily_bet: 400,
        max_weekly_loss: 100,
        max_monthly_deposit: 900,
        max_yearly_deposit: 1500,
        max_balance: 1000
      },
      counters: countersAt(start, 300, -20, 1000)
    })
    const { usage } = limitsResource(player, start)
    assert.deepStrictEqual(usage.max_single_bet, { used: 0, remaining: 50, resets_at: null })
    assert.deepStrictEqual(usage.max_single_deposit, { used: 0, remaining: null, resets_at: null })
    assert.deepStrictEqual(usage.max_daily_bet, { used: 300, remaining: 100, resets_at: "2026-11-21T00:00:00.000Z" })
    assert.deepStrictEqual(usage.casino_max_daily_bet, {
      used: 300,
      remaining: null,
      resets_at: "2026-11-21T00:00:00.000Z"
    })
    assert.deepStrictEqual(usage.max_weekly_loss, { used: -20, remaining: 120, resets_at: "2026-11-23T00:00:00.000Z" })
    assert.deepStrictEqual(usage.max_monthly_deposit, {
      used: 1000,
      remaining: 0,
      resets_at: "2026-12-01T00:00:00.000Z"
    })
    assert.deepStrictEqual(usage.max_yearly_deposit, {
      used: 1000,
      remaining: 500,
      resets_at: "2027-01-01T00:00:00.000Z"
    })
    assert.deepStrictEqual(usage.max_balance, { used: 700, remaining: 300, resets_at: null })
  })

  // Goal: a window ends where the calendar says. Method: the last moment of windows and the one after it, around the ends of
  // days, ISO weeks that cross a year, short and leap Februaries, and years.
  it("begins anew at the ends of days, ISO weeks, months and years", () => {
    const limits = { max_daily_bet: 9, max_weekly_bet: 9, max_monthly_bet: 9, max_yearly_deposit: 9 }
    const windows: ReadonlyArray<readonly [field: LimitField, inside: string, end: string]> = [
      ["max_daily_bet", "2026-11-20T00:00:00.000Z", "2026-11-21T00:00:00.000Z"],
      ["max_daily_bet", "2028-02-28T10:00:00.000Z", "2028-02-29T00:00:00.000Z"],
      ["max_weekly_bet", "2026-11-16T00:00:00.000Z", "2026-11-23T00:00:00.000Z"],
      ["max_weekly_bet", "2026-12-28T00:00:00.000Z", "2027-01-04T00:00:00.000Z"],
      ["max_weekly_bet", "2027-01-01T00:00:00.000Z", "2027-01-04T00:00:00.000Z"],
      ["max_weekly_bet", "2028-02-28T00:00:00.000Z", "2028-03-06T00:00:00.000Z"],
      ["max_monthly_bet", "2027-02-01T00:00:00.000Z", "2027-03-01T00:00:00.000Z"],
      ["max_monthly_bet", "2028-02-01T00:00:00.000Z", "2028-03-01T00:00:00.000Z"],
      ["max_monthly_bet", "2026-12-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z"],
      ["max_yearly_deposit", "2026-01-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z"]
    ]
    for (const [field, inside, end] of windows) {
      const player = newPlayer({ limits, counters: countersAt(instant(inside), 5, 5, 5) })
      for (const now of [instant(inside), instant(end) - 1]) {
        assert.deepStrictEqual(
          usage(player, field, now),
          { used: 5, remaining: 4, resets_at: end },
          `${field} ${inside}`
        )
      }
      assert.deepInclude(usage(player, field, instant(end)), { used: 0, remaining: 9 }, `${field} ${inside}`)
      assert.isAbove(instant(usage(player, field, instant(end)).resets_at ?? ""), instant(end))
    }
  })

  it("counts the minutes of the present stretch of play, which a break of 15 minutes ends", () => {
    const opened = notePlay(emptyCounters, start, false)
    const played = notePlay(opened, start + 10 * minute, true)
    const at = (counters: Counters, minutes: number) =>
      usage(
        newPlayer({ limits: { max_session_minutes: 20 }, counters }),
        "max_session_minutes",
        start + minutes * minute
      )
    assert.deepStrictEqual(at(emptyCounters, 0), { used: 0, remaining: 20, resets_at: null })
    assert.deepStrictEqual(at(opened, 1.5), { used: 1, remaining: 19, resets_at: "2026-11-20T12:15:00.000Z" })
    assert.deepStrictEqual(at(opened, 15), { used: 0, remaining: 20, resets_at: null })
    assert.deepStrictEqual(at(played, 24), { used: 24, remaining: 0, resets_at: "2026-11-20T12:25:00.000Z" })
    assert.deepStrictEqual(at(played, 25), { used: 0, remaining: 20, resets_at: null })
  })

  // Goal: what the resource promises is what happens. Method: any sums, any limit, any time; an action of exactly `remaining` fits,
  // one of a unit more is refused, with the same words about the limit.
  it("agrees with what bets and deposits are refused for", () => {
    const sum = fc.integer({ min: -2000, max: 5000 })
    const time = fc.integer({ min: 0, max: 40 * 24 * 60 }).map((minutes) => start + minutes * minute)
    const counters = fc.record({
      at: fc.constant(start),
      betDay: sum,
      betWeek: sum,
      betMonth: sum,
      lossDay: sum,
      lossWeek: sum,
      lossMonth: sum,
      depositDay: sum,
      depositWeek: sum,
      depositMonth: sum,
      withdrawalDay: sum,
      creditDay: sum,
      depositYear: sum,
      playSince: fc.constantFrom(0, start - 50 * minute),
      lastBetAt: fc.constantFrom(0, start - 5 * minute)
    })
    const field = fc.constantFrom(...limitFields.filter((name) => name !== "max_session_minutes"))
    let refusals = 0
    fc.assert(fc.property(field, fc.nat(4000), counters, sum, time, (name, limit, counters, real, now) => {
      const player = newPlayer({ limits: { [name]: limit }, counters, real })
      const { remaining, resets_at, used } = usage(player, name, now)
      const isDeposit = name.includes("deposit") || name === "max_balance"
      const refusal = (amount: number) =>
        isDeposit
          ? refuseDeposit(player.limits, counters, amount, real, now)
          : refuseBet(player.limits, counters, amount, amount, now)
      if (remaining === null) return assert.fail("the limit is set")
      if (remaining > 0) assert.isUndefined(refusal(remaining))
      assert.deepStrictEqual(refusal(remaining + 1)?.details, { limit: name, value: limit, used, resets_at })
      refusals += 1
    }))
    assert.isAbove(refusals, 50)
  })

  it("agrees with what play is refused for", () => {
    const minutes = fc.integer({ min: 5, max: 90 })
    const at = fc.integer({ min: 0, max: 120 * minute }).map((ms) => start + ms)
    let refusals = 0
    fc.assert(
      fc.property(minutes, fc.array(at, { minLength: 1, maxLength: 20 }), at, (limit, bets, now) => {
        const past = bets.filter((bet) => bet <= now).sort((a, b) => a - b)
        const counters = past.reduce((counters, bet) => notePlay(counters, bet, true), emptyCounters)
        const player = newPlayer({ limits: { max_session_minutes: limit }, counters })
        const { remaining, resets_at, used } = usage(player, "max_session_minutes", now)
        const refusal = refusePlay(player.limits, counters, now)
        assert.strictEqual(refusal === undefined, remaining !== 0)
        if (refusal === undefined) return
        refusals += 1
        assert.deepStrictEqual(refusal.details, { limit: "max_session_minutes", value: limit, used, resets_at })
      }),
      { numRuns: 500 }
    )
    assert.isAbove(refusals, 20)
  })
})

import { assert, describe, it } from "@effect/vitest"
import {
  count,
  countDeposit,
  type Counters,
  effectiveLimits,
  emptyCounters,
  type LimitField,
  type Limits,
  notePlay,
  playSince,
  refuseBet,
  refuseDeposit,
  refusePlay,
  roll
} from "../../src/domain/limit/Limits.ts"
import { day, hour, minute, noon } from "../kit/Messages.ts"

const at = (text: string): number => Date.parse(`${text}Z`)

/** Sums of day, week, month and, for deposits, year. */
const bets = ({ betDay, betMonth, betWeek }: Counters) => [betDay, betWeek, betMonth]
const losses = ({ lossDay, lossMonth, lossWeek }: Counters) => [lossDay, lossWeek, lossMonth]
const deposits = ({ depositDay, depositMonth, depositWeek, depositYear }: Counters) => [
  depositDay,
  depositWeek,
  depositMonth,
  depositYear
]

describe("counters", () => {
  // Goal: a sum begins anew exactly when its window does. Method: count just before an edge of the calendar and look after it.
  const edges: ReadonlyArray<readonly [name: string, before: string, after: string, left: ReadonlyArray<number>]> = [
    ["nothing passes within a day", "2026-11-18T00:00:00.000", "2026-11-18T23:59:59.999", [5, 5, 5, 5]],
    ["a day", "2026-11-18T23:59:59.999", "2026-11-19T00:00:00.000", [0, 5, 5, 5]],
    ["a day and its week", "2026-11-15T23:59:59.999", "2026-11-16T00:00:00.000", [0, 0, 5, 5]],
    ["a month within a week", "2026-09-30T23:59:59.999", "2026-10-01T00:00:00.000", [0, 5, 0, 5]],
    ["a month and its week", "2026-05-31T23:59:59.999", "2026-06-01T00:00:00.000", [0, 0, 0, 5]],
    ["a year within a week", "2026-12-31T23:59:59.999", "2027-01-01T00:00:00.000", [0, 5, 0, 0]],
    ["the same day of another month", "2026-10-18T12:00:00.000", "2026-11-18T12:00:00.000", [0, 0, 0, 5]],
    ["the same day of another year", "2025-11-18T12:00:00.000", "2026-11-18T12:00:00.000", [0, 0, 0, 0]]
  ]
  for (const [name, before, after, left] of edges) {
    it(`roll over ${name}`, () => {
      const counted = countDeposit(count(emptyCounters, at(before), 5, 5, at(before)), at(before), 5)
      const rolled = roll(counted, at(after))
      assert.deepStrictEqual(deposits(rolled), left)
      assert.deepStrictEqual(bets(rolled), left.slice(0, 3))
      assert.deepStrictEqual(losses(rolled), left.slice(0, 3))
      // counting goes on from there
      assert.deepStrictEqual(bets(count(counted, at(after), 1, 0, at(after))), left.slice(0, 3).map((sum) => sum + 1))
    })
  }

  it("take a rollback from the windows of its bet that still run", () => {
    const sunday = at("2026-11-15T20:00")
    const counted = count(emptyCounters, sunday, 100, 60, sunday)
    const takenBack = (now: string) => {
      const counters = count(count(counted, at(now), 7, 7, at(now)), at(now), -100, -60, sunday)
      return [bets(counters), losses(counters)]
    }
    assert.deepStrictEqual(takenBack("2026-11-15T23:00"), [[7, 7, 7], [7, 7, 7]])
    assert.deepStrictEqual(takenBack("2026-11-16T01:00"), [[7, 7, 7], [7, 7, 7]])
    assert.deepStrictEqual(takenBack("2026-12-01T01:00"), [[7, 7, 7], [7, 7, 7]])
  })

  it("do not lose what was counted when a clock stands back", () => {
    const counted = count(emptyCounters, noon, 5, 5, noon)
    assert.deepStrictEqual(roll(counted, noon - 2 * day), counted)
    const later = count(counted, noon - hour, 1, 1, noon - hour)
    assert.deepStrictEqual([bets(later), later.at], [[6, 6, 6], noon])
  })

  it("keep the stretch of play over a window", () => {
    const played = notePlay(emptyCounters, noon, true)
    assert.deepInclude(roll(played, noon + 3 * day), { playSince: noon, lastBetAt: noon })
  })
})

describe("limits on bets", () => {
  const used: Counters = {
    ...emptyCounters,
    at: noon,
    betDay: 100,
    betWeek: 200,
    betMonth: 300,
    lossDay: 10,
    lossWeek: 20,
    lossMonth: -30
  }
  const midnight = "2026-11-19T00:00:00.000Z"
  const monday = "2026-11-23T00:00:00.000Z"
  const first = "2026-12-01T00:00:00.000Z"

  // Goal: each limit looks at its own sum and lets a bet fit to the unit. Method: a stake of 50, of which 30 are real money; the
  // smallest limit that allows it, and one less.
  const cases: ReadonlyArray<readonly [field: LimitField, enough: number, used: number, resets: string | null]> = [
    ["max_single_bet", 50, 0, null],
    ["casino_max_single_bet", 50, 0, null],
    ["max_daily_bet", 150, 100, midnight],
    ["casino_max_daily_bet", 150, 100, midnight],
    ["max_weekly_bet", 250, 200, monday],
    ["max_monthly_bet", 350, 300, first],
    ["max_daily_loss", 40, 10, midnight],
    ["max_weekly_loss", 50, 20, monday],
    ["max_monthly_loss", 0, -30, first]
  ]
  for (const [limit, enough, counted, resets_at] of cases) {
    it(limit, () => {
      assert.isUndefined(refuseBet({ [limit]: enough }, used, 50, 30, noon))
      const refusal = refuseBet({ [limit]: enough - 1 }, used, 50, 30, noon)
      assert.strictEqual(refusal?.code, "LIMIT_EXCEEDED")
      assert.deepStrictEqual(refusal?.details, { limit, value: enough - 1, used: counted, resets_at })
    })
  }

  it("count from zero when their window has passed", () => {
    const limits: Limits = { max_daily_bet: 50, max_daily_loss: 30 }
    assert.isDefined(refuseBet(limits, used, 50, 30, noon))
    assert.isUndefined(refuseBet(limits, used, 50, 30, noon + 12 * hour))
  })

  it("say nothing to deposits, and those on deposits nothing to bets", () => {
    const limits: Limits = { max_single_bet: 0, max_daily_bet: 0, max_daily_loss: 0, max_session_minutes: 5 }
    assert.isUndefined(refuseDeposit(limits, used, 1, 0, noon))
    assert.isUndefined(refuseBet({ max_single_deposit: 0, max_yearly_deposit: 0, max_balance: 0 }, used, 1, 1, noon))
  })
})

describe("limits on deposits", () => {
  const used: Counters = {
    ...emptyCounters,
    at: noon,
    depositDay: 100,
    depositWeek: 200,
    depositMonth: 300,
    depositYear: 400
  }
  const cases: ReadonlyArray<readonly [field: LimitField, enough: number, used: number, resets: string | null]> = [
    ["max_single_deposit", 50, 0, null],
    ["max_daily_deposit", 150, 100, "2026-11-19T00:00:00.000Z"],
    ["max_weekly_deposit", 250, 200, "2026-11-23T00:00:00.000Z"],
    ["max_monthly_deposit", 350, 300, "2026-12-01T00:00:00.000Z"],
    ["max_yearly_deposit", 450, 400, "2027-01-01T00:00:00.000Z"],
    ["max_balance", 57, 7, null]
  ]
  for (const [limit, enough, counted, resets_at] of cases) {
    it(limit, () => {
      assert.isUndefined(refuseDeposit({ [limit]: enough }, used, 50, 7, noon))
      assert.deepStrictEqual(refuseDeposit({ [limit]: enough - 1 }, used, 50, 7, noon)?.details, {
        limit,
        value: enough - 1,
        used: counted,
        resets_at
      })
    })
  }
})

describe("the session limit", () => {
  const limits: Limits = { max_session_minutes: 30 }

  /** The counters after the opening of a game at minute 0 and bets at these minutes. */
  const playing = (...minutes: ReadonlyArray<number>) =>
    minutes.reduce(
      (counters, at) => notePlay(counters, noon + at * minute, true),
      notePlay(emptyCounters, noon, false)
    )
  const isRefused = (counters: Counters, at: number) => refusePlay(limits, counters, noon + at * minute) !== undefined

  it("counts from the opening of the first game", () => {
    const counters = playing(10, 20, 29)
    assert.isFalse(isRefused(counters, 29.9))
    assert.isTrue(isRefused(counters, 30))
    assert.deepStrictEqual(refusePlay(limits, counters, noon + 40 * minute)?.details, {
      limit: "max_session_minutes",
      value: 30,
      used: 40,
      resets_at: new Date(noon + 44 * minute).toISOString()
    })
  })

  it("ends with a break of a quarter of an hour without a bet", () => {
    const counters = playing(10, 20, 29)
    assert.isTrue(isRefused(counters, 43.9))
    assert.isFalse(isRefused(counters, 44))
    assert.strictEqual(playSince(notePlay(counters, noon + 50 * minute, true), noon + 50 * minute), noon + 50 * minute)
  })

  it("is not ended by opening games, nor begun by settlement", () => {
    const opened = notePlay(playing(10), noon + 20 * minute, false)
    assert.deepInclude(opened, { playSince: noon, lastBetAt: noon + 10 * minute })
    assert.isNull(playSince(emptyCounters, noon))
    assert.isNull(playSince(playing(), noon + 15 * minute))
    assert.isFalse(isRefused(playing(), 60))
  })

  it("is none where none is set", () => {
    assert.isUndefined(refusePlay({}, playing(10, 20, 30, 40, 50), noon + 60 * minute))
    assert.isDefined(refuseBet(limits, playing(10, 20, 30), 1, 1, noon + 31 * minute))
  })
})

describe("waiting raises", () => {
  const limits: Limits = { max_single_bet: 10, max_balance: 5 }
  const effectiveAt = noon

  it("are in force from their instant on, applied or not", () => {
    const pending = [{ field: "max_single_bet", value: 20, effectiveAt }, {
      field: "max_balance",
      value: null,
      effectiveAt
    }] as const
    assert.deepStrictEqual(effectiveLimits(limits, pending, noon - 1), limits)
    assert.deepStrictEqual(effectiveLimits(limits, pending, noon), { max_single_bet: 20 })
    assert.deepStrictEqual(limits, { max_single_bet: 10, max_balance: 5 }, "the limits themselves stay as they are")
  })

  it("come one by one", () => {
    const pending = [
      { field: "max_single_bet", value: 20, effectiveAt },
      { field: "max_daily_bet", value: 1, effectiveAt: effectiveAt + day }
    ] as const
    assert.deepStrictEqual(effectiveLimits(limits, pending, noon), { max_single_bet: 20, max_balance: 5 })
  })
})

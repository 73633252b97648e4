import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "fast-check"
import { type AddedFigures, localDayAt, localDays, offsetHours } from "../../src/domain/LocalDays.ts"

// Goal: days of any zone hold each hour's play once, and add up to the days of UTC whatever readings are missing. Method: random play by the hour;
// readings and sums of days as they follow from it; each day of the zone against its own 24 hours.

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const start = Date.UTC(2026, 9, 1)
const utcDays = 6

const figuresOf = (bets: number): AddedFigures => ({
  rounds: bets % 7,
  bets,
  wins: (bets * 3) % 11,
  bonusConversions: bets % 3,
  deposits: bets % 13 - 6,
  withdrawals: bets % 5
})

const sum = (all: ReadonlyArray<AddedFigures>): AddedFigures => {
  const of = (name: keyof AddedFigures) => all.reduce((total, { [name]: value }) => total + value, 0)
  return {
    rounds: of("rounds"),
    bets: of("bets"),
    wins: of("wins"),
    bonusConversions: of("bonusConversions"),
    deposits: of("deposits"),
    withdrawals: of("withdrawals")
  }
}

const hoursArbitrary = FastCheck.array(FastCheck.nat(1000), { minLength: utcDays * 24, maxLength: utcDays * 24 })
const zone = FastCheck.integer({ min: offsetHours.minimum, max: offsetHours.maximum })

/** Sums and readings as they are at `now`; nothing was played later. */
const kept = (played: ReadonlyArray<number>, now: number, isRead: (at: number) => boolean) => {
  const hours = played.map((bets, index) => ({ at: start + index * hourMs, sums: figuresOf(bets) }))
    .filter(({ at }) => at <= now)
  const days = new Map<number, AddedFigures>()
  const readings = new Map<number, AddedFigures>()
  // the day before, without play, is read as well
  for (let day = start - dayMs; day < start + utcDays * dayMs; day += dayMs) {
    if (day >= start) {
      days.set(
        day,
        sum(hours.filter(({ at }) => at >= day && at < day + dayMs).map(({ sums }) => sums))
      )
    }
    for (let at = day + hourMs; at < day + dayMs && at <= now; at += hourMs) {
      if (isRead(at)) {
        readings.set(at, sum(hours.filter((hour) => hour.at >= day && hour.at < at).map(({ sums }) => sums)))
      }
    }
  }
  return { hours, days, readings }
}

const end = start + utcDays * dayMs

describe("sums by day in a time zone", () => {
  it("cover the zone's own 24 hours if every hourly reading exists", () => {
    FastCheck.assert(FastCheck.property(hoursArbitrary, zone, FastCheck.nat(utcDays * 24), (played, hours, passed) => {
      const now = start + passed * hourMs + 1
      const { days, hours: all, readings } = kept(played, now, () => true)
      for (const row of localDays({ from: start, to: end, hours, now }, readings, days)) {
        const begins = row.day - hours * hourMs
        assert.deepStrictEqual(row, {
          day: row.day,
          from: begins,
          until: begins + dayMs,
          sums: sum(all.filter(({ at }) => at >= begins && at < begins + dayMs).map(({ sums }) => sums))
        })
      }
    }))
  })

  it("leave no gap and add up to the UTC days, whichever hourly readings are missing", () => {
    FastCheck.assert(
      FastCheck.property(hoursArbitrary, zone, FastCheck.nat(utcDays * 24), FastCheck.nat(0xffff), (
        played,
        hours,
        passed,
        unread
      ) => {
        const now = start + passed * hourMs + 1
        const { days, readings } = kept(played, now, (at) => (unread >> (at / hourMs % 16) & 1) === 0)
        const from = localDayAt(start, hours) - dayMs
        const rows = localDays({ from, to: end + dayMs, hours, now }, readings, days)
        assert.strictEqual(rows.at(-1)?.day, localDayAt(now, hours))
        for (const [index, row] of rows.entries()) {
          assert.isAtMost(row.from, row.day - hours * hourMs)
          if (index > 0) assert.strictEqual(row.from, rows[index - 1]?.until)
        }
        assert.deepStrictEqual(sum(rows.map(({ sums }) => sums)), sum([...days.values()]))
      })
    )
  })

  it("equal the UTC days for a zone without an offset", () => {
    FastCheck.assert(FastCheck.property(hoursArbitrary, (played) => {
      const { days, readings } = kept(played, end - 1, () => false)
      const rows = localDays({ from: start, to: end - dayMs, hours: 0, now: end - 1 }, readings, days)
      assert.deepStrictEqual(rows.map(({ day, sums }) => [day, sums]), [...days])
    }))
  })
})

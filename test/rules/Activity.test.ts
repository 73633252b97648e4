import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "fast-check"
import {
  type Activity,
  type ActivityKind,
  isRecorded,
  noActivity,
  recordDay,
  type Visit,
  type VisitKind
} from "../../src/domain/state/Activity.ts"

// Goal: the recorded visits add up to the number of distinct players in any range. Method: random days of several
// players, recorded one by one; for every range, the sum of the visits against a set of players.

const kinds: ReadonlyArray<ActivityKind> = ["rng", "live", "deposit", "withdrawal"]
const first = 20_000

interface Noted {
  readonly player: number
  readonly kind: ActivityKind
  readonly day: number
}

const note = (noted: ReadonlyArray<Noted>): ReadonlyArray<Visit> => {
  const activities = new Map<number, Activity>()
  return noted.flatMap(({ day, kind, player }) => {
    const before = activities.get(player) ?? noActivity
    const { activity, visits } = recordDay(before, kind, day)
    if (isRecorded(before, kind, day)) assert.deepStrictEqual(visits.filter((visit) => visit.kind === kind), [])
    activities.set(player, activity)
    return visits
  })
}

const counted = (visits: ReadonlyArray<Visit>, kind: VisitKind, from: number, to: number): number =>
  visits.filter((visit) => visit.kind === kind && visit.day >= from && visit.day <= to && visit.previousDay < from)
    .reduce((sum, { players }) => sum + players, 0)

const different = (noted: ReadonlyArray<Noted>, kind: VisitKind, from: number, to: number): number =>
  new Set(
    noted.filter((entry) =>
      (entry.kind === kind || (kind === "casino" && (entry.kind === "rng" || entry.kind === "live"))) &&
      entry.day >= from && entry.day <= to
    ).map(({ player }) => player)
  ).size

const check = (noted: ReadonlyArray<Noted>, ranges: ReadonlyArray<readonly [from: number, to: number]>): void => {
  const visits = note(noted)
  for (const visit of visits) assert.isTrue(visit.previousDay < visit.day && visit.previousDay >= visit.day - 366)
  for (const [from, to] of ranges) {
    for (const kind of [...kinds, "casino"] as const) {
      assert.strictEqual(counted(visits, kind, from, to), different(noted, kind, from, to), `${kind} ${from}..${to}`)
    }
  }
}

const step = FastCheck.record({
  player: FastCheck.nat(3),
  kind: FastCheck.constantFrom(...kinds),
  ahead: FastCheck.oneof(FastCheck.nat(3), FastCheck.nat(40), FastCheck.constantFrom(365, 366, 367, 800))
})

/** All ranges of the recorded days and their neighbours up to the maximum length of a report. */
const rangesOf = (noted: ReadonlyArray<Noted>): ReadonlyArray<readonly [number, number]> => {
  const days = [...new Set(noted.flatMap(({ day }) => [day - 1, day, day + 1]))]
  return days.flatMap((from) => days.filter((to) => to >= from && to - from < 366).map((to) => [from, to] as const))
}

describe("daily counts of active players, split by each player's previous active day", () => {
  it("add up to the number of distinct players in any range of days, when only each player's first day in the range is counted", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(step, { maxLength: 25 }), (steps) => {
        let day = first
        const noted = steps.map(({ ahead, kind, player }) => ({ player, kind, day: day += ahead }))
        check(noted, rangesOf(noted))
      }),
      { numRuns: 150 }
    )
  })

  // Two services around midnight: the newest day is followed by the day before it.
  it("add up to the number of distinct players also when one service's clock is a day behind another's", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(step, { maxLength: 12 }),
        FastCheck.array(FastCheck.boolean()),
        (steps, late) => {
          let day = first
          const last = new Map<string, ReadonlyArray<number>>()
          const noted = steps.map(({ ahead, kind, player }, index) => {
            day += ahead + 1
            // one day back, unless before the previous day of activity, where the count cannot be known
            const key = `${player}`
            const [, before = 0] = last.get(key) ?? []
            const at = late[index] === true && (last.get(key)?.[0] ?? 0) < day && day - 2 > before ? day - 2 : day
            last.set(key, [at, ...last.get(key) ?? []].toSorted((a, b) => b - a))
            return { player, kind, day: at }
          })
          check(noted, rangesOf(noted))
        }
      ),
      { numRuns: 100 }
    )
    const turns = [1, 3, 2].map((at): Noted => ({ player: 1, kind: "rng", day: first + at }))
    check(turns, rangesOf(turns))
    const both = [1, 3].map((at): Noted => ({ player: 1, kind: "rng", day: first + at }))
    const beside: ReadonlyArray<Noted> = [...both, { player: 1, kind: "live", day: first + 2 }]
    check(beside, rangesOf(beside))
  })

  it("count a player once per day", () => {
    const once = note([{ player: 1, kind: "rng", day: first }])
    assert.deepStrictEqual(once, [
      { kind: "rng", day: first, previousDay: first - 366, players: 1 },
      { kind: "casino", day: first, previousDay: first - 366, players: 1 }
    ])
    const twice = note([{ player: 1, kind: "rng", day: first }, { player: 1, kind: "rng", day: first }])
    assert.deepStrictEqual(twice, once)
  })

  it("ignore an activity that arrives late and dates from before the player's last two active days", () => {
    const visits = note([1, 5, 9, 3].map((at) => ({ player: 1, kind: "deposit" as const, day: first + at })))
    assert.strictEqual(counted(visits, "deposit", first, first + 20), 1)
    assert.strictEqual(counted(visits, "deposit", first + 9, first + 9), 1)
    assert.strictEqual(counted(visits, "deposit", first + 2, first + 4), 0)
  })
})

import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import type { ActiveBonus } from "../../src/domain/state/Bonus.ts"
import { addMonths } from "../../src/domain/jurisdiction/Duration.ts"
import {
  type ExclusionPeriod,
  exclusionPeriods,
  standardPeriods,
  type ExclusionType,
  periodEnd
} from "../../src/domain/jurisdiction/ExclusionPeriods.ts"
import { type SelfExclude, selfExcludeStep } from "../../src/domain/limit/Exclusions.ts"
import { activeExclusion, type Exclusion, type Player } from "../../src/domain/state/Player.ts"
import { newPlayer } from "../kit/players.ts"

const instant = (text: string) => Date.parse(text)
const start = instant("2026-11-20T12:00:00.000Z")
const day = 86_400_000

const decide = (player: Player, request: Partial<SelfExclude>, now = start) =>
  selfExcludeStep({ period: null, until: null, type: null, actor: "key:pk", ...request })(player, {
    now,
    firstId: 100,
    known: undefined
  })

const accepted = (player: Player, request: Partial<SelfExclude>, now = start) => {
  const decision = decide(player, request, now)
  return decision._tag === "Accept" ? decision : assert.fail(JSON.stringify(decision))
}

const excluded = (player: Player, request: Partial<SelfExclude>, now = start) => accepted(player, request, now).state

/** Code of the refusal and, for field errors, the fields. */
const refusal = (player: Player, request: Partial<SelfExclude>, now = start) => {
  const decision = decide(player, request, now)
  if (decision._tag !== "Refuse") return assert.fail(decision._tag)
  const { code, details } = decision.error
  return code === "VALIDATION_FAILED" ? `${code} ${Object.keys(details).join(" ")}` : code
}

/** Periods that a player without a jurisdiction can choose. */
const offered = exclusionPeriods.filter((period) => period in standardPeriods)

/** How an exclusion shows that an operator asked for, and that ends by itself. */
const byOperator = { ends: "by_itself", return_at: null, source: "operator" } as const

const types: ReadonlyArray<ExclusionType> = ["time_out", "self_exclusion", "self_closure"]

const withExclusion = (type: ExclusionType, days: number) =>
  newPlayer({ exclusion: { type, since: start - day, until: start + days * day } })

describe("addMonths", () => {
  // Goal: the calendar is right everywhere, not only in a table. Method: arithmetic on the written date, with leap years.
  it("agrees with calendar arithmetic on ISO dates, leap years included", () => {
    const leap = (year: number) => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
    const lastDay = (year: number, month: number) =>
      month === 2 ? (leap(year) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
    const digits = (value: number, length = 2) => String(value).padStart(length, "0")
    const time = fc.date({ min: new Date("1970-01-01"), max: new Date("2399-12-31"), noInvalidDate: true })
    fc.assert(
      fc.property(time, fc.nat(70), (from, months) => {
        const text = from.toISOString()
        const index = Number(text.slice(0, 4)) * 12 + Number(text.slice(5, 7)) - 1 + months
        const [year, month] = [Math.floor(index / 12), index % 12 + 1]
        const to = Math.min(Number(text.slice(8, 10)), lastDay(year, month))
        assert.strictEqual(
          new Date(addMonths(from.getTime(), months)).toISOString(),
          `${digits(year, 4)}-${digits(month)}-${digits(to)}${text.slice(10)}`
        )
      }),
      { numRuns: 1000 }
    )
  })
})

describe("selfExcludeStep, first exclusion", () => {
  it("derives type and end from a period that the profile offers", () => {
    const now = instant("2026-11-30T12:00:00.000Z")
    const table: { readonly [period in ExclusionPeriod]?: readonly [type: ExclusionType, until: string] } = {
      "24_hours": ["time_out", "2026-12-01T12:00:00.000Z"],
      "7_days": ["time_out", "2026-12-07T12:00:00.000Z"],
      "30_days": ["time_out", "2026-12-30T12:00:00.000Z"],
      "3_months": ["self_exclusion", "2027-02-28T12:00:00.000Z"],
      "6_months": ["self_exclusion", "2027-05-30T12:00:00.000Z"],
      "12_months": ["self_exclusion", "2027-11-30T12:00:00.000Z"],
      "5_years": ["self_exclusion", "2031-11-30T12:00:00.000Z"]
    }
    for (const period of exclusionPeriods) {
      const expected = table[period]
      if (expected === undefined) {
        assert.strictEqual(refusal(newPlayer(), { period }, now), "VALIDATION_FAILED period")
        continue
      }
      const { reply, state } = accepted(newPlayer(), { period }, now)
      const [type, until] = expected
      assert.deepStrictEqual(
        reply.self_exclusion,
        { ...byOperator, type, since: "2026-11-30T12:00:00.000Z", until },
        period
      )
      assert.deepStrictEqual(state.exclusion, { type, since: now, until: instant(until) })
    }
  })

  it("derives the type from the end, and refuses ends between 30 days and 3 months, as neither a time-out nor a self-exclusion has that length", () => {
    const threeMonths = instant("2027-02-20T12:00:00.000Z")
    const type = (until: number) => excluded(newPlayer(), { until }).exclusion?.type
    for (const until of [start + 1, start + 30 * day]) assert.strictEqual(type(until), "time_out")
    for (const until of [threeMonths, start + 4000 * day]) assert.strictEqual(type(until), "self_exclusion")
    for (const until of [start + 30 * day + 1, start + 45 * day, threeMonths - 1]) {
      assert.strictEqual(refusal(newPlayer(), { until }), "VALIDATION_FAILED until")
    }
  })

  it("accepts a named type within its range of lengths, and self_closure with any length", () => {
    const type = (request: Partial<SelfExclude>) => excluded(newPlayer(), request).exclusion?.type
    assert.strictEqual(type({ period: "30_days", type: "time_out" }), "time_out")
    assert.strictEqual(type({ period: "3_months", type: "self_exclusion" }), "self_exclusion")
    for (const period of offered) assert.strictEqual(type({ period, type: "self_closure" }), "self_closure")
    for (const until of [start + 1, start + 45 * day, start + 4000 * day]) {
      assert.strictEqual(type({ until, type: "self_closure" }), "self_closure")
    }
    const wrong: ReadonlyArray<Partial<SelfExclude>> = [
      { period: "3_months", type: "time_out" },
      { until: start + 30 * day + 1, type: "time_out" },
      { period: "30_days", type: "self_exclusion" },
      { until: instant("2027-02-20T12:00:00.000Z") - 1, type: "self_exclusion" }
    ]
    for (const request of wrong) assert.strictEqual(refusal(newPlayer(), request), "VALIDATION_FAILED type")
  })

  it("needs exactly one of period and until, and an end in the future", () => {
    assert.strictEqual(refusal(newPlayer(), {}), "VALIDATION_FAILED period until")
    assert.strictEqual(refusal(newPlayer(), { type: "self_closure" }), "VALIDATION_FAILED period until")
    const both = { period: "7_days", until: start + 7 * day } as const
    assert.strictEqual(refusal(newPlayer(), both), "VALIDATION_FAILED period until")
    for (const until of [start, start - 1, 0, start + 0.5, Number.NaN, Date.UTC(10_000, 0)]) {
      assert.strictEqual(refusal(newPlayer(), { until }), "VALIDATION_FAILED until", `${until}`)
      assert.strictEqual(refusal(newPlayer(), { until, type: "self_closure" }), "VALIDATION_FAILED until", `${until}`)
    }
    assert.strictEqual(excluded(newPlayer(), { until: Date.UTC(10_000, 0) - 1 }).exclusion?.type, "self_exclusion")
  })

  it("is accepted for locked and closed accounts, and after an earlier exclusion has ended", () => {
    for (const status of ["locked", "closed"] as const) {
      assert.isNotNull(excluded(newPlayer({ status }), { period: "24_hours" }).exclusion)
    }
    const over = newPlayer({ exclusion: { type: "self_exclusion", since: 1, until: start } })
    assert.deepStrictEqual(excluded(over, { period: "24_hours" }).exclusion, {
      type: "time_out",
      since: start,
      until: start + day
    })
  })

  it("writes the settings and one line of the audit log", () => {
    const player = newPlayer({ real: 500, limits: { max_balance: 9 } })
    const { change, idsUsed, state } = accepted(player, { period: "7_days" })
    const exclusion = { type: "time_out", since: start, until: start + 7 * day } as const
    assert.deepStrictEqual(state, { ...player, exclusion, sessionsEndedAt: start })
    assert.deepInclude(change?.settings, { exclusion, limits: { max_balance: 9 }, updatedAt: start })
    assert.deepStrictEqual(change?.audit, [{
      id: 101,
      at: start,
      actor: "key:pk",
      action: "player.self_exclusion",
      operatorId: 1,
      playerId: 1,
      subject: "player:1",
      before: { self_exclusion: null },
      after: {
        self_exclusion: {
          ...byOperator,
          type: "time_out",
          since: "2026-11-20T12:00:00.000Z",
          until: "2026-11-27T12:00:00.000Z"
        }
      },
      reason: null
    }])
    assert.deepStrictEqual(change?.events.map(({ id, type }) => [id, type]), [[100, "player.self_excluded"]])
    assert.strictEqual(idsUsed, 2)
  })
})

describe("selfExcludeStep, exclusion in force", () => {
  it("takes a later end and keeps the beginning", () => {
    const table: ReadonlyArray<
      readonly [current: ExclusionType, days: number, Partial<SelfExclude>, next: ExclusionType]
    > = [
      ["time_out", 6, { period: "7_days" }, "time_out"],
      ["time_out", 7, { period: "30_days" }, "time_out"],
      ["time_out", 29, { period: "3_months" }, "self_exclusion"],
      ["time_out", 7, { until: start + 45 * day, type: "self_closure" }, "self_closure"],
      ["self_exclusion", 80, { period: "6_months" }, "self_exclusion"],
      ["self_closure", 45, { period: "12_months" }, "self_exclusion"],
      ["self_exclusion", 80, { period: "12_months", type: "self_closure" }, "self_closure"],
      // without a type the exclusion keeps its own, whatever the rest of its length
      ["self_exclusion", 5, { period: "7_days" }, "self_exclusion"],
      ["self_exclusion", 5, { until: start + 45 * day }, "self_exclusion"],
      ["self_exclusion", 5, { until: start + 45 * day, type: "self_exclusion" }, "self_exclusion"],
      ["self_closure", 5, { period: "7_days" }, "self_closure"],
      ["self_closure", 5, { until: start + 45 * day }, "self_closure"]
    ]
    for (const [type, days, request, next] of table) {
      const before = withExclusion(type, days)
      const { exclusion } = excluded(before, request)
      const until = request.until ?? periodEnd(request.period ?? assert.fail(), start)
      assert.deepStrictEqual(
        exclusion,
        { type: next, since: start - day, until },
        JSON.stringify([type, days, request])
      )
    }
  })

  it("does not become a time-out when the player requests one", () => {
    for (const type of ["self_exclusion", "self_closure"] as const) {
      assert.strictEqual(
        refusal(withExclusion(type, 5), { period: "7_days", type: "time_out" }),
        "RESPONSIBLE_GAMING_RULE"
      )
    }
  })

  it("without an end cannot be given an end", () => {
    const player = newPlayer({ exclusion: { type: "self_closure", since: 1, until: null } })
    for (const request of [{ period: "5_years" }, { until: Date.UTC(9999, 0), type: "self_closure" }] as const) {
      assert.strictEqual(refusal(player, request), "RESPONSIBLE_GAMING_RULE")
    }
  })

  it("cannot be prolonged to a length that does not fit the type", () => {
    const timeOut = withExclusion("time_out", 7)
    assert.strictEqual(refusal(timeOut, { until: start + 45 * day }), "VALIDATION_FAILED until")
    assert.strictEqual(refusal(timeOut, { until: start + 45 * day, type: "time_out" }), "VALIDATION_FAILED type")
    assert.strictEqual(refusal(timeOut, { until: start + 45 * day, type: "self_exclusion" }), "VALIDATION_FAILED type")
    const closure = withExclusion("self_closure", 7)
    assert.strictEqual(refusal(closure, { until: start + 45 * day, type: "self_exclusion" }), "VALIDATION_FAILED type")
    assert.strictEqual(refusal(timeOut, {}), "VALIDATION_FAILED period until")
  })
})

describe("selfExcludeStep and bonuses", () => {
  const activeBonus: ActiveBonus = {
    id: 9,
    bonusId: 5,
    name: "Welcome",
    type: "deposit_match",
    amount: 1000,
    wagerRequirement: 5000,
    wagered: 1200,
    maxBet: 0,
    maxConversion: 0,
    validDays: 30,
    contributions: {},
    createdAt: start,
    startedAt: start,
    expiresAt: start + 30 * day,
    openRounds: 1,
    openUntil: null,
    restored: 0,
    short: 0
  }

  it("exclusions other than a time-out cancel the active bonus with its money, and leave the real money", () => {
    for (const type of ["self_exclusion", "self_closure"] as const) {
      const player = newPlayer({ real: 500, bonus: 700, activeBonus, walletSeq: 3, entrySeq: 8 })
      const { change, idsUsed, state } = accepted(player, { period: "6_months", type })
      assert.deepInclude(state, { real: 500, bonus: 0, activeBonus: null, walletSeq: 4, entrySeq: 9 })
      assert.deepStrictEqual(
        change?.entries.map((
          { amount, balanceAfter, id, playerBonusId, type }
        ) => [id, type, amount, balanceAfter, playerBonusId]),
        [[100, "bonus_correction_down", -700, 0, 9]]
      )
      assert.deepStrictEqual(
        change?.bonuses.map((
          { bonus: { converted, finishedAt, forfeited, id, result, state, wagered }, isNew }
        ) => [id, state, result, wagered, converted, forfeited, finishedAt, isNew]),
        [[9, "finished", "cancelled", 1200, 0, 700, start, false]]
      )
      assert.deepStrictEqual(change?.events.map(({ id, type }) => [id, type]), [
        [101, "bonus.completed"],
        [102, "player.self_excluded"]
      ])
      assert.strictEqual(change?.audit[0]?.id, 103)
      assert.strictEqual(idsUsed, 4)
    }
  })

  it("a bonus without money ends without a ledger entry, and the wallet sequence does not change", () => {
    const { change, state } = accepted(newPlayer({ activeBonus, walletSeq: 3 }), { period: "3_months" })
    assert.deepInclude(state, { activeBonus: null, walletSeq: 3 })
    assert.strictEqual(change?.bonuses.length, 1)
    assert.deepStrictEqual(change?.entries, [])
  })

  it("a time-out leaves the bonus active, until it is prolonged into a self-exclusion", () => {
    const player = newPlayer({ bonus: 700, activeBonus })
    const timeOut = accepted(player, { period: "7_days" })
    assert.deepInclude(timeOut.state, { bonus: 700, activeBonus, walletSeq: 0 })
    assert.deepStrictEqual([timeOut.change?.entries, timeOut.change?.bonuses], [[], []])
    assert.deepInclude(excluded(timeOut.state, { period: "3_months" }), { bonus: 0, activeBonus: null, walletSeq: 1 })
  })
})

describe("exclusions over time", () => {
  const request = fc.record({
    wait: fc.constantFrom(0, 1, 6, 20, 29, 60, 100, 400),
    period: fc.option(fc.constantFrom(...offered), { freq: 2 }),
    days: fc.option(fc.constantFrom(-1, 0, 1, 20, 30, 31, 60, 95, 200, 1000)),
    type: fc.option(fc.constantFrom(...types), { freq: 1 })
  })

  // Goal: an exclusion holds for its full period, whatever is sent. Method: any requests at any times; the exclusion in
  // force is judged by plain promises only, and each refusal needs a reason that a plain reading of the rules confirms.
  it("never end earlier, never become weaker, and are refused only for a documented reason", () => {
    let prolonged = 0
    let weakened = 0
    fc.assert(
      fc.property(fc.array(request, { maxLength: 12 }), (requests) => {
        let now = start
        let player = newPlayer()
        for (const { days, period, type, wait } of requests) {
          const before: Exclusion | null = activeExclusion(player, now)
          now += wait * day
          const standing = activeExclusion(player, now)
          // only its own end lifts it
          assert.strictEqual(standing !== null, before !== null && now < (before.until ?? Number.POSITIVE_INFINITY))
          const until = days === null ? null : now + days * day
          const decision = decide(player, { period, until, type }, now)
          const end = period === null ? until : periodEnd(period, now)
          const isOne = (period === null) !== (until === null)
          const isLater = end !== null && end > (standing?.until ?? now)
          if (decision._tag === "Accept") {
            const { exclusion } = decision.state
            if (exclusion === null || end === null) return assert.fail("no exclusion")
            assert.isTrue(isOne && isLater)
            assert.strictEqual(exclusion.until, end)
            assert.strictEqual(exclusion.since, standing?.since ?? now)
            if (type !== null) assert.strictEqual(exclusion.type, type)
            if (standing !== null && standing.type !== "time_out") assert.notStrictEqual(exclusion.type, "time_out")
            if (exclusion.type === "time_out") assert.isAtMost(end, now + 30 * day)
            if (exclusion.type === "self_exclusion") {
              assert.isTrue(standing?.type === "self_exclusion" || end >= addMonths(now, 3))
            }
            if (exclusion.type === "self_closure") {
              assert.isTrue(type === "self_closure" || standing?.type === "self_closure")
            }
            if (standing !== null) prolonged += 1
            player = decision.state
          } else {
            if (decision._tag !== "Refuse") return assert.fail(decision._tag)
            const isWeaker = standing !== null && standing.type !== "time_out" && type === "time_out"
            const isRule = isOne && standing !== null && (!isLater || isWeaker)
            assert.strictEqual(decision.error.code, isRule ? "RESPONSIBLE_GAMING_RULE" : "VALIDATION_FAILED")
            if (isRule) weakened += 1
            // a period that ends later and names no type is always accepted
            if (isOne && isLater && period !== null) assert.isNotNull(type)
          }
        }
      }),
      { numRuns: 1000 }
    )
    assert.isAbove(prolonged, 100)
    assert.isAbove(weakened, 100)
  })
})

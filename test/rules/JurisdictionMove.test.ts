import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { builtInProfiles } from "../../src/domain/jurisdiction/BuiltIn.ts"
import type { ExclusionPeriod } from "../../src/domain/jurisdiction/ExclusionPeriods.ts"
import { Profile } from "../../src/domain/jurisdiction/Profile.ts"
import { dayNumber, type Rules, rulesIn } from "../../src/domain/jurisdiction/Rules.ts"
import { oneForOne } from "../../src/domain/CurrencyConversion.ts"
import { acknowledgeStep } from "../../src/domain/limit/Acknowledgements.ts"
import { selfExcludeStep } from "../../src/domain/limit/Exclusions.ts"
import { looserFrom } from "../../src/domain/limit/LimitRaise.ts"
import { refuseNetDeposit } from "../../src/domain/limit/NetDepositCap.ts"
import { moveJurisdictionStep } from "../../src/domain/limit/JurisdictionMove.ts"
import { refuseAccount } from "../../src/domain/player/RefuseAccount.ts"
import type { Player } from "../../src/domain/state/Player.ts"
import { day, hour, makePlayer, noon } from "../kit/Messages.ts"
import { RuleRunner } from "../kit/RuleRunner.ts"

// Goal: 2.4: what is stricter in the other jurisdiction, and its breaks, count at once; what is looser waits as a raise would; what runs stays. Method:
// players moved between two jurisdictions of which neither is stricter in everything.

const decode = Schema.decodeUnknownSync(Profile)

const rulesOf = (code: string, document: object): Rules =>
  rulesIn({ profile: decode({ code, name: code, ...document }), version: 1 }, oneForOne)

const north = rulesOf("x-north", {
  breaks: { periods: { "24_hours": "time_out" } },
  limits: { required: [["max_daily_deposit"]], caps: { max_daily_bet: 100 }, raise: { wait: "P3D" } },
  stakes: [{ categories: ["slots"], amount: 200 }],
  registers: [{ kind: "spelpaus", on: { login: {} } }]
})

const south = rulesOf("x-south", {
  breaks: { periods: { "7_days": "time_out" } },
  minimum_age: 21,
  limits: { required: [["max_balance"]], caps: { max_weekly_bet: 500 } },
  stakes: [{ categories: ["table"], amount: 300 }],
  registers: [{ kind: "oasis", on: { login: {} } }]
})

const at = (rules: Rules, more: Partial<Player> = {}) => makePlayer({ rules, ...more })

const builtIn = (code: string): Rules => {
  const profile = builtInProfiles.find((one) => one.code === code) ?? assert.fail(code)
  return rulesIn({ profile, version: 1 }, oneForOne)
}

const moveStep = (to: Rules) =>
  moveJurisdictionStep({ to, coolingOffHours: 48, reason: "moved house", actor: "staff:1" })

const move = (player: Player, to: Rules, now = noon) => moveStep(to)(player, { now, firstId: 100, known: undefined })

const selfExclude = (period: ExclusionPeriod) => selfExcludeStep({ period, until: null, type: null, actor: "key:1" })

const returnToPlay = acknowledgeStep({
  kind: "return_to_play",
  answer: "accept",
  field: null,
  obligationId: null,
  textVersion: null,
  channel: null,
  by: "staff",
  actor: "staff:1"
})

const moved = (player: Player, to: Rules, now = noon) => {
  const decision = move(player, to, now)
  return decision._tag === "Accept" ? decision : assert.fail(JSON.stringify(decision))
}

const codeOf = (decision: ReturnType<typeof move>) => decision._tag === "Refuse" ? decision.error.code : undefined

describe("2.4 a move to another jurisdiction", () => {
  it("applies the new breaks and stricter rules at once, and keeps the old stricter rules for the waiting period", () => {
    const { change, state: { rules } } = moved(at(north), south)
    assert.deepInclude(rules, { code: "x-south", version: 1, minimum_age: 21, breaks: south.breaks })
    assert.deepStrictEqual(rules.moved, { from: "x-north", until: noon + 3 * day })
    assert.deepStrictEqual(rules.limits.caps, { max_daily_bet: 100, max_weekly_bet: 500 })
    assert.sameDeepMembers([...rules.limits.required], [["max_balance"], ["max_daily_deposit"]])
    assert.sameMembers(rules.stakes.map(({ categories: [category] }) => category), ["slots", "table"])
    assert.sameMembers(rules.registers.map(({ kind }) => kind), ["oasis", "spelpaus"])
    assert.strictEqual(rules.limits.raise.wait, "P3D")
    assert.deepInclude(change?.audit[0], {
      action: "player.jurisdiction",
      before: { jurisdiction: "x-north", version: 1, looser_from: null },
      after: { jurisdiction: "x-south", version: 1, looser_from: "2026-11-21T12:00:00.000Z" },
      reason: "moved house"
    })
  })

  it("loosens rules after the longest of one day, the waiting period of limit raises and the operator's cooling-off hours", () => {
    for (const [wait, hours, waited] of [[null, 0, day], ["PT1H", 48, 48 * hour], ["P3D", 48, 3 * day]] as const) {
      const before = rulesOf("x-any", { limits: { raise: wait === null ? {} : { wait } } })
      assert.strictEqual(looserFrom(noon, before, hours), noon + waited)
    }
  })

  it("loosens rules no sooner than the running periods of raises that wait for them, of a year where a cap is for years", () => {
    const from = (limits: object, now: number) =>
      new Date(looserFrom(now, rulesOf("x-any", { limits: { raise: { until_period_ends: true }, ...limits } }), 0))
        .toISOString()
    // noon is a Wednesday
    const yearly = { caps: { max_yearly_deposit: 900 } }
    assert.strictEqual(from({}, noon), "2026-12-01T00:00:00.000Z")
    assert.strictEqual(from({}, Date.UTC(2026, 10, 30, 12)), "2026-12-07T00:00:00.000Z")
    assert.strictEqual(from(yearly, noon), "2027-01-01T00:00:00.000Z")
    const until = Date.UTC(2026, 11, 1)
    const before = rulesOf("x-north", {
      limits: { caps: { max_monthly_deposit: 100 }, raise: { wait: "PT72H", until_period_ends: true } }
    })
    assert.deepStrictEqual(moved(at(before), south).state.rules.moved, { from: "x-north", until })
  })

  it("is complete at once where no rule is looser", () => {
    const stricter = rulesOf("x-strict", { limits: { caps: { max_daily_bet: 50 } } })
    const { state } = moved(at(rulesOf("x-plain", {})), stricter)
    assert.deepStrictEqual([state.rules, state.rules.moved], [stricter, null])
  })

  it("keeps exclusions, limits and pending raises, and adds obligations of the new jurisdiction", () => {
    const running: Partial<Player> = {
      exclusion: { type: "time_out", since: noon, until: noon + day },
      limits: { max_daily_deposit: 50 },
      limitsSet: -1,
      pendingLimits: [{ field: "max_daily_deposit", value: 500, effectiveAt: noon + hour }]
    }
    const { change, state } = moved(at(north, running), south)
    assert.deepInclude(state, { ...running })
    assert.deepStrictEqual(change?.obligations.map(({ obligation: { kind } }) => kind), ["required_limits"])
    assert.deepInclude(refuseAccount({ ...state, exclusion: null }, "canBet", noon)?.details, {
      obligations: ["required_limits"]
    })
  })

  it("keeps the wait between a player's request to return from an exclusion and the return, also once all rules of the new jurisdiction apply", () => {
    for (const [from, to, waited] of [["de", "none", 7 * day], ["de", "mt", 7 * day], ["gb", "none", day]] as const) {
      const excluded = new RuleRunner([at(builtIn(from))])
      excluded.now = noon
      excluded.accept(selfExclude(from === "gb" ? "6_months" : "3_months"))
      excluded.now = (excluded.player().exclusion?.until ?? 0) + 1
      excluded.accept(moveStep(builtIn(to)))
      for (const rules of [excluded.player().rules, builtIn(to)]) {
        const runner = new RuleRunner([{ ...excluded.player(), rules }])
        runner.now = excluded.now
        runner.accept(returnToPlay)
        assert.strictEqual(runner.player().exclusion?.onRequest?.returnAt, runner.now + waited, `${from} to ${to}`)
      }
    }
  })

  it("keeps the wait of an exclusion that was imported without one, and of one that is prolonged in the new jurisdiction", () => {
    const onRequest = { returnFrom: noon, returnAt: null }
    const imported = at(builtIn("de"), {
      exclusion: { type: "self_exclusion", since: noon - day, until: noon, onRequest }
    })
    const { state } = moved(imported, builtIn("none"))
    assert.deepStrictEqual(state.exclusion?.onRequest, { ...onRequest, wait: "P7D" })
    const runner = new RuleRunner([state])
    runner.now = noon
    runner.accept(selfExclude("6_months"))
    assert.strictEqual(runner.player().exclusion?.onRequest?.wait, "P7D")
  })

  it("clears a net deposit cap that a case raised in the current jurisdiction, and states it in its audit line", () => {
    const to = rulesOf("x-strict", { deposits: { net_cap: { amount: 10_000 } } })
    const player = at(builtIn("nl"), {
      real: 0,
      netDepositCap: 500_000,
      limitsSet: -1,
      limits: { max_balance: 9_000_000 }
    })
    const { change, state } = moved(player, to)
    assert.isNull(state.netDepositCap)
    assert.deepInclude(Object(change?.audit[0]?.before), { net_deposit_cap: 500_000 })
    assert.deepInclude(Object(change?.audit[0]?.after), { net_deposit_cap: null })
    assert.deepInclude(refuseNetDeposit(state, 10_001, noon)?.details, { limit: "net_deposit_cap", value: 10_000 })
    assert.isUndefined(refuseNetDeposit(state, 10_000, noon))
  })

  it("cannot be followed by a move to a third jurisdiction that shortens the wait, but can be reversed", () => {
    const first = moved(at(north), south).state
    assert.strictEqual(codeOf(move(first, rulesOf("x-loose", {}))), "RESPONSIBLE_GAMING_RULE")
    const back = moved(first, north, noon + hour).state.rules
    assert.deepStrictEqual([back.code, back.moved], ["x-north", { from: "x-south", until: noon + hour + 3 * day }])
    assert.deepStrictEqual(back.limits.caps, { max_daily_bet: 100, max_weekly_bet: 500 })
  })

  it("is refused to a player who is too young there, and changes nothing within the current jurisdiction", () => {
    const young = at(north, { birthDay: dayNumber("2007-01-01") })
    assert.strictEqual(codeOf(move(young, south)), "VALIDATION_FAILED")
    assert.isNull(moved(at(north), north).change)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { grantStep } from "../../src/domain/bonus/BonusGrants.ts"
import { dayNumber, noRules, type Rules } from "../../src/domain/jurisdiction/Rules.ts"
import { applyDueChanges } from "../../src/domain/limit/DueChanges.ts"
import { initialLimits } from "../../src/domain/limit/DefaultLimits.ts"
import { type LimitsOutcome, readLimitChanges, setLimitsStep } from "../../src/domain/limit/LimitChanges.ts"
import { acknowledgeStep } from "../../src/domain/limit/Acknowledgements.ts"
import { applyRulesStep } from "../../src/domain/limit/CappedLimits.ts"
import { limitsResource } from "../../src/domain/limit/LimitUsage.ts"
import { refuseAccount } from "../../src/domain/player/RefuseAccount.ts"
import { selfExcludeStep } from "../../src/domain/limit/Exclusions.ts"
import { depositStep } from "../../src/domain/payment/Payments.ts"
import type { LimitField } from "../../src/domain/LimitFields.ts"
import type { Refusal } from "../../src/domain/Refusal.ts"
import type { Decision } from "../../src/domain/state/Decision.ts"
import { limitBit } from "../../src/domain/state/Limits.ts"
import type { Player } from "../../src/domain/state/Player.ts"
import { launchStep } from "../../src/domain/settlement/Launch.ts"
import { settle } from "../../src/domain/settlement/Settlement.ts"
import { bet, day, hour, makePlayer, noon, roulette, slot, welcome } from "../kit/Messages.ts"

// Goal: what a jurisdiction asks for holds in each decision about a player: caps, raises, required limits, stakes, bonuses, breaks. Method: one rule at a
// time, on a player who has nothing else.

const under = (rules: Partial<Rules>, more: Partial<Player> = {}): Player =>
  makePlayer({ rules: { ...noRules, ...rules }, ...more })

const limitsOf = (limits: Partial<Rules["limits"]>): Partial<Rules> => ({ limits: { ...noRules.limits, ...limits } })

const known = {
  transactions: new Map([["b", null]]),
  rounds: new Map([["11:r", null], ["12:r", null]]),
  bonuses: new Map(),
  payments: new Map([["d", null]]),
  paymentsById: new Map(),
  promoCodes: new Map(),
  signatures: new Map(),
  seeds: undefined
}

const context = (now = noon) => ({ now, firstId: 100, known })

const accepted = <Reply>(decision: Decision<Reply>): { readonly state: Player; readonly reply: Reply } =>
  decision._tag === "Accept" ? decision : assert.fail(JSON.stringify(decision))

const refusalOf = (decision: Decision<unknown>): Refusal | undefined =>
  decision._tag === "Refuse" ? decision.error : undefined

type Sent = { readonly [field in LimitField]?: number | null }

const setting = (player: Player, sent: Sent, now = noon): Decision<LimitsOutcome> => {
  const changes = readLimitChanges(sent)
  assert(!("_tag" in changes))
  return setLimitsStep({ changes, coolingOffHours: 24, actor: "key:pk" })(player, context(now))
}

const placing = (player: Player, amount: number, game = slot, now = noon) =>
  settle(player, bet("b", amount, { game, roundId: "r" }), context(now))

const depositing = (player: Player, amount: number) =>
  depositStep({
    amount,
    externalReference: "d",
    methodCode: null,
    method: null,
    info: null,
    notes: null
  })(player, context())

describe("4.3 limit raises", () => {
  const waiting = (raise: Partial<Rules["limits"]["raise"]>, now = noon) => {
    const player = under(limitsOf({ raise: { ...noRules.limits.raise, ...raise } }), {
      limits: { max_weekly_deposit: 100, max_monthly_deposit: 400 },
      limitsSet: limitBit("max_weekly_deposit")
    })
    return accepted(setting(player, { max_weekly_deposit: 200 }, now))
  }
  const fromOf = (raise: Partial<Rules["limits"]["raise"]>, now?: number) =>
    waiting(raise, now).state.pendingLimits[0]?.effectiveAt

  it("wait for the longer of the operator's hours and the jurisdiction's waiting period", () => {
    assert.strictEqual(fromOf({ wait: null }), noon + 24 * hour)
    assert.strictEqual(fromOf({ wait: "PT2H" }), noon + 24 * hour)
    assert.strictEqual(fromOf({ wait: "P7D" }), noon + 7 * day)
    assert.strictEqual(waiting({ wait: "P7D" }).reply.coolingOffHours, 168)
  })

  it("wait for the end of the running period where the jurisdiction requires it", () => {
    // Wednesday noon: the week ends with Sunday
    assert.strictEqual(fromOf({ wait: "PT72H", until_period_ends: true }), Date.UTC(2026, 10, 23))
    // Friday noon: the three days end later
    const friday = noon + 2 * day
    assert.strictEqual(fromOf({ wait: "PT72H", until_period_ends: true }, friday), friday + 3 * day)
  })

  it("that need confirmation never come into force without it, and expire unconfirmed", () => {
    const { reply, state } = waiting({ wait: "PT24H", confirm: true, confirm_within: "P7D" })
    const [pending] = reply.resource.pending_changes
    assert.deepInclude(pending, {
      effective_at: "2026-11-19T12:00:00.000Z",
      confirm_from: "2026-11-19T12:00:00.000Z",
      confirm_until: "2026-11-26T12:00:00.000Z"
    })
    const later = noon + 2 * day
    // 12.3: that it can be confirmed is told once
    const told = applyDueChanges(state, context(later))
    assert.deepStrictEqual(told.change?.events.map(({ type }) => type), ["limit.raise_confirmable"])
    assert.deepStrictEqual([told.change?.audit, told.state.limits], [[], state.limits])
    assert.isNull(applyDueChanges(told.state, context(later)).change)
    const repeated = accepted(setting(told.state, { max_weekly_deposit: 200 }, later))
    assert.deepStrictEqual(repeated.reply.resource.limits.max_weekly_deposit, 100)
    const gone = applyDueChanges(state, context(noon + 8 * day)).state
    assert.deepStrictEqual([gone.limits.max_weekly_deposit, gone.pendingLimits], [100, []])
  })

  it("are dropped by a lower value, which takes effect at once", () => {
    const { state } = waiting({ confirm: true })
    const lower = accepted(setting(state, { max_weekly_deposit: 50 })).state
    assert.deepStrictEqual([lower.limits.max_weekly_deposit, lower.pendingLimits], [50, []])
  })
})

describe("limits.caps", () => {
  const caps = limitsOf({ caps: { max_monthly_deposit: 1000, max_daily_bet: 300 } })

  it("4.1: a limit above its cap and the removal of a capped limit are refused", () => {
    const player = under(caps)
    assert.deepInclude(refusalOf(setting(player, { max_monthly_deposit: 1001 })), { code: "VALIDATION_FAILED" })
    const set = accepted(setting(player, { max_monthly_deposit: 1000 })).state
    assert.deepStrictEqual(Object.keys(refusalOf(setting(set, { max_monthly_deposit: null }))?.details ?? {}), [
      "limits.max_monthly_deposit"
    ])
    // nothing is set: nothing is removed
    assert.strictEqual(setting(player, { max_monthly_deposit: null })._tag, "Accept")
  })

  it("apply to a player without a limit, and are not shown as the player's limit", () => {
    const player = under(caps)
    const refused = refusalOf(depositing(player, 1001))
    assert.deepInclude(refused?.details, { limit: "max_monthly_deposit", value: 1000 })
    assert.isUndefined(refusalOf(depositing(player, 1000)))
    assert.deepInclude(refusalOf(placing(player, 301))?.details, { limit: "max_daily_bet", value: 300 })
    assert.isNull(accepted(setting(player, {})).reply.resource.limits.max_monthly_deposit)
  })

  it("4.1: a new cap lowers a higher limit and a pending raise once, audited with the profile as the actor", () => {
    const own = { max_monthly_deposit: 5000, max_daily_bet: 200 }
    const raise = { field: "max_daily_bet" as const, value: 900, effectiveAt: noon }
    const player = under(caps, { limits: own, limitsSet: limitBit("max_monthly_deposit"), pendingLimits: [raise] })
    const { change, state } = applyRulesStep(player, context())
    assert.deepStrictEqual([state.limits, state.pendingLimits], [{ max_monthly_deposit: 1000, max_daily_bet: 300 }, []])
    assert.deepInclude(change?.audit[0], {
      actor: "profile",
      action: "player.limits",
      before: { limits: { max_daily_bet: 900, max_monthly_deposit: 5000 } },
      after: { limits: { max_daily_bet: 300, max_monthly_deposit: 1000 } }
    })
    assert.isNull(applyRulesStep(state, context()).change)
  })

  it("4.1: a new cap applies to a higher limit of a player at once", () => {
    const player = under(caps, { limits: { max_monthly_deposit: 5000 }, limitsSet: limitBit("max_monthly_deposit") })
    assert.strictEqual(accepted(setting(player, {})).reply.resource.limits.max_monthly_deposit, 1000)
    assert.deepInclude(refusalOf(depositing(player, 1001))?.details, { value: 1000 })
  })

  it("apply at registration, which sets the lower of the player's and the operator's limit", () => {
    const rules = { ...noRules, ...caps }
    const chosen = (sent: Sent) => {
      const changes = readLimitChanges(sent)
      assert(!("_tag" in changes))
      return changes
    }
    assert.deepStrictEqual(
      initialLimits({ max_daily_bet: 100 }, chosen({ max_daily_bet: 50, max_single_bet: 9 }), rules),
      {
        limits: { max_daily_bet: 50, max_single_bet: 9 },
        limitsSet: limitBit("max_daily_bet") | limitBit("max_single_bet")
      }
    )
    assert.deepInclude(initialLimits({ max_daily_bet: 100 }, chosen({ max_daily_bet: 200 }), rules), {
      limits: { max_daily_bet: 100 }
    })
    assert.deepInclude(initialLimits({}, chosen({ max_daily_bet: 301 }), rules), { code: "VALIDATION_FAILED" })
  })
})

describe("4.1 required limits", () => {
  const deposits = ["max_daily_deposit", "max_weekly_deposit"] as const
  const required = limitsOf({ required: [[...deposits], ["max_balance"]], required_before: "play" })
  const gate = { reason: "obligation", obligations: ["required_limits"] }

  it("block play until the player has set one of each group; the operator's defaults do not count", () => {
    const player = under(required, { limits: { max_daily_deposit: 10_000, max_balance: 90_000 } })
    for (
      const decision of [
        placing(player, 1),
        launchStep({ gameId: 1, providerId: 1, mode: "real", platform: null, ip: null })(player, context())
      ]
    ) {
      assert.deepStrictEqual(refusalOf(decision)?.details, gate)
    }
    assert.isUndefined(refusalOf(depositing(player, 1)))
    const half = accepted(setting(player, { max_weekly_deposit: 5000 })).state
    assert.deepStrictEqual(refusalOf(placing(half, 1))?.details, gate)
    const whole = accepted(setting(half, { max_balance: 90_000 })).state
    assert.isUndefined(refusalOf(placing(whole, 1)))
  })

  it("block deposits too where they are required before a deposit", () => {
    const player = under(limitsOf({ required: [["max_balance"]], required_before: "deposit" }))
    assert.deepStrictEqual(refusalOf(depositing(player, 1))?.details, gate)
  })

  it("cannot be removed when they are the last of their group", () => {
    const player = under(required)
    const set = accepted(setting(player, { max_daily_deposit: 5, max_weekly_deposit: 6, max_balance: 7 })).state
    assert.strictEqual(refusalOf(setting(set, { max_balance: null }))?.code, "RESPONSIBLE_GAMING_RULE")
    assert.strictEqual(
      refusalOf(setting(set, { max_daily_deposit: null, max_weekly_deposit: null }))?.code,
      "RESPONSIBLE_GAMING_RULE"
    )
    const removing = accepted(setting(set, { max_daily_deposit: null })).state
    // nor the other while the removal of the one waits
    assert.strictEqual(refusalOf(setting(removing, { max_weekly_deposit: null }))?.code, "RESPONSIBLE_GAMING_RULE")
    assert.isUndefined(refusalOf(setting(removing, { max_daily_deposit: 5, max_weekly_deposit: null })))
  })
})

describe("4.6 stake caps", () => {
  const stakes = { stakes: [{ categories: ["slots"], amount: 500, under_age: 25, amount_under: 200 }] }
  const born = (date: string) => under(stakes, { real: 10_000, birthDay: dayNumber(date) })

  it("apply by category and age, from midnight of the birthday on", () => {
    const player = born("2001-11-19")
    const refused = refusalOf(placing(player, 201))
    assert.deepInclude(refused, { code: "LIMIT_EXCEEDED" })
    assert.deepStrictEqual(refused?.details, { limit: "stake_cap", value: 200, used: 0, resets_at: null })
    assert.isUndefined(refusalOf(placing(player, 200)))
    const birthday = Date.UTC(2026, 10, 19)
    assert.deepInclude(refusalOf(placing(player, 201, slot, birthday - 1)), { code: "LIMIT_EXCEEDED" })
    assert.isUndefined(refusalOf(placing(player, 500, slot, birthday)))
    assert.isUndefined(refusalOf(placing(player, 9000, roulette)))
  })

  it("include earlier stakes in the same round, of real and bonus money", () => {
    const player = born("1990-01-01")
    const first = accepted(settle(player, bet("b", 300, { roundId: "r", closesRound: false }), context())).state
    const second = (amount: number) =>
      settle(first, bet("c", amount, { roundId: "r" }), {
        ...context(),
        known: { ...known, transactions: new Map([["c", null]]) }
      })
    assert.deepStrictEqual(refusalOf(second(201))?.details, {
      limit: "stake_cap",
      value: 500,
      used: 300,
      resets_at: null
    })
    assert.isUndefined(refusalOf(second(200)))
  })
})

describe("4.7 bonus rules", () => {
  const granting = (bonuses: Partial<Rules["bonuses"]>, more: Partial<Player> = {}) =>
    refusalOf(
      grantStep({ bonus: welcome, amount: null, note: null })(
        under({ bonuses: { ...noRules.bonuses, ...bonuses } }, more),
        context()
      )
    )?.details["rule"]

  it.each([
    ["max_wagering_multiplier", { max_wagering_multiplier: 1 }, { max_wagering_multiplier: 2 }],
    ["max_amount", { max_amount: 499 }, { max_amount: 500 }],
    ["min_valid_days", { min_valid_days: 8 }, { min_valid_days: 7 }],
    ["minimum_age", { minimum_age: 37 }, { minimum_age: 36 }]
  ])("refuse a grant beyond %s, and allow one at the bound", (rule, broken, kept) => {
    assert.strictEqual(granting(broken), rule)
    assert.isUndefined(granting(kept))
  })

  it("refuse a second bonus where the jurisdiction allows only a first one", () => {
    assert.isUndefined(granting({ first_only: true }))
    assert.strictEqual(granting({ first_only: true }, { bonusGrants: { "9": 1 } }), "first_only")
  })
})

describe("3.1 breaks", () => {
  const rules = {
    breaks: {
      ...noRules.breaks,
      periods: {
        "24_hours": "time_out",
        "6_weeks": "time_out",
        "6_months": "self_exclusion",
        indefinite: "self_exclusion"
      },
      time_out: { min: null, max: "P6W" },
      self_exclusion: { min: "P6M", max: null }
    }
  } as const
  const excluding = (request: Partial<Parameters<typeof selfExcludeStep>[0]>) =>
    selfExcludeStep({ period: null, until: null, type: null, actor: "key:pk", ...request })(under(rules), context())
  const typeOf = (request: Partial<Parameters<typeof selfExcludeStep>[0]>) =>
    accepted(excluding(request)).state.exclusion?.type

  it("accept only the periods that the jurisdiction offers, each with the type it sets for that period", () => {
    assert.strictEqual(typeOf({ period: "6_weeks" }), "time_out")
    assert.strictEqual(typeOf({ period: "6_months" }), "self_exclusion")
    assert.deepStrictEqual(Object.keys(refusalOf(excluding({ period: "7_days" }))?.details ?? {}), ["period"])
    assert.isNull(accepted(excluding({ period: "indefinite" })).state.exclusion?.until)
  })

  it("that are sent with an end but no type are a time-out up to that type's maximum length, and refused if no type allows their length", () => {
    assert.strictEqual(typeOf({ until: noon + 42 * day }), "time_out")
    assert.deepStrictEqual(Object.keys(refusalOf(excluding({ until: noon + 43 * day }))?.details ?? {}), ["until"])
    assert.strictEqual(typeOf({ until: Date.UTC(2027, 4, 18, 12) }), "self_exclusion")
    assert.strictEqual(typeOf({ until: noon + 43 * day, type: "self_closure" }), "self_closure")
    assert.deepStrictEqual(
      Object.keys(refusalOf(excluding({ until: noon + day, type: "self_exclusion" }))?.details ?? {}),
      [
        "type"
      ]
    )
  })
})

describe("3.3 exclusions that end on request", () => {
  const gb = under({
    breaks: { ...noRules.breaks, ends: "on_request", return_wait: "PT24H", self_exclusion: { min: "P6M", max: null } }
  })
  const excluded = (player: Player, period: "6_months" | "24_hours" | "5_years", now = noon) =>
    accepted(
      selfExcludeStep({ period, until: null, type: null, source: "player", actor: "player:1" })(player, context(now))
    ).state
  const asking = (player: Player, now: number, answer: "accept" | "decline" = "accept") =>
    acknowledgeStep({
      kind: "return_to_play",
      answer,
      field: null,
      obligationId: null,
      textVersion: null,
      channel: "phone",
      by: "operator",
      actor: "key:pk"
    })(player, context(now))
  const mayPlay = (player: Player, now: number) => refuseAccount(player, "canBet", now) === undefined
  const end = Date.UTC(2027, 4, 18, 12)

  it("stay in force after their end until the player requests a return and the waiting period is over", () => {
    const player = excluded(gb, "6_months")
    assert.isFalse(mayPlay(player, end + 365 * day))
    assert.strictEqual(refusalOf(asking(player, end - 1))?.code, "RESPONSIBLE_GAMING_RULE")
    const returning = accepted(asking(player, end)).state
    assert.isFalse(mayPlay(returning, end + 24 * hour - 1))
    assert.isTrue(mayPlay(returning, end + 24 * hour))
    // the first request counts, and is the only one that is taken down
    const again = refusalOf(asking(returning, end + hour))
    assert.deepInclude(again, { code: "RESPONSIBLE_GAMING_RULE", details: { return_at: "2027-05-19T12:00:00.000Z" } })
    const { self_exclusion: shown } = limitsResource(returning, end)
    assert.deepInclude(shown, { ends: "on_request", return_at: "2027-05-19T12:00:00.000Z", source: "player" })
  })

  it("cancel a requested return when they are prolonged in the meantime", () => {
    const returning = accepted(asking(excluded(gb, "6_months"), end)).state
    const longer = excluded(returning, "5_years", end + hour)
    assert.isFalse(mayPlay(longer, end + 24 * hour))
    assert.isNull(limitsResource(longer, end + hour).self_exclusion?.return_at)
  })

  it("do not include time-outs, which end without a request", () => {
    const player = excluded(gb, "24_hours")
    assert.isTrue(mayPlay(player, noon + day))
    assert.strictEqual(refusalOf(asking(player, noon + 1))?.code, "RESPONSIBLE_GAMING_RULE")
  })

  it("without an end allow a return after the jurisdiction's minimum length, or after six months where it sets none", () => {
    const periods = { indefinite: "self_exclusion" } as const
    const days: ReadonlyArray<readonly [string | null, number]> = [["P30D", noon + 30 * day], [null, end]]
    for (const [min, from] of days) {
      const rules = { breaks: { ...noRules.breaks, periods, self_exclusion: { min, max: null } } }
      const player = accepted(
        selfExcludeStep({ period: "indefinite", until: null, type: null, actor: "key:pk" })(under(rules), context())
      ).state
      assert.strictEqual(refusalOf(asking(player, from - 1))?.code, "RESPONSIBLE_GAMING_RULE")
      assert.isTrue(mayPlay(accepted(asking(player, from)).state, from))
    }
  })

  it("cannot be changed into exclusions that end sooner or without a request", () => {
    const player = excluded(gb, "6_months")
    const prolonging = (from: Player, request: Partial<Parameters<typeof selfExcludeStep>[0]>, now = noon) =>
      selfExcludeStep({ period: null, until: null, type: null, actor: "key:pk", ...request })(from, context(now))
    // of any length, and of a type that ends by itself
    const closed = accepted(prolonging(player, { until: end + 1, type: "self_closure" })).state
    assert.isFalse(mayPlay(closed, end + day))
    const loosened = accepted(prolonging({ ...player, rules: noRules }, { until: end + 1 })).state
    assert.isFalse(mayPlay(loosened, end + day))
    // its time is over, and it stands: an end that has passed would lift it
    for (const type of ["self_closure", "self_exclusion"] as const) {
      assert.strictEqual(
        refusalOf(prolonging(player, { until: end + day, type }, end + 2 * day))?.code,
        "VALIDATION_FAILED"
      )
    }
    // five years do not become the six months of one without end
    const periods = { ...noRules.breaks.periods, indefinite: "self_exclusion" } as const
    for (const rules of [gb.rules, noRules]) {
      const endless = accepted(
        prolonging(
          excluded(under({ breaks: { ...rules.breaks, periods } }), "5_years"),
          { period: "indefinite" },
          noon + day
        )
      ).state
      assert.strictEqual(
        refusalOf(asking(endless, Date.UTC(2031, 10, 18, 12) - 1))?.code,
        "RESPONSIBLE_GAMING_RULE"
      )
    }
  })

  it("without an end, requested while a return from an earlier exclusion is pending, last at least their own minimum length", () => {
    const periods = { indefinite: "self_exclusion" } as const
    const rules = { breaks: { ...gb.rules.breaks, periods } }
    const excluding = (player: Player, now: number) =>
      selfExcludeStep({ period: "indefinite", until: null, type: null, actor: "key:pk" })(player, context(now))
    const first = accepted(excluding(under(rules), noon)).state
    assert.strictEqual(refusalOf(excluding(first, end))?.code, "RESPONSIBLE_GAMING_RULE")
    const again = accepted(excluding(accepted(asking(first, end)).state, end + hour)).state
    assert.isFalse(mayPlay(again, end + 24 * hour))
    assert.strictEqual(refusalOf(asking(again, end + 2 * hour))?.code, "RESPONSIBLE_GAMING_RULE")
  })

  it("still end only on request after the rules change", () => {
    const player = { ...excluded(gb, "6_months"), rules: noRules }
    assert.isFalse(mayPlay(player, end + day))
    assert.isTrue(mayPlay({ ...excluded(under({}), "6_months"), rules: gb.rules }, end))
  })
})

import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { grantStep, maxPendingBonuses } from "../../src/domain/bonus/BonusGrants.ts"
import { depositStep } from "../../src/domain/payment/Payments.ts"
import { withdrawalStep } from "../../src/domain/payment/Withdrawals.ts"
import { issueTokenStep } from "../../src/domain/player/AccountStatus.ts"
import {
  type AbilityName,
  abilities,
  causeEnd,
  standing,
  type StandingTerms
} from "../../src/domain/standing/Standing.ts"
import type { Refusal } from "../../src/domain/Refusal.ts"
import { launchStep } from "../../src/domain/settlement/Launch.ts"
import { limitFields } from "../../src/domain/LimitFields.ts"
import { emptyCounters } from "../../src/domain/state/Limits.ts"
import { packStanding, registerVerdicts } from "../../src/domain/register/Register.ts"
import { exclusionTypes } from "../../src/domain/jurisdiction/ExclusionPeriods.ts"
import { kycStatuses, noRestrictions, type Player, playerStatuses } from "../../src/domain/state/Player.ts"
import { bet, day, makeBonus, makePlayer, minute, noon, providerId, slot, welcome } from "../kit/Messages.ts"
import { depositOf, withdrawalOf } from "../kit/Payments.ts"
import { type Answer, does, RuleRunner } from "../kit/RuleRunner.ts"
import { runs } from "../kit/Runs.ts"

const noTerms: StandingTerms = { kycThreshold: null, dailyDepositCap: null, dailyWithdrawalCap: null }

const refusalOf = (answer: Answer<unknown, Refusal>): Refusal | undefined =>
  "refusal" in answer ? answer.refusal : undefined

/** What each action answers for the smallest amount, each to a player of this state. */
const answersOf = (player: Player, { dailyDepositCap, dailyWithdrawalCap, kycThreshold }: StandingTerms) => {
  const runner = () => new RuleRunner([player])
  return {
    // the register has been asked, and answered the same
    sign_in: refusalOf(runner().ask(issueTokenStep(new Map([["generic", true]])))),
    deposit: refusalOf(runner().ask(depositStep({ ...depositOf(1, "D-1"), dailyCap: dailyDepositCap }))),
    bet: refusalOf(runner().ask(does(bet("b", 1)))),
    withdraw: refusalOf(
      runner().ask(withdrawalStep(withdrawalOf(1, {
        bounds: { min: 1, max: 1000 },
        dailyCap: dailyWithdrawalCap,
        kycThreshold
      })))
    ),
    receive_bonuses: refusalOf(runner().ask(grantStep({ bonus: welcome, amount: null, note: null })))
  } satisfies { readonly [ability in AbilityName]: Refusal | undefined }
}

const instants = fc.constantFrom(noon - 40 * day, noon - day, noon - minute, noon, noon + minute, noon + 40 * day)

const limits = fc.dictionary(fc.constantFrom(...limitFields), fc.constantFrom(0, 1, 5, 99, 100, 101), { maxKeys: 3 })

const used = fc.constantFrom(0, 99, 100, 101)

/** Bonuses of which one runs, or ran until now, and others wait: about as many as may. */
const bonuses = fc.record({
  runsUntil: fc.constantFrom(null, noon - minute, noon, noon + day),
  waiting: fc.constantFrom(0, 0, maxPendingBonuses - 1, maxPendingBonuses, maxPendingBonuses + 1)
}).map(({ runsUntil, waiting }) => ({
  activeBonus: runsUntil === null ? null : makeBonus({ startedAt: noon - 7 * day, expiresAt: runsUntil }),
  bonus: runsUntil === null ? 0 : 100,
  pendingBonuses: Array.from(
    { length: waiting },
    (_, index) => ({ ...makeBonus({ id: 502 + index }), interrupted: null })
  )
}))

const states = fc.record({
  status: fc.constantFrom("active", "active", "active", ...playerStatuses),
  restrictions: fc.record({
    canLogin: fc.boolean(),
    canDeposit: fc.boolean(),
    canWithdraw: fc.boolean(),
    canBet: fc.boolean(),
    excludedFromBonuses: fc.boolean()
  }).chain((drawn) => fc.constantFrom(noRestrictions, noRestrictions, drawn)),
  withdrawalHolds: fc.array(fc.record({ alertId: fc.nat(9), isLifted: fc.boolean() }), { maxLength: 2 }),
  kycStatus: fc.constantFrom(...kycStatuses),
  exclusion: fc.option(
    fc.record({
      type: fc.constantFrom(...exclusionTypes),
      since: fc.constant(noon - 50 * day),
      until: fc.option(instants, { nil: null })
    }),
    { freq: 2 }
  ),
  registers: fc.constantFrom(...registerVerdicts).chain((verdict) =>
    fc.constantFrom([], [], [packStanding({ kind: "generic", verdict, at: noon - day })])
  ),
  limits,
  pendingLimits: fc.array(
    fc.record({
      field: fc.constantFrom(...limitFields),
      value: fc.option(fc.constant(1000), { nil: null }),
      effectiveAt: instants
    }),
    { maxLength: 2 }
  ),
  counters: fc.record({
    at: instants.filter((at) => at <= noon),
    betDay: used,
    lossDay: used,
    lossMonth: used,
    depositDay: used,
    depositYear: used,
    withdrawalDay: used,
    playSince: fc.constantFrom(0, noon - 101 * minute, noon - minute),
    lastBetAt: fc.constantFrom(0, noon - 16 * minute, noon - minute)
  }).map((drawn) => ({ ...emptyCounters, ...drawn })),
  withdrawn: used,
  real: fc.constantFrom(1, 100, 1000)
}).chain((state) => bonuses.map((drawn) => ({ ...state, ...drawn })))

const cap = fc.option(fc.constantFrom(0, 100, 101), { nil: null })

const terms: fc.Arbitrary<StandingTerms> = fc.record({
  kycThreshold: cap,
  dailyDepositCap: cap,
  dailyWithdrawalCap: cap
})

describe("a player's abilities as shown to staff", () => {
  // Goal: the back office never says of an action what the action itself denies. Method: random states of account, exclusion, restrictions, holds,
  // limits and counters; the standing beside the answer of each action to the same player, refusals compared whole.
  it("agree with what the actions themselves answer", () => {
    const seen = new Map<string, number>()
    fc.assert(
      fc.property(states, terms, (state, caps) => {
        const player = makePlayer(state)
        const answers = answersOf(player, caps)
        const said = standing(player, caps, noon)
        assert.deepStrictEqual(said, answers)
        for (const ability of abilities) {
          const { code = "allowed", details = {} } = said[ability] ?? {}
          const kind = `${ability} ${code} ${String(Object(details).reason ?? "")}`
          seen.set(kind, (seen.get(kind) ?? 0) + 1)
        }
        const launched = refusalOf(
          new RuleRunner([player]).ask(
            launchStep({ gameId: slot.id, providerId, mode: "real", platform: null, ip: null })
          )
        )
        // a launch stakes nothing: of the limits it asks for that of the session only
        if (said.bet?.code !== "LIMIT_EXCEEDED" || launched !== undefined) {
          assert.deepStrictEqual(launched?.code, said.bet?.code)
        }
      }),
      { numRuns: runs(2000, 10_000) }
    )
    // the states reach every answer
    for (const kind of ["allowed ", "PLAYER_RESTRICTED locked", "PLAYER_RESTRICTED time_out"]) {
      for (const ability of ["sign_in", "deposit", "bet"]) assert.isAbove(seen.get(`${ability} ${kind}`) ?? 0, 0, kind)
    }
    for (
      const kind of [
        "deposit LIMIT_EXCEEDED ",
        "bet LIMIT_EXCEEDED ",
        "withdraw KYC_REQUIRED ",
        "deposit PAYMENT_REQUEST_INVALID "
      ]
    ) {
      assert.isAbove(seen.get(kind) ?? 0, 0, kind)
    }
    assert.isAbove(seen.get("withdraw PLAYER_RESTRICTED compliance_hold") ?? 0, 0)
    assert.isAbove(seen.get("receive_bonuses BONUS_INVALID excluded_from_bonuses") ?? 0, 0)
    assert.isAbove(seen.get("receive_bonuses BONUS_INVALID max_pending") ?? 0, 0)
  })

  it("ignore loss limits for a player who has only bonus money, as those limits count real money", () => {
    const player = makePlayer({ real: 0, bonus: 100, activeBonus: makeBonus(), limits: { max_daily_loss: 0 } })
    assert.isUndefined(standing(player, noTerms, noon).bet)
    assert.isUndefined(answersOf(player, noTerms).bet)
  })

  it("are shown as blocked until the end of the exclusion or of the limit's period, and without an end where there is none", () => {
    const ends = (state: Partial<Player>, ability: AbilityName) => {
      const player = makePlayer(state)
      const refusal = standing(player, noTerms, noon)[ability]
      return refusal === undefined ? "allowed" : causeEnd(player, refusal, noon)
    }
    const exclusion = { type: "time_out", since: noon, until: noon + day } as const
    assert.strictEqual(ends({ exclusion }, "bet"), "2026-11-19T12:00:00.000Z")
    assert.strictEqual(ends({ exclusion, status: "locked" }, "bet"), null)
    assert.strictEqual(ends({ exclusion: { ...exclusion, until: null } }, "deposit"), null)
    assert.strictEqual(ends({ limits: { max_weekly_deposit: 0 } }, "deposit"), "2026-11-23T00:00:00.000Z")
    assert.strictEqual(ends({ limits: { max_single_bet: 0 } }, "bet"), null)
    assert.strictEqual(ends({ exclusion }, "withdraw"), "allowed")
  })
})

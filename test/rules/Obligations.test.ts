import { assert, describe, it } from "@effect/vitest"
import { type Acknowledge, acknowledgeStep } from "../../src/domain/limit/Acknowledgements.ts"
import { readLimitChanges, setLimitsStep } from "../../src/domain/limit/LimitChanges.ts"
import { noRules, type Rules } from "../../src/domain/jurisdiction/Rules.ts"
import { noteObligations } from "../../src/domain/obligation/Obligations.ts"
import { waiveStep } from "../../src/domain/limit/Waivers.ts"
import { issueTokenStep } from "../../src/domain/player/AccountStatus.ts"
import { depositStep } from "../../src/domain/payment/Payments.ts"
import { launchStep } from "../../src/domain/settlement/Launch.ts"
import { refuseAccount } from "../../src/domain/player/RefuseAccount.ts"
import type { Accept, Context, Decision } from "../../src/domain/state/Decision.ts"
import { limitBit } from "../../src/domain/state/Limits.ts"
import type { Player } from "../../src/domain/state/Player.ts"
import { day, hour, makePlayer, noon } from "../kit/Messages.ts"

// Goal: an obligation stops what it should until it is met, and each is written once. Method: players under rules with one obligation each.

const context = (now = noon): Context => ({ now, firstId: 100, known: undefined })

const under = (limits: Partial<Rules["limits"]>, more: Partial<Player> = {}): Player =>
  makePlayer({ rules: { ...noRules, limits: { ...noRules.limits, ...limits } }, ...more })

const acknowledge = (player: Player, answer: Partial<Acknowledge>, now = noon) =>
  acknowledgeStep({
    kind: "limit_prompt",
    answer: "decline",
    field: null,
    obligationId: null,
    textVersion: null,
    channel: "web",
    by: "player",
    actor: "player:1",
    ...answer
  })(player, context(now))

const accepted = <Reply>(decision: Decision<Reply>): Accept<Reply> =>
  decision._tag === "Accept" ? decision : assert.fail(JSON.stringify(decision))

const codeOf = (decision: Decision<unknown>) => decision._tag === "Refuse" ? decision.error.code : undefined

const setting = (player: Player, sent: object, now = noon) => {
  const changes = readLimitChanges(sent)
  assert(!("_tag" in changes))
  return setLimitsStep({ changes, coolingOffHours: 24, actor: "player:1" })(player, context(now))
}

describe("obligations", () => {
  it("are written once, when they are first due, and are met by the change that fulfils them", () => {
    const player = under({ required: [["max_daily_deposit"]] })
    const noted = noteObligations(player, context())
    assert.deepStrictEqual(
      noted.change?.obligations.map(({ isNew, obligation }) => [isNew, obligation.kind, obligation.gates]),
      [
        [true, "required_limits", ["play"]]
      ]
    )
    assert.deepStrictEqual(noted.change?.events.map(({ type }) => type), ["obligation.created"])
    assert.isNull(noteObligations(noted.state, context(noon + hour)).change)
    const set = accepted(setting(noted.state, { max_daily_deposit: 500 }, noon + hour))
    assert.deepStrictEqual(
      set.change?.obligations.map(({ isNew, obligation: { metAt, state } }) => [isNew, state, metAt]),
      [
        [false, "met", noon + hour]
      ]
    )
    assert.deepStrictEqual(set.change?.events.map(({ type }) => type), ["obligation.met"])
    assert.deepStrictEqual(set.state.obligations, [])
  })

  it("do not exist for a player without a jurisdiction, for whom nothing is written", () => {
    assert.isNull(noteObligations(makePlayer(), context()).change)
    assert.deepStrictEqual(accepted(setting(makePlayer(), { max_daily_bet: 5 })).change?.obligations, [])
  })

  it("block the abilities that they name and no others", () => {
    const player = under({ required: [["max_balance"]], required_before: "deposit", prompt: true })
    const refused = (ability: "canLogin" | "canDeposit" | "canBet") => refuseAccount(player, ability, noon)?.details
    assert.deepStrictEqual(refused("canBet"), { reason: "obligation", obligations: ["required_limits"] })
    assert.deepStrictEqual(refused("canDeposit"), {
      reason: "obligation",
      obligations: ["required_limits", "limit_prompt"]
    })
    assert.isUndefined(refused("canLogin"))
  })
})

describe("4.2 the prompt to set limits", () => {
  it("is answered by any deposit, loss or bet limit, or by declining", () => {
    const player = under({ prompt: true })
    const isAsked = (one: Player) => refuseAccount(one, "canDeposit", noon) !== undefined
    assert.isTrue(isAsked(player))
    for (const field of ["max_single_bet", "max_weekly_loss", "max_yearly_deposit"]) {
      assert.isFalse(isAsked(accepted(setting(player, { [field]: 5 })).state), field)
    }
    for (const field of ["max_balance", "max_session_minutes"]) {
      assert.isTrue(isAsked(accepted(setting(player, { [field]: 5 })).state), field)
    }
    const { change, reply, state } = accepted(acknowledge(player, {}))
    assert.isFalse(isAsked(state))
    assert.deepInclude(change?.acknowledgements[0], { id: 100, kind: "limit_prompt", answer: "decline", by: "player" })
    assert.deepInclude(reply, { id: 100 })
    assert.deepInclude(change?.audit[0], { action: "player.acknowledge", actor: "player:1" })
  })

  it("cannot be answered with accept, and can be declined only while it is open", () => {
    assert.strictEqual(codeOf(acknowledge(makePlayer(), {})), "RESPONSIBLE_GAMING_RULE")
    assert.strictEqual(codeOf(acknowledge(under({ prompt: true }), { answer: "accept" })), "RESPONSIBLE_GAMING_RULE")
    const { state } = accepted(acknowledge(under({ prompt: true }), {}))
    assert.strictEqual(codeOf(acknowledge(state, {})), "RESPONSIBLE_GAMING_RULE")
  })
})

it("6.3: an answer may name its obligation by id, which must be open and of the answer's kind", () => {
  const { state } = noteObligations(under({ prompt: true, required: [["max_balance"]] }), context())
  const idOf = (kind: string) => state.obligations.find((one) => one.kind === kind)?.id ?? assert.fail(kind)
  const [required, prompt] = [idOf("required_limits"), idOf("limit_prompt")]
  for (const obligationId of [required, prompt + 1000]) {
    assert.strictEqual(codeOf(acknowledge(state, { obligationId })), "RESPONSIBLE_GAMING_RULE")
  }
  assert.deepInclude(accepted(acknowledge(state, { obligationId: prompt })).reply, { obligationId: prompt })
})

describe("6.1 the terms of the operator", () => {
  const terms = { ...noRules, terms: "2026-11" }
  const accept = (player: Player, more: Partial<Acknowledge> = {}) =>
    acknowledge(player, { kind: "terms", answer: "accept", textVersion: "2026-11", ...more })
  const gatesOf = (player: Player) =>
    (["canBet", "canDeposit", "canLogin"] as const).filter((one) => refuseAccount(player, one, noon) !== undefined)

  it("block play and deposits until they are accepted in the current version", () => {
    const player = makePlayer({ rules: terms, termsVersion: "2025-01" })
    assert.deepStrictEqual(gatesOf(player), ["canBet", "canDeposit"])
    for (const wrong of [{ textVersion: "2025-01" }, { textVersion: null }, { answer: "decline" as const }]) {
      assert.strictEqual(codeOf(accept(player, wrong)), "RESPONSIBLE_GAMING_RULE")
    }
    const { change, state } = accepted(accept(player))
    assert.deepStrictEqual([gatesOf(state), change?.settings?.termsVersion], [[], "2026-11"])
    assert.strictEqual(codeOf(accept(state)), "RESPONSIBLE_GAMING_RULE")
    assert.deepStrictEqual(gatesOf({ ...state, rules: { ...noRules, terms: "2026-12" } }), ["canBet", "canDeposit"])
  })

  it("block a player who has accepted no version, and block nobody where the operator has no terms", () => {
    assert.deepStrictEqual(gatesOf(makePlayer({ rules: terms })), ["canBet", "canDeposit"])
    assert.deepStrictEqual(gatesOf(makePlayer({ termsVersion: "2025-01" })), [])
  })

  it("are recorded as created and met when the player accepts them before any obligation was written", () => {
    const { change } = accepted(accept(makePlayer({ rules: terms })))
    assert.deepStrictEqual(change?.obligations.map(({ isNew, obligation: { kind, state } }) => [isNew, kind, state]), [
      [true, "terms", "met"]
    ])
    assert.deepStrictEqual(change?.events.map(({ type }) => type), ["obligation.created", "obligation.met"])
  })
})

describe("6.1 reviews", () => {
  const reviews = { limits: "P6M", no_limits: "P1Y", funds_notice: "P1M" }
  const registered = Date.UTC(2026, 0, 15, 12)
  const monthsLater = (months: number) => Date.UTC(2026, months, 15, 12)
  const reviewed = (more: Partial<Player> = {}, rules: Partial<Rules["reviews"]> = reviews) =>
    makePlayer({
      rules: { ...noRules, reviews: { ...noRules.reviews, ...rules } },
      limitsReviewed: registered / 1000,
      fundsNoticed: registered / 1000,
      ...more
    })
  const limited = { limits: { max_daily_bet: 5 }, limitsSet: limitBit("max_daily_bet") }
  const dueAt = (player: Player, now: number) =>
    Object.fromEntries(noteObligations(player, context(now)).state.obligations.map(({ dueAt: at, kind }) => [kind, at]))

  it("are due a fixed time after the last one, sooner for players with limits of their own, and block nothing", () => {
    const notice = { funds_notice: monthsLater(1) }
    assert.deepStrictEqual(dueAt(reviewed(limited), monthsLater(1) - 1), {})
    assert.deepStrictEqual(dueAt(reviewed(limited), monthsLater(6) - 1), notice)
    assert.deepStrictEqual(dueAt(reviewed(limited), monthsLater(7)), { ...notice, limit_review: monthsLater(6) })
    for (const none of [{}, { limits: { max_daily_bet: 5 } }]) {
      assert.deepStrictEqual(dueAt(reviewed(none), monthsLater(12) - 1), notice)
      assert.deepStrictEqual(dueAt(reviewed(none), monthsLater(12)), { ...notice, limit_review: monthsLater(12) })
    }
    assert.deepStrictEqual(dueAt(makePlayer(limited), monthsLater(90)), {})
    const { state } = noteObligations(reviewed(limited), context(monthsLater(7)))
    for (const ability of ["canBet", "canDeposit", "canLogin"] as const) {
      assert.isUndefined(refuseAccount(state, ability, monthsLater(7)))
    }
  })

  it("are each met only by an answer that their kind allows, while they are due, and fall due again after their period", () => {
    const { state } = noteObligations(reviewed(limited), context(monthsLater(7)))
    const answered = (kind: Acknowledge["kind"], answer: Acknowledge["answer"], player = state) =>
      acknowledge(player, { kind, answer }, monthsLater(7))
    for (const [kind, answer] of [["limit_review", "stop"], ["funds_notice", "decline"]] as const) {
      assert.strictEqual(codeOf(answered(kind, answer)), "RESPONSIBLE_GAMING_RULE", kind)
    }
    for (const answer of ["accept", "decline"] as const) {
      const next = accepted(answered("limit_review", answer)).state
      assert.deepStrictEqual(next.obligations.map(({ kind }) => kind), ["funds_notice"])
      assert.strictEqual(codeOf(answered("limit_review", answer, next)), "RESPONSIBLE_GAMING_RULE")
      assert.strictEqual(dueAt(next, monthsLater(13))["limit_review"], monthsLater(13))
    }
    const noticed = accepted(answered("funds_notice", "accept")).state
    assert.strictEqual(dueAt(noticed, monthsLater(8))["funds_notice"], monthsLater(8))
  })

  it("stay open when the player removes the limits, and are next due after the period without limits", () => {
    const { state } = noteObligations(reviewed(limited), context(monthsLater(7)))
    const without = { ...state, limits: {}, limitsSet: 0 }
    assert.isNull(noteObligations(without, context(monthsLater(7))).change)
    const answered = acknowledge(without, { kind: "limit_review", answer: "accept" }, monthsLater(7))
    const next = accepted(answered).state
    assert.isUndefined(dueAt(next, monthsLater(19) - 1)["limit_review"])
    assert.strictEqual(dueAt(next, monthsLater(19))["limit_review"], monthsLater(19))
  })

  it("are written once, at a sign-in, a real-mode launch or a deposit", () => {
    const player = reviewed(limited, { limits: "P6M" })
    const now = monthsLater(7)
    const launch = (mode: "real" | "demo") =>
      launchStep({ gameId: 1, providerId: 1, mode, platform: null, ip: null })(player, context(now))
    const paid = { amount: 5, externalReference: "d", methodCode: null, method: null, info: null, notes: null }
    const deposited = depositStep(paid)(player, context(now))
    for (const decision of [issueTokenStep()(player, context(now)), launch("real"), deposited]) {
      const { change, idsUsed, state } = accepted<unknown>(decision)
      assert.deepStrictEqual(state.obligations.map(({ kind }) => kind), ["limit_review"])
      const [{ obligation } = assert.fail()] = change?.obligations ?? []
      assert.deepInclude(obligation, { kind: "limit_review", dueAt: monthsLater(6) })
      // ids of everything that is written are of this decision
      assert.isBelow(obligation.id, 100 + idsUsed)
      assert.isNull(accepted<unknown>(issueTokenStep()(state, context(now))).change)
    }
    assert.deepStrictEqual(accepted(launch("demo")).change?.obligations, [])
  })
})

describe("6.4 staff waive an obligation", () => {
  const { state } = noteObligations(under({ prompt: true, required: [["max_balance"]] }), context())
  const waive = (player: Player, kind: string, now = noon + hour) => {
    const obligationId = player.obligations.find((one) => one.kind === kind)?.id ?? 0
    return waiveStep({ obligationId, reason: "asked", actor: "staff:1" })(player, context(now))
  }

  it("which ends its block and records the reason, without an event that it was met", () => {
    const { change, state: next } = accepted(waive(state, "limit_prompt"))
    assert.deepStrictEqual(
      change?.obligations.map(({ isNew, obligation }) => [isNew, obligation.kind, obligation.state, obligation.metAt]),
      [[false, "limit_prompt", "waived", null]]
    )
    assert.isUndefined(refuseAccount(next, "canDeposit", noon + hour))
    assert.deepStrictEqual(next.obligations.map(({ kind }) => kind), ["required_limits"])
    assert.deepStrictEqual(change?.events, [])
    assert.deepInclude(change?.audit[0], { action: "obligation.waive", actor: "staff:1", reason: "asked" })
    assert.isNull(noteObligations(next, context(noon + day)).change)
  })

  it("except required limits and obligations that are not open", () => {
    for (const kind of ["required_limits", "nothing"]) {
      assert.strictEqual(codeOf(waive(state, kind)), "RESPONSIBLE_GAMING_RULE")
    }
  })
})

describe("4.3 a limit raise that the player has to confirm", () => {
  const raise = { wait: "PT24H", until_period_ends: false, confirm: true, confirm_within: "P7D" }
  const player = under({ raise }, { limits: { max_daily_deposit: 100 }, limitsSet: limitBit("max_daily_deposit") })
  const raised = accepted(setting(player, { max_daily_deposit: 300 })).state
  const answer = (one: Player, sent: Partial<Acknowledge>, now: number) =>
    acknowledge(one, { kind: "limit_raise", field: "max_daily_deposit", ...sent }, now)
  const from = noon + day

  it("takes effect when the player confirms it between its due time and its expiry", () => {
    assert.strictEqual(codeOf(answer(raised, { answer: "accept" }, from - 1)), "RESPONSIBLE_GAMING_RULE")
    for (const now of [from, from + 7 * day - 1]) {
      const { state } = accepted(answer(raised, { answer: "accept" }, now))
      assert.deepStrictEqual([state.limits.max_daily_deposit, state.pendingLimits], [300, []])
    }
    assert.strictEqual(codeOf(answer(raised, { answer: "accept" }, from + 7 * day)), "NOT_FOUND")
  })

  it("is dropped when it is declined", () => {
    const { state } = accepted(answer(raised, { answer: "decline" }, from))
    assert.deepStrictEqual([state.limits.max_daily_deposit, state.pendingLimits], [100, []])
  })

  it("takes only accept or decline as an answer, and none for a limit without a pending raise", () => {
    assert.strictEqual(codeOf(answer(raised, { answer: "stop" }, from)), "RESPONSIBLE_GAMING_RULE")
    assert.strictEqual(codeOf(answer(raised, { answer: "accept", field: "max_daily_bet" }, from)), "NOT_FOUND")
    assert.strictEqual(codeOf(answer(raised, { answer: "accept", field: null }, from)), "NOT_FOUND")
  })

  it("removes the limit where the request was a removal", () => {
    const removed = accepted(setting(player, { max_daily_deposit: null })).state
    assert.isUndefined(accepted(answer(removed, { answer: "accept" }, from)).state.limits.max_daily_deposit)
  })
})

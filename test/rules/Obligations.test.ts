import { assert, describe, it } from "@effect/vitest"
import { type Acknowledge, acknowledgeStep } from "../../src/domain/limit/Acknowledgements.ts"
import { readLimitChanges, setLimitsStep } from "../../src/domain/limit/LimitChanges.ts"
import { noRules, type Rules } from "../../src/domain/jurisdiction/Rules.ts"
import { noteObligations } from "../../src/domain/obligation/Obligations.ts"
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

const codeOf = (decision: ReturnType<typeof acknowledge>) =>
  decision._tag === "Refuse" ? decision.error.code : undefined

const setting = (player: Player, sent: object, now = noon) => {
  const changes = readLimitChanges(sent)
  assert(!("_tag" in changes))
  return setLimitsStep({ changes, coolingOffHours: 24, actor: "player:1" })(player, context(now))
}

describe("obligations", () => {
  it("are written when first seen, once, and met with the change that meets them", () => {
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

  it("of a player without a jurisdiction are none, and cost no write", () => {
    assert.isNull(noteObligations(makePlayer(), context()).change)
    assert.deepStrictEqual(accepted(setting(makePlayer(), { max_daily_bet: 5 })).change?.obligations, [])
  })

  it("gate what they say and nothing else", () => {
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

describe("4.2 the question for limits", () => {
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

  it("cannot be declined when it is not asked, nor accepted", () => {
    assert.strictEqual(codeOf(acknowledge(makePlayer(), {})), "RESPONSIBLE_GAMING_RULE")
    assert.strictEqual(codeOf(acknowledge(under({ prompt: true }), { answer: "accept" })), "RESPONSIBLE_GAMING_RULE")
    const { state } = accepted(acknowledge(under({ prompt: true }), {}))
    assert.strictEqual(codeOf(acknowledge(state, {})), "RESPONSIBLE_GAMING_RULE")
  })
})

it("6.3: an answer names an open obligation of its kind, or none", () => {
  const { state } = noteObligations(under({ prompt: true, required: [["max_balance"]] }), context())
  const idOf = (kind: string) => state.obligations.find((one) => one.kind === kind)?.id ?? assert.fail(kind)
  const [required, prompt] = [idOf("required_limits"), idOf("limit_prompt")]
  for (const obligationId of [required, prompt + 1000]) {
    assert.strictEqual(codeOf(acknowledge(state, { obligationId })), "RESPONSIBLE_GAMING_RULE")
  }
  assert.deepInclude(accepted(acknowledge(state, { obligationId: prompt })).reply, { obligationId: prompt })
})

describe("4.3 a raise that has to be confirmed", () => {
  const raise = { wait: "PT24H", until_period_ends: false, confirm: true, confirm_within: "P7D" }
  const player = under({ raise }, { limits: { max_daily_deposit: 100 }, limitsSet: limitBit("max_daily_deposit") })
  const raised = accepted(setting(player, { max_daily_deposit: 300 })).state
  const answer = (one: Player, sent: Partial<Acknowledge>, now: number) =>
    acknowledge(one, { kind: "limit_raise", field: "max_daily_deposit", ...sent }, now)
  const from = noon + day

  it("is in force with the answer, from its time until it is gone", () => {
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

  it("takes no other answer, and none for a limit that does not wait", () => {
    assert.strictEqual(codeOf(answer(raised, { answer: "stop" }, from)), "RESPONSIBLE_GAMING_RULE")
    assert.strictEqual(codeOf(answer(raised, { answer: "accept", field: "max_daily_bet" }, from)), "NOT_FOUND")
    assert.strictEqual(codeOf(answer(raised, { answer: "accept", field: null }, from)), "NOT_FOUND")
  })

  it("removes the limit where that was asked for", () => {
    const removed = accepted(setting(player, { max_daily_deposit: null })).state
    assert.isUndefined(accepted(answer(removed, { answer: "accept" }, from)).state.limits.max_daily_deposit)
  })
})

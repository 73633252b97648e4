import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { noRules, type Rules } from "../../src/domain/jurisdiction/Rules.ts"
import { depositStep } from "../../src/domain/payment/Payments.ts"
import { issueTokenStep } from "../../src/domain/player/AccountStatus.ts"
import { refuseAccount } from "../../src/domain/player/RefuseAccount.ts"
import {
  type AskedRegisters,
  nobodyAsked,
  questionIn,
  refuseByRegisters
} from "../../src/domain/player/RegisterAdmission.ts"
import { admit, type Breaker, closedBreaker, noted } from "../../src/domain/register/Breaker.ts"
import { noteCheckStep, type RegisterAnswer } from "../../src/domain/player/RegisterChecks.ts"
import {
  checkVerdicts,
  isRegisterExcluded,
  packStanding,
  registerKinds,
  registerVerdicts,
  standingsOf,
  withStanding
} from "../../src/domain/register/Register.ts"
import { launchStep } from "../../src/domain/settlement/Launch.ts"
import type { Context, Decision, Knowledge } from "../../src/domain/state/Decision.ts"
import type { Player } from "../../src/domain/state/Player.ts"
import type { Settlement } from "../../src/domain/settlement/Settlement.ts"
import { bet, hour, makePlayer, noon, rollback, win } from "../kit/Messages.ts"
import { does, RuleRunner } from "../kit/RuleRunner.ts"
import { runs } from "../kit/Runs.ts"
import { registerAnswer } from "../kit/players.ts"

type Use = Rules["registers"][number]

const context = (now = noon): Context => ({ now, firstId: 100, known: undefined })

const asking = (on: Use["on"], lastGoodAge: string | null = null): Rules => ({
  ...noRules,
  registers: [{ kind: "spelpaus", on, last_good_max_age: lastGoodAge }]
})

const spelpaus = (verdict: "clear" | "excluded" | "previous", at: number) =>
  packStanding({ kind: "spelpaus", verdict, at })

const answered: AskedRegisters = new Map([["spelpaus", true]])
const silent: AskedRegisters = new Map([["spelpaus", false]])

const outcomeOf = (player: Pick<Player, "registers" | "rules">, asked = nobodyAsked, now = noon) => {
  const refusal = refuseByRegisters(player, { event: "login", asked }, now)
  return refusal === undefined ? "goes on" : questionIn(refusal)?.join() ?? refusal.details["reason"]
}

const answer = (more: Partial<RegisterAnswer> = {}) =>
  registerAnswer({ askedAt: noon - 100, answeredAt: noon, ...more })

/** The deposit's reference was looked up, and is new. */
const lookedUp: Knowledge = {
  transactions: new Map(),
  rounds: new Map(),
  bonuses: new Map(),
  payments: new Map([["d-1", null]]),
  paymentsById: new Map(),
  promoCodes: new Map(),
  signatures: new Map(),
  seeds: undefined
}

/** What a message came to, without the ids of what it wrote. */
const movedBy = ({ realAmount, bonusAmount, status }: Settlement) => ({ realAmount, bonusAmount, status })

const codeOf = <Reply>(decision: Decision<Reply>) =>
  decision._tag === "Refuse" ? [decision.error.code, decision.error.details["reason"]] : decision._tag

describe("exclusion registers", () => {
  it("5.2 are queried when no valid answer is younger than max_age, and every time with PT0S", () => {
    const rules = asking({ login: { max_age: "PT24H", unavailable: "refuse" } })
    assert.strictEqual(outcomeOf({ rules, registers: [] }), "spelpaus")
    assert.strictEqual(outcomeOf({ rules, registers: [spelpaus("clear", noon - 23 * hour)] }), "goes on")
    assert.strictEqual(outcomeOf({ rules, registers: [spelpaus("previous", noon - 23 * hour)] }), "goes on")
    assert.strictEqual(outcomeOf({ rules, registers: [spelpaus("clear", noon - 24 * hour)] }), "spelpaus")
    const always = asking({ login: { max_age: "PT0S", unavailable: "refuse" } })
    assert.strictEqual(outcomeOf({ rules: always, registers: [spelpaus("clear", noon)] }), "spelpaus")
    assert.strictEqual(outcomeOf({ rules: always, registers: [spelpaus("clear", noon)] }, answered), "goes on")
    assert.strictEqual(outcomeOf({ rules: noRules, registers: [] }), "goes on")
  })

  it("5.2 are queried again about an excluded player, however recent the answer", () => {
    const rules = asking({ login: { max_age: "PT24H", unavailable: "refuse" } })
    assert.strictEqual(outcomeOf({ rules, registers: [spelpaus("excluded", noon)] }), "spelpaus")
    assert.strictEqual(outcomeOf({ rules, registers: [spelpaus("excluded", noon)] }, answered), "register_excluded")
  })

  it("5.5 that exclude a player are queried at each sign-in, also where the rules of the jurisdiction no longer name them", () => {
    const registers = [spelpaus("excluded", noon - 24 * hour)]
    const player = makePlayer({ registers })
    for (const rules of [noRules, asking({ deposit: { max_age: "PT0S", unavailable: "refuse" } })]) {
      assert.strictEqual(outcomeOf({ rules, registers }), "spelpaus")
    }
    const token = issueTokenStep()(player, context())
    assert.deepStrictEqual(token._tag === "Refuse" ? questionIn(token.error) : token._tag, ["spelpaus"])
    // no answer leaves the player excluded, and so does the same answer; another one does not
    assert.strictEqual(outcomeOf({ rules: noRules, registers }, silent), "register_excluded")
    assert.strictEqual(outcomeOf({ rules: noRules, registers }, answered), "register_excluded")
    assert.strictEqual(outcomeOf({ rules: noRules, registers: [spelpaus("clear", noon)] }, answered), "goes on")
    assert.strictEqual(
      refuseByRegisters(player, { event: "deposit", asked: nobodyAsked }, noon)?.code,
      "PLAYER_RESTRICTED"
    )
  })

  it("5.4 without an answer, are handled by the policy: refuse, use the last valid answer, or continue", () => {
    const under = (unavailable: "refuse" | "last_good" | "allow", age: string | null, ...registers: Array<number>) =>
      outcomeOf({ rules: asking({ login: { max_age: "PT0S", unavailable } }, age), registers }, silent)
    const old = spelpaus("clear", noon - 24 * hour)
    assert.strictEqual(under("refuse", null, old), "register_unavailable")
    assert.strictEqual(under("last_good", null, old), "goes on")
    assert.strictEqual(under("last_good", "P1D", old), "register_unavailable")
    assert.strictEqual(under("last_good", "P2D", old), "goes on")
    assert.strictEqual(under("last_good", null), "register_unavailable")
    assert.strictEqual(under("allow", null), "goes on")
    for (const unavailable of ["refuse", "last_good", "allow"] as const) {
      assert.strictEqual(under(unavailable, null, spelpaus("excluded", noon - 24 * hour)), "register_excluded")
    }
  })

  it("1.6 are queried after the account status and the exclusion are checked, before obligations and money are", () => {
    const rules = asking({
      login: { max_age: "PT0S", unavailable: "refuse" },
      deposit: { max_age: "PT0S", unavailable: "refuse" },
      play: { max_age: "PT0S", unavailable: "refuse" }
    })
    const owing = { ...rules, limits: { ...rules.limits, prompt: true, required: [["max_daily_bet" as const]] } }
    const deposit = depositStep({
      amount: 100,
      externalReference: "d-1",
      methodCode: "none such",
      method: null,
      info: null,
      notes: null
    })
    const launch = launchStep({ gameId: 1, providerId: 1, mode: "real", platform: null, ip: null })
    const unavailable = ["TRY_AGAIN", "register_unavailable"]
    const player = makePlayer({ rules: owing })
    assert.deepStrictEqual(codeOf(deposit(player, { ...context(), known: lookedUp })), unavailable)
    assert.deepStrictEqual(codeOf(launch(player, context())), unavailable)
    assert.deepStrictEqual(codeOf(issueTokenStep()(player, context())), unavailable)
    const closed = makePlayer({ rules: owing, status: "closed" })
    assert.deepStrictEqual(codeOf(issueTokenStep()(closed, context())), ["PLAYER_RESTRICTED", "closed"])
    const excluded = makePlayer({
      rules: owing,
      exclusion: { type: "self_exclusion", since: noon - hour, until: noon + hour }
    })
    assert.deepStrictEqual(codeOf(launch(excluded, context())), ["PLAYER_RESTRICTED", "self_exclusion"])
    // a demo moves no money, and is asked about nobody
    assert.strictEqual(
      codeOf(launchStep({ gameId: 1, providerId: 1, mode: "demo", platform: null, ip: null })(player, context())),
      "Accept"
    )
  })

  it("5.5 that exclude a player end the sessions and stop play and deposits until the same register clears the player", () => {
    const player = makePlayer()
    const excluded = noteCheckStep(answer({ verdict: "excluded" }))(player, context())
    assert.strictEqual(excluded.state.sessionsEndedAt, noon)
    assert.deepStrictEqual(excluded.change?.events.map(({ type }) => type), ["player.register_excluded"])
    for (const ability of ["canBet", "canDeposit", "canLogin"] as const) {
      assert.deepInclude(refuseAccount(excluded.state, ability, noon), {
        code: "PLAYER_RESTRICTED",
        details: { reason: "register_excluded" }
      })
    }
    const unanswered = noteCheckStep(answer({ verdict: "unavailable", fault: "timeout" }))(
      excluded.state,
      context(noon + 1)
    )
    assert.isDefined(refuseAccount(unanswered.state, "canBet", noon + 1))
    const other = noteCheckStep(answer({ kind: "generic", answeredAt: noon + 2 }))(unanswered.state, context(noon + 2))
    assert.isDefined(refuseAccount(other.state, "canBet", noon + 2))
    const cleared = noteCheckStep(answer({ askedAt: noon + 2, answeredAt: noon + 3 }))(other.state, context(noon + 3))
    assert.deepStrictEqual(cleared.change?.events.map(({ type }) => type), ["player.register_cleared"])
    assert.isUndefined(refuseAccount(cleared.state, "canBet", noon + 3))
  })

  it("5.3 the verdict \"previous\" (an exclusion that has ended) lets the player continue, and emits one event", () => {
    const first = noteCheckStep(answer({ verdict: "previous" }))(makePlayer(), context())
    assert.deepStrictEqual(first.change?.events.map(({ type }) => type), ["player.register_cleared"])
    assert.isUndefined(refuseAccount(first.state, "canBet", noon))
    const again = noteCheckStep(answer({ verdict: "previous", answeredAt: noon + 1 }))(first.state, context(noon + 1))
    assert.deepStrictEqual(again.change?.events, [])
  })

  it("5.7 a check is stored completely, with a line of the audit log without personal data", () => {
    const { change, idsUsed } = noteCheckStep(answer({ personDigest: new Uint8Array([1, 2, 3]) }))(
      makePlayer({ id: 9, operatorId: 4 }),
      context()
    )
    assert.deepInclude(change?.registerChecks[0], { playerId: 9, operatorId: 4, requestId: "4f7c", verdict: "clear" })
    assert.strictEqual(change?.audit.length, 1)
    assert.deepInclude(change?.audit[0], { action: "register.check", actor: "register" })
    assert.notProperty(change?.audit[0]?.after, "person_digest")
    assert.strictEqual(idsUsed, 2)
  })

  it("a register's answer older than the stored one does not lift an exclusion", () => {
    const player = makePlayer({ registers: [spelpaus("excluded", noon)] })
    const late = noteCheckStep(answer({ answeredAt: noon - 1 }))(player, context(noon + 1))
    assert.isTrue(isRegisterExcluded(late.state.registers))
    assert.strictEqual(late.change?.registerChecks.length, 1)
  })

  it("5.5 a register's answer to a question asked before the player was excluded does not lift the exclusion, however late it comes", () => {
    const excluded = makePlayer({ registers: [spelpaus("excluded", noon)] })
    for (const verdict of ["clear", "previous"] as const) {
      const late = noteCheckStep(answer({ event: "refresh", verdict, askedAt: noon - 1, answeredAt: noon + 900 }))(
        excluded,
        context(noon + 900)
      )
      assert.deepStrictEqual(late.state.registers, excluded.registers)
      assert.deepStrictEqual(late.change?.events, [])
      assert.strictEqual(late.change?.registerChecks.length, 1)
      const next = noteCheckStep(answer({ verdict, askedAt: noon, answeredAt: noon + 1 }))(
        late.state,
        context(noon + 1)
      )
      assert.isFalse(isRegisterExcluded(next.state.registers))
    }
  })

  it("a register's answer that the player is excluded counts even if the stored one seems newer, as the nodes' clocks differ", () => {
    const player = makePlayer({ registers: [spelpaus("clear", noon)] })
    const late = noteCheckStep(answer({ verdict: "excluded", answeredAt: noon - 1 }))(player, context(noon + 1))
    assert.isTrue(isRegisterExcluded(late.state.registers))
  })

  it("registers' verdicts are packed into numbers without loss, one number per register", () => {
    const standing = fc.record({
      kind: fc.constantFrom(...registerKinds),
      verdict: fc.constantFrom(...registerVerdicts),
      at: fc.integer({ min: 0, max: 4_102_444_800_000 })
    })
    fc.assert(fc.property(fc.array(standing, { maxLength: 12 }), (given) => {
      const packed = given.reduce<ReadonlyArray<number>>(withStanding, [])
      const last = new Map(given.map((one) => [one.kind, one]))
      assert.sameDeepMembers([...standingsOf(packed)], [...last.values()])
      assert.strictEqual(isRegisterExcluded(packed), [...last.values()].some(({ verdict }) => verdict === "excluded"))
    }))
  })
})

describe("a player whom a register excludes and clears in the middle of play", () => {
  const id = fc.integer({ min: 0, max: 3 })
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("bet" as const), id, amount: fc.constantFrom(10, 70) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("win" as const), id, amount: fc.constantFrom(0, 45) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("rollback" as const), id }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant("check" as const), verdict: fc.constantFrom(...checkVerdicts) })
    }
  )

  // Goal: an exclusion stops new bets and nothing else: every win, rollback and repeated message has the answer that it would have, and the money too.
  // Method: random messages and answers of a register beside the same messages without the answers, and without the bets that were refused for them.
  it("5.5 has the same balance and gets the same answers as if the refused bets had never been sent", () => {
    let refusedBets = 0
    fc.assert(
      fc.property(fc.array(step, { minLength: 4, maxLength: 24 }), (steps) => {
        const player = makePlayer({ real: 200 })
        const [checked, plain] = [new RuleRunner([player]), new RuleRunner([player])]
        for (const [index, one] of steps.entries()) {
          if (one.kind === "check") {
            checked.ask(noteCheckStep(answer({ verdict: one.verdict, answeredAt: noon + index })))
            continue
          }
          const action = one.kind === "bet"
            ? bet(`b-${one.id}`, one.amount)
            : one.kind === "win"
            ? win(`w-${one.id}`, `b-${one.id}`, one.amount)
            : rollback(`r-${one.id}`, `b-${one.id}`)
          const told = checked.ask(does(action))
          if ("refusal" in told && told.refusal.details["reason"] === "register_excluded") {
            assert.strictEqual(one.kind, "bet")
            assert.isTrue(isRegisterExcluded(checked.player().registers))
            refusedBets++
            continue
          }
          const expected = plain.ask(does(action))
          assert.deepStrictEqual(
            "refusal" in told ? told.refusal : movedBy(told.reply),
            "refusal" in expected ? expected.refusal : movedBy(expected.reply)
          )
        }
        assert.strictEqual(checked.player().real, plain.player().real)
      }),
      { numRuns: runs(300, 20_000) }
    )
    assert.isAbove(refusedBets, 0)
  }, 240_000)
})

describe("the circuit breaker of a register", () => {
  const failing = (times: number, from: Breaker = closedBreaker) =>
    Array.from({ length: times }).reduce<Breaker>((breaker) => noted(breaker, false, noon), from)

  it("5.2 opens for ten seconds after five failures in a row, then lets one query through", () => {
    assert.isTrue(admit(failing(4), noon).isAdmitted)
    const open = failing(5)
    assert.isFalse(admit(open, noon + 9999).isAdmitted)
    const probing = admit(open, noon + 10_000)
    assert.isTrue(probing.isAdmitted)
    assert.isFalse(admit(probing.breaker, noon + 10_001).isAdmitted)
    assert.isFalse(admit(noted(probing.breaker, false, noon + 10_500), noon + 20_000).isAdmitted)
    assert.isTrue(admit(noted(probing.breaker, true, noon + 10_500), noon + 10_501).isAdmitted)
  })

  it("counts only consecutive failures", () => {
    assert.isTrue(admit(failing(4, noted(failing(4), true, noon)), noon).isAdmitted)
  })

  it("does not stay open when the clock was set back", () => {
    assert.isTrue(admit(failing(5), noon - hour).isAdmitted)
  })
})

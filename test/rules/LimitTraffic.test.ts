import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "fast-check"
import { launchStep } from "../../src/domain/settlement/Launch.ts"
import { readLimitChanges, setLimitsStep } from "../../src/domain/limit/LimitChanges.ts"
import { type LimitField, limitFields } from "../../src/domain/LimitFields.ts"
import { limitsResource } from "../../src/domain/limit/LimitUsage.ts"
import { transitionStep } from "../../src/domain/payment/PaymentTransitions.ts"
import { depositStep } from "../../src/domain/payment/Payments.ts"
import type { Refusal } from "../../src/domain/Refusal.ts"
import { type Answer, does, RuleRunner } from "../kit/RuleRunner.ts"
import { runs } from "../kit/Runs.ts"
import { LimitModel, type ModelRefusal } from "../kit/LimitModel.ts"
import { bet, day, hour, makeBonus, makePlayer, minute, providerId, rollback, slot, win } from "../kit/Messages.ts"
import { transitionOf } from "../kit/Payments.ts"

// Goal: all sixteen limits hold over any traffic, and their resource is right at every moment. Method: random requests, bets
// of real and bonus money, wins, rollbacks, deposits, reversals, game launches and waits, to the edges of windows and far beyond
// them, applied to the rules and to a plain model of them; every answer is compared, and the whole limits resource after each.

type Command =
  | { readonly type: "wait"; readonly ms: number }
  | { readonly type: "wait for midnight"; readonly before: number }
  | { readonly type: "bet"; readonly amount: number }
  | { readonly type: "win"; readonly pick: number; readonly amount: number }
  | { readonly type: "rollback"; readonly pick: number }
  | { readonly type: "deposit"; readonly amount: number }
  | { readonly type: "reversal"; readonly pick: number }
  | { readonly type: "launch"; readonly mode: "real" | "demo" }
  | {
    readonly type: "limits"
    readonly sent: { readonly [field in LimitField]?: number | null }
    readonly coolingOffHours: number
  }

const oneOf = <const A>(...values: ReadonlyArray<A>) => FastCheck.constantFrom(...values)

const amounts = oneOf(0, 1, 5, 20, 50, 100)

/** Values around the sums of the amounts, seldom null. */
const valueOf = (field: LimitField) =>
  field === "max_session_minutes" ? oneOf<number | null>(5, 5, 10, 20, null) : field.includes("single")
    ? oneOf<number | null>(0, 4, 20, 50, 99, 100, null)
    : oneOf<number | null>(0, 30, 70, 100, 150, 151, 400, null)

const sentLimits = FastCheck.array(oneOf(...limitFields, "max_session_minutes"), { minLength: 1, maxLength: 2 }).chain((
  fields
) => FastCheck.record(Object.fromEntries(fields.map((field) => [field, valueOf(field)]))))

const commands: FastCheck.Arbitrary<Command> = FastCheck.oneof(
  {
    weight: 6,
    arbitrary: oneOf(
      1,
      4 * minute,
      4 * minute,
      10 * minute,
      15 * minute - 1,
      15 * minute,
      hour,
      5 * hour,
      day,
      3 * day,
      9 * day,
      40 * day
    )
      .map((ms): Command => ({ type: "wait", ms }))
  },
  { weight: 2, arbitrary: oneOf(0, 1).map((before): Command => ({ type: "wait for midnight", before })) },
  { weight: 8, arbitrary: amounts.map((amount): Command => ({ type: "bet", amount })) },
  {
    weight: 3,
    arbitrary: FastCheck.record({ type: oneOf("win"), pick: FastCheck.nat(), amount: amounts })
  },
  { weight: 3, arbitrary: FastCheck.nat().map((pick): Command => ({ type: "rollback", pick })) },
  { weight: 4, arbitrary: amounts.map((amount): Command => ({ type: "deposit", amount: amount + 1 })) },
  { weight: 1, arbitrary: FastCheck.nat().map((pick): Command => ({ type: "reversal", pick })) },
  {
    weight: 2,
    arbitrary: oneOf("real", "real", "demo").map((mode): Command => ({
      type: "launch",
      mode
    }))
  },
  {
    weight: 6,
    arbitrary: FastCheck.record({
      type: oneOf("limits"),
      sent: sentLimits,
      coolingOffHours: oneOf(0, 1, 24, 24, 72)
    })
  }
)

/** Shortly before calendar edges that coincide in different ways. */
const starts = oneOf(
  "2026-11-18T12:00:00.000Z",
  "2026-11-22T23:50:00.000Z",
  "2026-11-30T23:58:00.000Z",
  "2026-12-31T23:30:00.000Z",
  "2027-02-28T23:59:59.000Z",
  "2028-02-28T23:00:00.000Z",
  "2028-02-29T20:00:00.000Z",
  "2028-12-31T12:00:00.000Z"
).map((text) => Date.parse(text))

/** A refusal in the model's form. */
const refusalOf = ({ code, details }: Refusal): unknown => code === "LIMIT_EXCEEDED" ? { code, ...details } : { code }

type LimitEvent = Exclude<ReturnType<LimitModel["bet"]>, ModelRefusal>

const isRefusal = (answer: LimitEvent | ModelRefusal): answer is ModelRefusal => "code" in answer

/** Runs commands on the rules and the model. `note` gets each refusal. */
class Play {
  readonly runner: RuleRunner
  readonly model: LimitModel
  private readonly note: (refusal: ModelRefusal) => void
  private readonly bets: Array<{ readonly id: string; readonly happening: LimitEvent }> = []
  private readonly wins: Array<{ readonly id: string; readonly happening: LimitEvent; readonly bet: LimitEvent }> = []
  private readonly deposits: Array<number> = []
  private count = 0

  constructor(start: number, real: number, forgets: () => boolean, note: (refusal: ModelRefusal) => void) {
    // unlimited bonus money, so that every stake is funded, and a bonus that never ends
    const activeBonus = makeBonus({ wagerRequirement: 1e12, expiresAt: start + 40_000 * day })
    this.runner = new RuleRunner([makePlayer({ real, bonus: 1e9, activeBonus })], forgets)
    this.runner.now = start
    this.model = new LimitModel(start, real)
    this.note = note
  }

  run(command: Command): void {
    const { runner, model } = this
    const id = `${this.count++}`
    switch (command.type) {
      case "wait":
        return this.waitUntil(runner.now + command.ms)
      case "wait for midnight":
        return this.waitUntil(Math.max(runner.now, (Math.floor(runner.now / day) + 1) * day - command.before))
      case "bet": {
        const expected = model.bet(command.amount)
        const answer = runner.ask(does(bet(id, command.amount, { roundId: id })))
        if (this.agreeOnRefusal(answer, expected)) return
        if (!isRefusal(expected)) this.bets.push({ id, happening: expected })
        return
      }
      case "win": {
        const target = this.pick(this.bets.filter(({ happening }) => !happening.isTakenBack), command.pick)
        if (target === undefined) return
        runner.accept(does(win(id, target.id, command.amount, { roundId: target.id })))
        this.wins.push({ id, happening: model.win(target.happening, command.amount), bet: target.happening })
        return
      }
      case "rollback": {
        const paid = new Set(this.wins.filter(({ happening }) => this.stands(happening)).map((paidOut) => paidOut.bet))
        const target = this.pick(
          [...this.bets.filter(({ happening }) => !paid.has(happening)), ...this.wins],
          command.pick
        )
        if (target === undefined) return
        runner.accept(does(rollback(id, target.id)))
        return model.takeBack(target.happening)
      }
      case "deposit": {
        const answer = runner.ask(depositStep({
          amount: command.amount,
          externalReference: id,
          methodCode: null,
          method: null,
          info: null,
          notes: null
        }))
        if (!this.agreeOnRefusal(answer, model.deposit(command.amount)) && "reply" in answer) {
          this.deposits.push(answer.reply.payment.id)
        }
        return
      }
      case "reversal": {
        const paymentId = this.pick(this.deposits, command.pick)
        if (paymentId === undefined) return
        this.deposits.splice(this.deposits.indexOf(paymentId), 1)
        const payment = runner.accept(
          transitionStep(transitionOf(paymentId, "chargeback"))
        )
        model.real -= payment.amount
        return
      }
      case "launch": {
        const { mode } = command
        const answer = runner.ask(launchStep({ gameId: slot.id, providerId, mode, platform: null, ip: null }))
        this.agreeOnRefusal(answer, mode === "real" ? model.launch() : undefined)
        return
      }
      case "limits": {
        const changes = readLimitChanges(command.sent)
        if ("_tag" in changes) return assert.fail("the limits are good")
        const { coolingOffHours } = command
        const { applied, pending } = runner.accept(setLimitsStep({ changes, coolingOffHours, actor: "key:pk" }))
        const expected = model.setLimits(command.sent, coolingOffHours)
        assert.sameMembers([...applied], [...expected.applied])
        return assert.sameMembers([...pending], [...expected.pending])
      }
    }
  }

  /** Compares the limits resource with the model's. */
  check(): void {
    const player = this.runner.player()
    const { limits, pending_changes, usage } = limitsResource(player, this.runner.now)
    const told = { limits, usage, pending_changes: [...pending_changes] }
    const expected = this.model.resource()
    assert.strictEqual(player.real, this.model.real)
    if (JSON.stringify(told) !== JSON.stringify(expected)) assert.deepStrictEqual(told, expected)
  }

  private stands({ amount, isTakenBack }: LimitEvent): boolean {
    return amount > 0 && !isTakenBack
  }

  private waitUntil(instant: number): void {
    this.runner.now = instant
    this.model.now = instant
  }

  private pick<A>(from: ReadonlyArray<A>, pick: number): A | undefined {
    return from.length === 0 ? undefined : from[pick % from.length]
  }

  /** Asserts that both accept, or refuse for the same reason with the right details; returns whether they refuse. */
  private agreeOnRefusal(answer: Answer<unknown, Refusal>, expected: LimitEvent | ModelRefusal | undefined): boolean {
    const isRefused = expected !== undefined && isRefusal(expected)
    assert.deepStrictEqual(
      "refusal" in answer ? refusalOf(answer.refusal) : undefined,
      isRefused ? expected : undefined
    )
    if (isRefused) this.note(expected)
    return isRefused
  }
}

describe("limits in random traffic", () => {
  for (const remembers of [true, false]) {
    it(`hold and are reported correctly, actor ${remembers ? "kept in memory" : "passivated after every message"}`, () => {
      const refusedBy = new Map<string, number>()
      FastCheck.assert(
        FastCheck.property(
          starts,
          oneOf(0, 30, 150),
          FastCheck.array(commands, { minLength: 20, maxLength: 100, size: "max" }),
          (start, real, all) => {
            const play = new Play(start, real, () => !remembers, (refusal) => {
              const name = refusal.code === "LIMIT_EXCEEDED" ? refusal.limit : refusal.code
              refusedBy.set(name, (refusedBy.get(name) ?? 0) + 1)
            })
            for (const command of all) {
              play.run(command)
              play.check()
            }
          }
        ),
        { numRuns: runs(40, 80), seed: 20_261_121 }
      )
      // the traffic reaches every limit, and a balance below zero
      for (const name of [...limitFields, "INSUFFICIENT_FUNDS"]) {
        assert.isAbove(refusedBy.get(name) ?? 0, runs(0, 2), name)
      }
    })
  }
})

import { assert, it } from "@effect/vitest"
import * as FastCheck from "fast-check"
import { noRules } from "../../src/domain/jurisdiction/Rules.ts"
import { acknowledgeStep } from "../../src/domain/limit/Acknowledgements.ts"
import { realityCheckFields, setRealityCheckStep } from "../../src/domain/limit/RealityCheck.ts"
import { lookAfterSessionStep } from "../../src/domain/obligation/Obligations.ts"
import { launchStep } from "../../src/domain/settlement/Launch.ts"
import type { BetSession } from "../../src/domain/settlement/Settlement.ts"
import { bet, hour, makeBonus, makePlayer, minute, noon, providerId, rollback, slot, win } from "../kit/Messages.ts"
import { does, RuleRunner } from "../kit/RuleRunner.ts"
import { runs } from "../kit/Runs.ts"

// Goal: what a session comes to, and when its reality check falls due and stops play, is right in any order of events. Method: random launches, bets of real
// and bonus money, wins, rollbacks, answers, intervals, runs of the job and waits to the edges, against a model that works everything out anew from a list
// of what happened.

const interval = 20 * minute
const grace = minute
const breakMs = 15 * minute

const rules = {
  ...noRules,
  reality_check: { default: "PT20M", min: "PT10M", max: "PT1H", grace: "PT60S" }
}

/** Money that moved in play: what a rollback takes back is marked. */
interface Money {
  readonly at: number
  readonly kind: "staked" | "won"
  readonly amount: number
  isTakenBack: boolean
}

class Model {
  now = noon
  interval = interval
  readonly plays: Array<{ readonly at: number; readonly isBet: boolean }> = []
  readonly money: Array<Money> = []
  readonly answers: Array<number> = []
  /** When the reality check fell due that was open at the last change of the interval. */
  stuck: number | null = null

  /** The running session; the time without a bet ends it. */
  get since(): number | null {
    let since: number | null = null
    let last = -Infinity
    for (const { at, isBet } of this.plays) {
      if (since === null || at - last >= breakMs) {
        since = at
        last = at
      } else if (isBet) last = at
    }
    return this.now - last >= breakMs ? null : since
  }

  sum(kind: Money["kind"]): number {
    const { since } = this
    return since === null
      ? 0
      : this.money.reduce(
        (sum, one) => one.kind === kind && one.at >= since && !one.isTakenBack ? sum + one.amount : sum,
        0
      )
  }

  /** From when the next reality check counts. */
  get from(): number | null {
    const { since } = this
    return since === null ? null : Math.max(since, ...this.answers.filter((at) => at >= since))
  }

  /** When the reality check fell due that is open; null when none is. */
  get dueAt(): number | null {
    const { from, stuck } = this
    if (from === null) return null
    if (stuck !== null && stuck > from) return stuck
    const at = from + this.interval
    return this.now >= at ? at : null
  }

  get isGated(): boolean {
    return this.dueAt !== null && this.now >= this.dueAt + grace
  }
}

type Command =
  | { readonly type: "wait"; readonly ms: number }
  | { readonly type: "launch" | "job" | "continue" | "stop" }
  | { readonly type: "bet" | "win"; readonly amount: number; readonly pick: number }
  | { readonly type: "rollback"; readonly pick: number }
  | { readonly type: "interval"; readonly minutes: number | null }

const commands: FastCheck.Arbitrary<Command> = FastCheck.oneof(
  {
    weight: 5,
    arbitrary: FastCheck.constantFrom(
      1,
      minute - 1,
      5 * minute,
      10 * minute,
      10 * minute,
      breakMs - 1,
      breakMs,
      3 * breakMs
    )
      .map((ms): Command => ({ type: "wait", ms }))
  },
  {
    weight: 4,
    arbitrary: FastCheck.constantFrom("launch", "job", "continue", "continue", "stop").map((type): Command => ({
      type
    }))
  },
  {
    weight: 8,
    arbitrary: FastCheck.record({
      type: FastCheck.constantFrom("bet", "bet", "win"),
      amount: FastCheck.constantFrom(0, 1, 40, 700),
      pick: FastCheck.nat()
    })
  },
  { weight: 2, arbitrary: FastCheck.nat().map((pick): Command => ({ type: "rollback", pick })) },
  {
    weight: 1,
    arbitrary: FastCheck.constantFrom(10, 30, 60, null).map((minutes): Command => ({ type: "interval", minutes }))
  }
)

const codeOf = (answer: object): unknown =>
  "refusal" in answer && typeof answer.refusal === "object" && answer.refusal !== null && "code" in answer.refusal
    ? answer.refusal.code
    : undefined

class Play {
  private readonly model = new Model()
  private readonly runner: RuleRunner
  private readonly bets: Array<{ readonly id: string; readonly money: Money }> = []
  private readonly wins: Array<{ readonly id: string; readonly money: Money; readonly betId: string }> = []
  private session: BetSession = { id: 1, expiresAt: noon + 12 * hour }
  private isStopped = false
  private count = 0
  /** Due times that were told of. */
  readonly told = new Set<number>()

  constructor(forgets: boolean) {
    const activeBonus = makeBonus({ wagerRequirement: 1e12, expiresAt: noon + 1e12 })
    this.runner = new RuleRunner([makePlayer({ real: 100_000, bonus: 1e9, activeBonus, rules })], () => forgets)
  }

  run(command: Command): void {
    const { model, runner } = this
    const id = `${this.count++}`
    switch (command.type) {
      case "wait":
        model.now += command.ms
        runner.now = model.now
        return
      case "launch": {
        const { dueAt: due, isGated } = model
        const launch = launchStep({ gameId: slot.id, providerId, mode: "real", platform: null, ip: null })
        const answer = runner.ask(launch)
        assert.strictEqual(codeOf(answer), isGated ? "PLAYER_RESTRICTED" : undefined)
        if (!("reply" in answer)) return
        this.session = { id: answer.reply.sessionId, expiresAt: answer.reply.expiresAt }
        this.isStopped = false
        if (due !== null) this.told.add(due)
        model.plays.push({ at: model.now, isBet: false })
        return
      }
      case "bet": {
        const { isGated } = model
        const due = model.dueAt
        const answer = runner.ask(does(bet(id, command.amount, { roundId: id, session: this.session })))
        const isOver = model.now >= this.session.expiresAt
        const expected = isOver
          ? "INVALID_SESSION"
          : isGated
          ? "PLAYER_RESTRICTED"
          : this.isStopped
          ? "INVALID_SESSION"
          : undefined
        assert.strictEqual(codeOf(answer), expected)
        if (expected === "PLAYER_RESTRICTED" && "refusal" in answer) {
          assert.deepStrictEqual(answer.refusal.details, { reason: "obligation", obligations: ["reality_check"] })
        }
        if (expected !== undefined) return
        model.plays.push({ at: model.now, isBet: true })
        const money: Money = { at: model.now, kind: "staked", amount: command.amount, isTakenBack: false }
        model.money.push(money)
        this.bets.push({ id, money })
        if (due !== null) this.told.add(due)
        return
      }
      case "win": {
        const target = this.pick(this.bets.filter(({ money }) => !money.isTakenBack), command.pick)
        if (target === undefined) return
        runner.accept(does(win(id, target.id, command.amount, { roundId: target.id })))
        // what comes between sessions belongs to none
        const money: Money = {
          at: model.since === null ? -1 : model.now,
          kind: "won",
          amount: command.amount,
          isTakenBack: false
        }
        model.money.push(money)
        this.wins.push({ id, money, betId: target.id })
        // in the millisecond in which a session begins nothing tells what came before it
        if (model.since === null) this.run({ type: "wait", ms: 1 })
        return
      }
      case "rollback": {
        const paid = this.wins.filter(({ money }) => !money.isTakenBack && money.amount > 0).map(({ betId }) => betId)
        const target = this.pick(
          [...this.bets.filter(({ id }) => !paid.includes(id)), ...this.wins].filter(({ money }) => !money.isTakenBack),
          command.pick
        )
        if (target === undefined) return
        runner.accept(does(rollback(id, target.id)))
        target.money.isTakenBack = true
        return
      }
      case "continue":
      case "stop": {
        const due = model.dueAt
        const answer = runner.ask(acknowledgeStep({
          kind: "reality_check",
          answer: command.type,
          field: null,
          obligationId: null,
          textVersion: null,
          channel: null,
          by: "player",
          actor: "player:1"
        }))
        assert.strictEqual(codeOf(answer), due === null ? "RESPONSIBLE_GAMING_RULE" : undefined)
        if (due === null) return
        this.told.add(due)
        model.answers.push(model.now)
        this.isStopped ||= command.type === "stop"
        return
      }
      case "interval": {
        const next = command.minutes === null ? interval : command.minutes * minute
        const due = model.dueAt
        const before = runner.player().extras?.realityCheck ?? null
        const own = command.minutes === null ? null : `PT${command.minutes}M`
        runner.accept(setRealityCheckStep({ interval: own, actor: "player:1" }))
        if (own === before) return
        if (due !== null) this.told.add(due)
        model.stuck = due
        model.interval = next
        // a shorter one may be due at once, and is told of with the change
        if (model.dueAt !== null) this.told.add(model.dueAt)
        return
      }
      case "job": {
        if (model.dueAt !== null) this.told.add(model.dueAt)
        runner.accept(lookAfterSessionStep)
        return
      }
    }
  }

  check(): void {
    const { model, runner } = this
    const { elapsed_seconds, session } = realityCheckFields(runner.player(), runner.now)
    const { from, since } = model
    const [staked, won] = [model.sum("staked"), model.sum("won")]
    assert.deepStrictEqual(session, {
      since: since === null ? null : new Date(since).toISOString(),
      elapsed_seconds: since === null ? 0 : Math.floor((model.now - since) / 1000),
      staked,
      won,
      net: won - staked
    })
    assert.strictEqual(elapsed_seconds, from === null ? 0 : Math.floor((model.now - from) / 1000))
    const due = runner.store.tables().events.filter(({ type }) => type === "reality_check.due")
    assert.strictEqual(due.length, this.told.size)
  }

  private pick<A>(from: ReadonlyArray<A>, pick: number): A | undefined {
    return from.length === 0 ? undefined : from[pick % from.length]
  }
}

for (const forgets of [false, true]) {
  it(`7.1, 7.3: sessions and reality checks agree with a plain model, actor ${forgets ? "passivated after every message" : "kept in memory"}`, () => {
    let told = 0
    FastCheck.assert(
      FastCheck.property(FastCheck.array(commands, { minLength: 10, maxLength: 60, size: "max" }), (all) => {
        const play = new Play(forgets)
        for (const command of all) {
          play.run(command)
          play.check()
        }
        told += play.told.size
      }),
      { numRuns: runs(80, 400), seed: 20_261_128 }
    )
    assert.isAbove(told, runs(10, 100))
  })
}

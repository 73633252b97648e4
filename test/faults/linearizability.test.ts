import { assert, describe, it } from "@effect/vitest"
import { type Chance, chanceOf, seedOfRun } from "../kit/Chance.ts"
import { type Call, check, type Rules } from "../kit/Linearizability.ts"
import type { Wallet } from "../../scripts/simulators/pitboss/WalletModel.ts"
import { type Input, type Output, type ReportedResult, walletRules } from "../kit/WalletRules.ts"

type WalletCall = Call<Input, Output>

const start = { balance: 100, walletSeq: 1 }
const rulesOf = (history: ReadonlyArray<WalletCall>) => walletRules(start, history.map(({ input }) => input))
const verdictOf = (history: ReadonlyArray<WalletCall>) => check(rulesOf(history), history)._tag

const round = (roundId: string) => ({ gameId: "dice", roundId })
const bet = (id: string, amount: number): Input => ({
  kind: "bet",
  id,
  round: round(id),
  amount,
  currency: "EUR",
  session: "real",
  closes: false
})
const deposit = (id: string, amount: number): Input => ({ kind: "deposit", id, amount, isKeyed: false })
const look: Input = { kind: "look" }

const reported = (status: ReportedResult["status"], moved: number, balance: number, walletSeq: number): Output => ({
  _tag: "Answered",
  results: [{ status, moved, balance, walletSeq }]
})
const seen = (balance: number): Output => ({ _tag: "Seen", balance })
const paid: Output = { _tag: "Paid", isNew: true }
const poor: Output = { _tag: "Refused", code: "INSUFFICIENT_FUNDS" }

const call = (sentAt: number, endedAt: number, input: Input, output?: Output): WalletCall => ({
  input,
  output,
  sentAt,
  endedAt
})

// Goal: a history is accepted exactly when it is linearizable. Method: histories written by hand, each once valid and once
// with a seeded fault.
describe("a history of wallet calls", () => {
  it("with a read beside a bet may show the balance before or after it", () => {
    const around = (balance: number) => [
      call(1, 4, bet("b", 30), reported("processed", -30, 70, 2)),
      call(2, 3, look, seen(balance))
    ]
    assert.strictEqual(verdictOf(around(100)), "Linearizable")
    assert.strictEqual(verdictOf(around(70)), "Linearizable")
    assert.strictEqual(verdictOf(around(40)), "NotLinearizable")
  })

  it("with a stale read is not linearizable", () => {
    const after = (balance: number) => [
      call(1, 2, bet("b", 30), reported("processed", -30, 70, 2)),
      call(3, 4, look, seen(balance))
    ]
    assert.strictEqual(verdictOf(after(70)), "Linearizable")
    assert.strictEqual(verdictOf(after(100)), "NotLinearizable")
  })

  it("with a read that sees an effect and a later read that does not is not linearizable", () => {
    const reads = (first: number, second: number) => [
      call(1, 8, bet("b", 30), reported("processed", -30, 70, 2)),
      call(2, 3, look, seen(first)),
      call(4, 5, look, seen(second))
    ]
    assert.strictEqual(verdictOf(reads(100, 70)), "Linearizable")
    assert.strictEqual(verdictOf(reads(70, 100)), "NotLinearizable")
  })

  it("with an effect that happened twice is not linearizable", () => {
    const twice = (second: Output) => [
      call(1, 3, bet("b", 30), reported("processed", -30, 70, 2)),
      call(2, 4, bet("b", 30), second)
    ]
    assert.strictEqual(verdictOf(twice(reported("replayed", -30, 70, 2))), "Linearizable")
    assert.strictEqual(verdictOf(twice(reported("processed", -30, 40, 3))), "NotLinearizable")
  })

  it("with an acknowledged effect that was lost is not linearizable", () => {
    const later = (output: Output) => [
      call(1, 2, deposit("d", 50), paid),
      call(3, 4, bet("b", 120), output)
    ]
    assert.strictEqual(verdictOf(later(reported("processed", -120, 30, 3))), "Linearizable")
    assert.strictEqual(verdictOf(later(poor)), "NotLinearizable")
  })

  it("may include the effect of an unanswered call, but not before that call was sent", () => {
    const lost = call(3, Infinity, deposit("d", 50))
    const reads = (
      first: number,
      second: number
    ) => [call(1, 2, look, seen(first)), lost, call(4, 5, look, seen(second))]
    assert.strictEqual(verdictOf(reads(100, 100)), "Linearizable")
    assert.strictEqual(verdictOf(reads(100, 150)), "Linearizable")
    assert.strictEqual(verdictOf(reads(150, 150)), "NotLinearizable")
    assert.strictEqual(verdictOf([...reads(100, 150), call(6, 7, look, seen(100))]), "NotLinearizable")
    // and only once, for any number of retries
    const retried = [...reads(100, 150), call(6, 7, deposit("d", 50), { _tag: "Paid", isNew: false })]
    assert.strictEqual(verdictOf(retried), "Linearizable")
    assert.strictEqual(verdictOf([...retried, call(8, 9, look, seen(200))]), "NotLinearizable")
  })

  it("that is not linearizable has a verdict that names the call that cannot be ordered", () => {
    const good = call(1, 2, bet("b", 30), reported("processed", -30, 70, 2))
    const bad = call(3, 4, look, seen(100))
    const verdict = check(rulesOf([good, bad]), [good, bad])
    assert.deepStrictEqual(verdict, { _tag: "NotLinearizable", order: [good], stuck: [bad] })
  })
})

/** All orders of all outcomes of unfinished operations: slow, and obviously right. */
const bruteForce = <State>(rules: Rules<State, Input, Output>, history: ReadonlyArray<WalletCall>): boolean => {
  const go = (state: State, left: ReadonlyArray<WalletCall>): boolean =>
    left.every(({ endedAt }) => endedAt === Infinity) ||
    left.some((next) => {
      if (left.some(({ endedAt }) => endedAt < next.sentAt)) return false
      const after = rules.step(state, next.input, next.output)
      return after !== undefined && go(after, left.filter((other) => other !== next))
    })
  return go(rules.start, history)
}

const drawInput = (chance: Chance): Input => {
  const id = `x${chance.below(3)}`
  switch (chance.below(6)) {
    case 0:
      return look
    case 1:
      return deposit(`d${chance.below(2)}`, 40)
    case 2:
      return { kind: "rollback", id: `r${id}`, targetId: id }
    case 3:
      return { kind: "win", id: `w${id}`, round: round(id), betId: id, amount: 25, closes: false }
    default:
      return bet(id, 60)
  }
}

/** Answers of the rules, found by trying every possible answer. */
const answersOf = <State extends Wallet>(
  rules: Rules<State, Input, Output>,
  state: State,
  input: Input
): ReadonlyArray<Output> => {
  const codes = ["INSUFFICIENT_FUNDS", "BET_NOT_FOUND", "BET_ROLLED_BACK", "BET_ALREADY_SETTLED"]
  const numbers = [-60, -25, 0, 25, 60]
  const all: ReadonlyArray<Output> = [
    ...codes.map((code): Output => ({ _tag: "Refused", code })),
    { _tag: "Paid", isNew: true },
    { _tag: "Paid", isNew: false },
    seen(state.balance),
    ...(["processed", "replayed", "ignored"] as const).flatMap((status) =>
      numbers.flatMap((real) =>
        numbers.flatMap((moved) =>
          [0, 1].map((steps) => reported(status, real, state.balance + moved, state.walletSeq + steps))
        )
      )
    )
  ]
  return all.filter((output) => rules.step(state, input, output) !== undefined)
}

/** Overlapping operations in the order of some run, sometimes with one answer changed. */
const drawHistory = (chance: Chance): ReadonlyArray<WalletCall> => {
  const inputs = Array.from({ length: chance.between(2, 6) }, () => drawInput(chance))
  const rules = walletRules(start, inputs)
  let state = rules.start
  const history = inputs.map((input, index) => {
    // at its place in the run, from a little before to a little after
    const at = index * 100 + 50
    const sentAt = at - chance.below(250) - index / 10
    const isLost = chance.happens(0.15)
    const outputs = answersOf(rules, state, input)
    assert.isAbove(outputs.length, 0, JSON.stringify([state, input]))
    const output = chance.pick(outputs)
    const happens = !isLost || chance.happens(0.5)
    if (happens) state = rules.step(state, input, output) ?? state
    return isLost
      ? call(sentAt, Infinity, input)
      : call(sentAt, at + chance.below(250) + index / 10, input, output)
  })
  if (chance.happens(0.4)) return history
  const spoiled = chance.below(history.length)
  const moved = chance.pick([-60, -25, 25, 40, 60])
  return history.map((each, index) => {
    if (index !== spoiled) return each
    const { output } = each
    if (output?._tag === "Seen") return { ...each, output: seen(output.balance + moved) }
    if (output?._tag === "Paid") return { ...each, output: { ...output, isNew: !output.isNew } }
    if (output?._tag === "Refused") return { ...each, output: reported("processed", -60, 100 + moved, 2) }
    const [result] = output?._tag === "Answered" ? output.results : []
    if (result === undefined) return each
    return { ...each, output: reported(result.status, result.moved, result.balance + moved, result.walletSeq) }
  })
}

// Goal: the search finds an order exactly when there is one. Method: small random histories, valid
// and corrupted, each judged by the search and by brute force.
describe("the linearizability search", () => {
  const seed = seedOfRun()

  it(`agrees with a brute-force search (E2E_SEED=${seed})`, () => {
    const counts = { Linearizable: 0, NotLinearizable: 0, Undecided: 0 }
    for (let round = 0; round < 2000; round++) {
      const history = drawHistory(chanceOf(seed, round))
      const rules = rulesOf(history)
      const verdict = check(rules, history)
      counts[verdict._tag]++
      assert.strictEqual(verdict._tag === "Linearizable", bruteForce(rules, history), JSON.stringify([round, history]))
      if (verdict._tag !== "Linearizable") continue
      // and the returned order is valid
      let state = rules.start
      for (const [index, { input, output, sentAt }] of verdict.order.entries()) {
        const next = rules.step(state, input, output)
        assert(next !== undefined)
        state = next
        assert.isFalse(verdict.order.slice(index + 1).some(({ endedAt }) => endedAt < sentAt))
      }
    }
    assert.isAbove(counts.Linearizable, 250)
    assert.isAbove(counts.NotLinearizable, 250)
  })

  it("stays fast with many concurrent calls", () => {
    const chance = chanceOf(seed, -1)
    const inputs = Array.from(
      { length: 3000 },
      (_, index) => index % 3 === 0 ? deposit(`d${index}`, 50) : bet(`b${index}`, 20)
    )
    const rules = walletRules(start, inputs)
    let state = rules.start
    const history = inputs.map((input, index) => {
      const next = rules.step(state, input, undefined)
      assert(next !== undefined)
      const { balance, walletSeq } = next
      const output = input.kind === "deposit" ? paid : reported("processed", -20, balance, walletSeq)
      const isPoor = next === state
      state = next
      return call(
        index - chance.below(6) - 0.5 + index / 1e5,
        index + chance.below(6) + index / 1e5,
        input,
        isPoor ? poor : output
      )
    })
    assert.strictEqual(check(rules, history)._tag, "Linearizable")
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Queue } from "effect"
import fc from "fast-check"
import { placeHoldStep } from "../../../src/domain/payment/WithdrawalHolds.ts"
import { transitionStep } from "../../../src/domain/payment/PaymentTransitions.ts"
import { withdrawalStep } from "../../../src/domain/payment/Withdrawals.ts"
import type { Payment } from "../../../src/domain/state/Change.ts"
import type { Handover } from "../../../src/domain/staff/StaffTrust.ts"
import { ApprovalFacts } from "../../../src/features/payments/ApprovalFacts.ts"
import { Approvals } from "../../../src/features/payments/Approvals.ts"
import { Thresholds } from "../../../src/features/payments/Thresholds.ts"
import { PlayerActors } from "../../../src/store/PlayerActors.ts"
import { makePlayer } from "../../kit/Messages.ts"
import { transitionOf, withdrawalOf } from "../../kit/Payments.ts"
import { RuleRunner } from "../../kit/RuleRunner.ts"
import { runs } from "../../kit/Runs.ts"

// Goal: two people who approve overlapping sets of withdrawals at once are judged item by item as if each came alone, in whichever order their reads and
// writes fall. Method: the real approvals over a player in memory; every read of facts and every decision waits for its turn in an order that is drawn,
// with a hold and a rejection in between. Each outcome is held against a plain model of the rules.

const [ann, ben] = ["staff:1", "staff:2"] as const
const [holding, rejecting] = ["hold", "reject"] as const

interface Plan {
  readonly amounts: ReadonlyArray<number>
  readonly threshold: number
  /** Whether Ann made Ben's account: they count as one person. */
  readonly isOnePerson: boolean
  readonly sets: { readonly [actor: string]: ReadonlyArray<number> }
  /** Whose read or decision is next, or what a third person does. */
  readonly order: ReadonlyArray<string>
  readonly rejected: number
}

const amounts = fc.array(fc.constantFrom(10, 20, 50), { minLength: 2, maxLength: 5 })

const plans: fc.Arbitrary<Plan> = amounts.chain((drawn) => {
  const indexes = drawn.map((_, index) => index)
  const set = fc.shuffledSubarray(indexes, { minLength: 1 })
  return fc.record({
    amounts: fc.constant(drawn),
    threshold: fc.constantFrom(0, 40, 60, 100, 1000),
    isOnePerson: fc.boolean(),
    sets: fc.record({ [ann]: set, [ben]: set }),
    rejected: fc.constantFrom(...indexes),
    others: fc.subarray<string>([holding, rejecting])
  }).chain(({ others, ...plan }) => {
    const turns = [ann, ben].flatMap((actor) => plan.sets[actor]?.flatMap(() => [actor, actor]) ?? [])
    return fc.shuffledSubarray([...turns, ...others], { minLength: turns.length + others.length }).map((order) => ({
      ...plan,
      order
    }))
  })
})

/** What was known when an approval was read for, and when it was decided. */
interface Seen {
  readonly payments: ReadonlyMap<number, Payment>
  readonly isHeld: boolean
}

const approversOf = ({ firstApprovedBy, secondApprovedBy }: Payment) => [firstApprovedBy, secondApprovedBy].join()

const needsTwo = ({ payments }: Seen, payment: Payment, threshold: number): boolean =>
  [...payments.values()].filter(({ status }) => status === "new" || status === "allowed")
      .reduce((sum, { amount }) => sum + amount, 0) > threshold && payment.amount > 0

/** The answer to an approval that comes alone. */
const alone = ({ isHeld, payments }: Seen, id: number, actor: string, isTwo: boolean, isOnePerson: boolean): string => {
  const payment = payments.get(id)
  if (payment?.status !== "new") return "PAYMENT_REQUEST_INVALID"
  if (isHeld) return "PLAYER_RESTRICTED"
  const { firstApprovedBy: first } = payment
  if (!isTwo || first === null) return "done"
  return first === actor || isOnePerson ? "PAYMENT_REQUEST_INVALID" : "done"
}

const play = Effect.fnUntraced(function*(plan: Plan, seen: Set<string>) {
  const runner = new RuleRunner([makePlayer({ real: 10_000 })])
  const ids = plan.amounts.map((amount, index) =>
    runner.accept(withdrawalStep(withdrawalOf(amount, { externalReference: `w${index}` }))).payment.id
  )
  const look = (): Seen => ({
    payments: new Map(runner.store.tables().payments.map((payment) => [payment.id, payment])),
    isHeld: runner.player().withdrawalHolds.length > 0
  })
  let decided = look()

  // one fiber runs at a time: each says when it waits, and goes on when it is its turn
  const waits = yield* Queue.unbounded<string>()
  const turns = new Map<string, Queue.Queue<void>>([[ann, yield* Queue.unbounded<void>()], [
    ben,
    yield* Queue.unbounded<void>()
  ]])
  const turnOf = (actor: string) => {
    const turn = turns.get(actor)
    return turn === undefined
      ? Effect.die(new Error(actor))
      : Effect.andThen(Queue.offer(waits, actor), Queue.take(turn))
  }

  const facts = Layer.mock(ApprovalFacts, {
    find: (id) =>
      Effect.sync(() => {
        const payment = look().payments.get(id)
        return payment && {
          ...payment,
          base: payment.currency,
          secondApprovalAbove: plan.threshold,
          requestedAt: new Date(payment.createdAt)
        }
      }),
    isWaiting: () => Effect.succeed(false),
    countedBeside: ({ id }) =>
      Effect.sync(() => ({
        beside: [...look().payments.values()].filter((other) => other.id !== id && other.status !== "rejected")
          .reduce((sum, { amount }) => sum + amount, 0),
        correctors: []
      })),
    staff: (labels) =>
      Effect.as(turnOf(labels[0] ?? ""), {
        staff: new Map(labels.map((label) => [label, { label, isBootstrap: false, tokenIssuedAt: 0 }])),
        trust: {
          handovers: plan.isOnePerson
            ? [
              {
                from: ann,
                to: ben,
                kind: "made",
                at: 0,
                fromProofs: { provedAt: null, renewedAt: null }
              } satisfies Handover
            ]
            : [],
          factors: new Map()
        }
      })
  })
  const actors = Layer.mock(PlayerActors, {
    ask: (_, playerId, step) =>
      Effect.suspend(() => {
        decided = look()
        const answer = runner.ask(step, playerId)
        return "reply" in answer ? Effect.succeed(answer.reply) : Effect.fail(answer.refusal)
      }),
    post: () => {},
    peek: () => undefined,
    renew: () => {},
    resident: () => 1,
    writesStalledMs: () => 0
  })
  const thresholds = Layer.mock(Thresholds, { convert: (threshold) => Effect.succeed(threshold) })
  const { apply } = yield* Effect.provide(
    Approvals,
    Approvals.layerWithoutRepository.pipe(Layer.provide([facts, actors, thresholds]))
  )

  const approveAll = (actor: string) =>
    Effect.forEach(plan.sets[actor] ?? [], (index) =>
      Effect.gen(function*() {
        const paymentId = ids[index] ?? 0
        yield* turnOf(actor)
        const read = look()
        const outcome = yield* Effect.match(apply({ paymentId, transition: "approve", actor, reason: null }), {
          onSuccess: () => "done",
          onFailure: ({ code }) => code
        })
        const [before, payment] = [read.payments.get(paymentId), decided.payments.get(paymentId)]
        assert(before !== undefined && payment !== undefined)
        const [wasTwo, isTwo] = [needsTwo(read, before, plan.threshold), needsTwo(decided, payment, plan.threshold)]
        const about = JSON.stringify({ actor, paymentId, outcome, plan })
        seen.add(outcome)
        if (outcome === "TRY_AGAIN") {
          // somebody else approved in between
          assert.isTrue(wasTwo && approversOf(before) !== approversOf(payment), about)
        } else {
          // sums are those that were read: a rejection since then makes it no stricter than it was
          assert.isTrue(wasTwo || !isTwo, about)
          assert.strictEqual(outcome, alone(decided, paymentId, actor, wasTwo, plan.isOnePerson), about)
        }
      }), { discard: true }).pipe(
        Effect.ensuring(Effect.suspend(() => {
          turns.delete(actor)
          return Queue.offer(waits, actor)
        }))
      )

  const fibers = yield* Effect.forEach([ann, ben], (actor) => Effect.forkChild(approveAll(actor)))
  yield* Effect.forEach(fibers, () => Queue.take(waits))
  for (const next of plan.order) {
    const turn = turns.get(next)
    if (next === holding) runner.accept(placeHoldStep({ alertId: 9, rule: "structuring" }))
    else if (next === rejecting) {
      runner.ask(transitionStep(transitionOf(ids[plan.rejected] ?? 0, "reject", { actor: "staff:3" })))
    } else if (turn !== undefined) {
      yield* Queue.offer(turn, undefined)
      yield* Queue.take(waits)
    }
  }
  yield* Effect.forEach(fibers, (fiber) => Fiber.join(fiber))

  const end = look()
  for (const payment of end.payments.values()) {
    const { firstApprovedBy: first, secondApprovedBy: second, status } = payment
    // sums only shrink here: what takes two in the end took two all along
    if (status === "allowed" && needsTwo(end, payment, plan.threshold)) {
      assert.isTrue(first !== null && second !== null && first !== second && !plan.isOnePerson, JSON.stringify(plan))
    }
  }
})

describe("two people who approve the same withdrawals at once", () => {
  it("get the same answer for each item as if the items were sent one by one", async () => {
    const seen = new Set<string>()
    await fc.assert(fc.asyncProperty(plans, (plan) => Effect.runPromise(play(plan, seen))), {
      numRuns: runs(500, 5000)
    })
    assert.deepStrictEqual([...seen].toSorted(), ["PAYMENT_REQUEST_INVALID", "PLAYER_RESTRICTED", "TRY_AGAIN", "done"])
  })
})

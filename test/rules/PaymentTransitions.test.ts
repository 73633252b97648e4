import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import type { PaymentStatus } from "../../src/domain/state/Change.ts"
import { correctionStep } from "../../src/domain/wallet/Corrections.ts"
import {
  approversOf,
  type TransitionCommand,
  type PaymentTransitionName,
  paymentTransitionNames,
  transitionStep
} from "../../src/domain/payment/PaymentTransitions.ts"
import { maxBalance } from "../../src/domain/Money.ts"
import { depositStep } from "../../src/domain/payment/Payments.ts"
import type { KycStatus } from "../../src/domain/state/Player.ts"
import { withdrawalStep } from "../../src/domain/payment/Withdrawals.ts"
import { checkLedger, RuleRunner } from "../kit/RuleRunner.ts"
import { makePlayer, minute, noon } from "../kit/Messages.ts"
import { depositOf, transitionOf, withdrawalOf } from "../kit/Payments.ts"

// Goal: payments make exactly the transitions of SPEC section 3.2, and their money with them. Method: the rule on a store in memory;
// then random histories against a model of plain sums.

const step = (paymentId: number, name: PaymentTransitionName, overrides: Partial<TransitionCommand> = {}) =>
  transitionStep(transitionOf(paymentId, name, overrides))

/** A runner with a withdrawal of 400 out of 1000 in status `status`; returns its id. */
const withWithdrawal = (status: PaymentStatus = "new") => {
  const runner = new RuleRunner([makePlayer(), makePlayer({ id: 2 })])
  const { id } = runner.accept(withdrawalStep(withdrawalOf(400, { externalReference: "w" }))).payment
  const ways: { readonly [status in PaymentStatus]: ReadonlyArray<PaymentTransitionName> } = {
    new: [],
    allowed: ["approve"],
    paid: ["approve", "pay"],
    rejected: ["reject"],
    cancelled: ["cancel"]
  }
  for (const name of ways[status]) runner.accept(step(id, name))
  return { runner, id }
}

const eventsOf = (runner: RuleRunner) => runner.store.tables().events.map(({ type }) => type)

describe("transitionStep", () => {
  it("allows the documented transitions and no others", () => {
    const allowed: { readonly [status in PaymentStatus]: ReadonlyArray<PaymentTransitionName> } = {
      new: ["approve", "reject", "cancel"],
      allowed: ["pay", "reject"],
      paid: [],
      rejected: [],
      cancelled: []
    }
    const statuses: ReadonlyArray<PaymentStatus> = ["new", "allowed", "paid", "rejected", "cancelled"]
    for (const status of statuses) {
      for (const name of paymentTransitionNames) {
        const { runner, id } = withWithdrawal(status)
        const answer = runner.ask(step(id, name))
        const label = `${name} from ${status}`
        assert.strictEqual("reply" in answer, allowed[status].includes(name), label)
        if ("refusal" in answer) {
          assert.deepInclude(answer.refusal, {
            code: "PAYMENT_REQUEST_INVALID",
            details: { type: "withdrawal", status, is_reversed: false }
          }, label)
        }
      }
    }
    const runner = new RuleRunner([makePlayer()])
    const { id } = runner.accept(depositStep(depositOf(100, "d"))).payment
    for (const name of paymentTransitionNames) {
      if (name !== "chargeback") assert.strictEqual(runner.refuse(step(id, name)).code, "PAYMENT_REQUEST_INVALID")
    }
    assert.isTrue(runner.accept(step(id, "chargeback")).isReversed)
    assert.deepInclude(runner.refuse(step(id, "chargeback")).details, { is_reversed: true })
  })

  it("an approval and a payout record their times and move no money", () => {
    const { runner, id } = withWithdrawal()
    runner.now = noon + minute
    assert.deepInclude(runner.accept(step(id, "approve")), {
      status: "allowed",
      firstApprovedBy: "staff:1",
      paidAt: null,
      updatedAt: noon + minute
    })
    runner.now = noon + 2 * minute
    const paid = runner.accept(step(id, "pay", { actor: "staff:2", reason: "batch 7" }))
    assert.deepInclude(paid, {
      status: "paid",
      paidAt: noon + 2 * minute,
      updatedAt: noon + 2 * minute,
      createdAt: noon
    })
    assert.deepInclude(runner.player(), { real: 600, withdrawn: 400, walletSeq: 1, entrySeq: 1 })
    assert.deepStrictEqual(eventsOf(runner), ["withdrawal.requested", "withdrawal.paid"])
    const { audit, events, payments } = runner.store.tables()
    assert.deepStrictEqual(payments, [paid])
    assert.deepInclude(events[1]?.data["payment"], { id, status: "paid", paid_at: "2026-11-18T12:02:00.000Z" })
    const trail = { first_approved_by: "staff:1", reject_reason: null, is_reversed: false }
    assert.deepStrictEqual<unknown>(audit.map(({ id: _, ...line }) => line), [
      {
        at: noon + minute,
        actor: "staff:1",
        action: "payment.approve",
        operatorId: 1,
        playerId: 1,
        subject: `payment:${id}`,
        before: { ...trail, status: "new", first_approved_by: null },
        after: { ...trail, status: "allowed" },
        reason: null
      },
      {
        at: noon + 2 * minute,
        actor: "staff:2",
        action: "payment.pay",
        operatorId: 1,
        playerId: 1,
        subject: `payment:${id}`,
        before: { ...trail, status: "allowed" },
        after: { ...trail, status: "paid" },
        reason: "batch 7"
      }
    ])
  })

  it("a rejection returns the money and emits an event with the reason", () => {
    for (const status of ["new", "allowed"] as const) {
      const { runner, id } = withWithdrawal(status)
      const rejected = runner.accept(step(id, "reject", { reason: "name differs" }))
      assert.deepInclude(rejected, {
        status: "rejected",
        rejectReason: "name differs",
        rejectedAt: noon,
        cancelledAt: null
      })
      assert.deepInclude(runner.player(), { real: 1000, withdrawn: 0, walletSeq: 2 })
      const { entries, events } = runner.store.tables()
      assert.deepInclude(entries[1], {
        type: "withdrawal_rejection",
        amount: 400,
        paymentRequestId: id,
        wallet: "real"
      })
      assert.strictEqual(events.at(-1)?.type, "withdrawal.rejected")
      assert.deepInclude(events.at(-1)?.data["payment"], { status: "rejected", reject_reason: "name differs" })
    }
    const { runner, id } = withWithdrawal()
    assert.isString(runner.accept(step(id, "reject")).rejectReason, "there is always a reason to read")
  })

  it("a cancellation returns the money and emits no event", () => {
    const { runner, id } = withWithdrawal()
    const cancelled = runner.accept(step(id, "cancel", { reason: "asked to" }))
    assert.deepInclude(cancelled, { status: "cancelled", cancelledAt: noon, rejectedAt: null, rejectReason: null })
    assert.deepInclude(runner.player(), { real: 1000, withdrawn: 0, walletSeq: 2 })
    assert.deepStrictEqual(runner.store.tables().entries.map(({ type }) => type), [
      "withdrawal",
      "withdrawal_rejection"
    ])
    assert.deepStrictEqual(eventsOf(runner), ["withdrawal.requested"])
    assert.strictEqual(runner.store.tables().audit[0]?.reason, "asked to")
  })

  it("a chargeback takes the deposit back, into a negative balance if necessary", () => {
    const runner = new RuleRunner([makePlayer({ real: 0 })])
    const { id } = runner.accept(depositStep(depositOf(500, "d"))).payment
    runner.accept(withdrawalStep(withdrawalOf(300)))
    const counters = runner.player().counters
    const reversed = runner.accept(step(id, "chargeback", { reason: "fraud" }))
    assert.deepInclude(reversed, { status: "paid", isReversed: true, paidAt: noon, rejectReason: null })
    assert.deepInclude(runner.player(), { real: -300, withdrawn: 300, walletSeq: 3 })
    assert.deepStrictEqual(runner.player().counters, counters, "a reversal restores no deposit limit")
    assert.deepInclude(runner.store.tables().entries.at(-1), { type: "chargeback", amount: -500, paymentRequestId: id })
    assert.deepStrictEqual(runner.store.tables().audit.map(({ action, reason }) => [action, reason]), [
      ["payment.chargeback", "fraud"]
    ])
    assert.strictEqual(runner.refuse(withdrawalStep(withdrawalOf(10))).code, "INSUFFICIENT_FUNDS")
    // the reference still identifies the deposit
    const again = runner.accept(depositStep(depositOf(500, "d")))
    assert.deepInclude(again, { isRepeat: true })
    assert.isTrue(again.payment.isReversed)
  })

  it("a rejection whose refund would exceed the maximum balance is refused until the balance has room for it", () => {
    const { runner, id } = withWithdrawal()
    const correct = (amount: number) => correctionStep({ wallet: "real", amount, reason: "r", actor: "a" })
    runner.accept(correct(maxBalance - 600))
    assert.deepInclude(runner.refuse(step(id, "reject")), {
      code: "PAYMENT_REQUEST_INVALID",
      details: { balance: maxBalance }
    })
    runner.accept(correct(-400))
    assert.strictEqual(runner.accept(step(id, "reject")).status, "rejected")
    assert.strictEqual(runner.player().real, maxBalance)
  })

  it("the player's other payments count towards the second-approval threshold; above it, an approver whose independence is in doubt is refused", () => {
    const { runner, id } = withWithdrawal()
    const strict = { secondApprovalAbove: 400, beside: 1 }
    const objecting = { approvedBy: [], objection: "token_issued_after_request" } as const
    assert.deepInclude(runner.refuse(step(id, "approve", { ...strict, judged: objecting })), {
      code: "PAYMENT_REQUEST_INVALID",
      details: { reason: "token_issued_after_request", first_approved_by: null }
    })
    assert.strictEqual(runner.accept(step(id, "approve", strict)).status, "new")
    // facts read before this staff member's approval
    assert.strictEqual(runner.refuse(step(id, "approve", { ...strict, actor: "staff:2" })).code, "TRY_AGAIN")
    // with a single approval no approver is excluded
    const other = withWithdrawal()
    assert.strictEqual(other.runner.accept(step(other.id, "approve", { judged: objecting })).status, "allowed")
  })

  it("a payment above the second-approval threshold needs the approval of two different people", () => {
    const { runner, id } = withWithdrawal()
    const strict = { secondApprovalAbove: 399 }
    /** Judged with the facts for these approvers. */
    const after = (...approvedBy: Array<string>) => ({ ...strict, judged: { approvedBy, objection: undefined } })
    assert.deepInclude(runner.accept(step(id, "approve", strict)), { status: "new", firstApprovedBy: "staff:1" })
    runner.forget()
    assert.deepInclude(runner.refuse(step(id, "approve", strict)), {
      code: "PAYMENT_REQUEST_INVALID",
      details: { reason: "second_approver", first_approved_by: "staff:1" }
    })
    assert.strictEqual(runner.refuse(step(id, "pay", strict)).code, "PAYMENT_REQUEST_INVALID")
    const allowed = runner.accept(step(id, "approve", { ...after("staff:1"), actor: "staff:2" }))
    assert.deepInclude(allowed, { status: "allowed", firstApprovedBy: "staff:1", secondApprovedBy: "staff:2" })
    assert.deepStrictEqual(runner.store.tables().audit.map(({ actor, after, before }) => [actor, before, after]), [
      ["staff:1", trailOf("new", null), trailOf("new", "staff:1")],
      ["staff:2", trailOf("new", "staff:1"), {
        ...trailOf("allowed", "staff:1"),
        second_approved_by: "staff:2"
      }]
    ])
    assert.strictEqual(runner.accept(step(id, "pay", after("staff:1", "staff:2"))).status, "paid")

    // at the threshold one approval is enough
    const other = withWithdrawal()
    assert.strictEqual(other.runner.accept(step(other.id, "approve", { secondApprovalAbove: 400 })).status, "allowed")
    // a payment with one approval can still be rejected or cancelled
    for (const name of ["reject", "cancel"] as const) {
      const once = withWithdrawal()
      once.runner.accept(step(once.id, "approve", strict))
      once.runner.accept(step(once.id, name, strict))
      assert.strictEqual(once.runner.player().real, 1000)
    }
  })

  it("another player's payment is not found", () => {
    const { runner, id } = withWithdrawal()
    assert.strictEqual(runner.refuse(step(id, "approve"), 2).code, "NOT_FOUND")
    assert.strictEqual(runner.refuse(step(999_999, "approve")).code, "NOT_FOUND")
  })
})

const trailOf = (status: PaymentStatus, first_approved_by: string | null) => ({
  status,
  first_approved_by,
  reject_reason: null,
  is_reversed: false
})

// ---------------------------------------------------------------------------------------------------------------------

interface Paper {
  readonly player: number
  readonly isDeposit: boolean
  readonly amount: number
  status: "open" | "half" | "allowed" | "paid" | "returned" | "reversed"
  first: string | undefined
}

type Command =
  | {
    readonly _tag: "Deposit" | "Withdraw"
    readonly player: number
    readonly amount: number
    readonly reference: number
  }
  | { readonly _tag: "Correct"; readonly player: number; readonly amount: number }
  | { readonly _tag: "Verify"; readonly player: number; readonly status: KycStatus }
  | {
    readonly _tag: "Move"
    readonly paper: number
    readonly move: PaymentTransitionName
    readonly staff: number
  }

const player = fc.integer({ min: 1, max: 2 })
const amount = fc.integer({ min: 10, max: 400 })
/** Few references, so that they collide; 0 means none. */
const reference = fc.integer({ min: 0, max: 12 })

const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ _tag: fc.constant("Deposit"), player, amount, reference: fc.integer({ min: 1, max: 30 }) }),
  { arbitrary: fc.record({ _tag: fc.constant("Withdraw"), player, amount, reference }), weight: 3 },
  fc.record({
    _tag: fc.constant("Correct"),
    player,
    amount: fc.integer({ min: -150, max: 50 }).filter((n) => n !== 0)
  }),
  fc.record({ _tag: fc.constant("Verify"), player, status: fc.constantFrom<KycStatus>("verified", "rejected") }),
  {
    arbitrary: fc.record({
      _tag: fc.constant("Move"),
      paper: fc.nat(),
      move: fc.constantFrom(...paymentTransitionNames),
      staff: fc.integer({ min: 1, max: 2 })
    }),
    weight: 6
  }
)

const kycThreshold = 500
const secondApprovalAbove = 200

/** Expected state from the list of payments alone. */
class Model {
  readonly papers: Array<Paper> = []
  readonly byReference = new Map<number, Paper>()
  readonly corrected = new Map<number, number>()
  readonly unverified = new Set<number>()
  readonly events: Array<string> = []

  balance(player: number): number {
    return this.papers.filter((paper) => paper.player === player).reduce(
      (sum, { amount, isDeposit, status }) =>
        status === "returned" || status === "reversed" ? sum : isDeposit ? sum + amount : sum - amount,
      this.corrected.get(player) ?? 0
    )
  }

  withdrawn(player: number): number {
    return this.papers.filter((paper) => paper.player === player && !paper.isDeposit && paper.status !== "returned")
      .reduce((sum, { amount }) => sum + amount, 0)
  }

  /** Returns the refusal, or undefined. */
  file(isDeposit: boolean, player: number, amount: number, reference: number): string | undefined {
    const known = this.byReference.get(reference)
    if (known !== undefined) {
      return known.isDeposit === isDeposit && known.player === player && known.amount === amount
        ? undefined
        : "DUPLICATE_TRANSACTION"
    }
    if (!isDeposit && this.unverified.has(player) && this.withdrawn(player) + amount > kycThreshold) {
      return "KYC_REQUIRED"
    }
    if (!isDeposit && this.balance(player) < amount) return "INSUFFICIENT_FUNDS"
    const paper: Paper = { player, isDeposit, amount, status: isDeposit ? "paid" : "open", first: undefined }
    this.papers.push(paper)
    if (reference !== 0) this.byReference.set(reference, paper)
    this.events.push(isDeposit ? "deposit.paid" : "withdrawal.requested")
    return undefined
  }

  /** Whether the move is allowed. */
  move(paper: Paper, move: PaymentTransitionName, staff: string): boolean {
    if (paper.isDeposit) {
      if (move !== "chargeback" || paper.status === "reversed") return false
      paper.status = "reversed"
      return true
    }
    const isNew = paper.status === "open" || paper.status === "half"
    if (move === "approve" && isNew) {
      if (paper.status === "half" && paper.first === staff) return false
      paper.status = paper.status === "open" && paper.amount > secondApprovalAbove ? "half" : "allowed"
      paper.first ??= staff
      return true
    }
    if (move === "pay" && paper.status === "allowed") {
      paper.status = "paid"
      this.events.push("withdrawal.paid")
      return true
    }
    if ((move === "reject" && (isNew || paper.status === "allowed")) || (move === "cancel" && isNew)) {
      paper.status = "returned"
      if (move === "reject") this.events.push("withdrawal.rejected")
      return true
    }
    return false
  }
}

describe("payments as a whole", () => {
  // Goal: for any order of operations by operators and staff, balances are deposits less held and paid-out amounts, holds end once, and
  // each answer follows from sums alone. Method: random histories of two players, passivated at random, against
  // the model.
  it("balances and held amounts agree with the payments' states", () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 60 }), fc.infiniteStream(fc.boolean()), (commands, forgets) => {
        const beginning = [1, 2].map((id) => makePlayer({ id, real: 0 }))
        const runner = new RuleRunner(beginning, () => forgets.next().value)
        const model = new Model()
        const ids: Array<number> = []

        const run = (given: Command): void => {
          switch (given._tag) {
            case "Correct": {
              runner.accept(
                correctionStep({ wallet: "real", amount: given.amount, reason: "r", actor: "a" }),
                given.player
              )
              model.corrected.set(given.player, (model.corrected.get(given.player) ?? 0) + given.amount)
              return
            }
            case "Verify": {
              runner.set({ kycStatus: given.status }, given.player)
              if (given.status === "verified") model.unverified.delete(given.player)
              else model.unverified.add(given.player)
              return
            }
            case "Deposit":
            case "Withdraw": {
              const { amount, player, reference } = given
              const before = model.papers.length
              const expected = model.file(given._tag === "Deposit", player, amount, reference)
              const externalReference = `r${reference}`
              const answer = given._tag === "Deposit"
                ? runner.ask(depositStep(depositOf(amount, externalReference)), player)
                : runner.ask(
                  withdrawalStep(withdrawalOf(amount, {
                    externalReference: reference === 0 ? null : externalReference,
                    kycThreshold
                  })),
                  player
                )
              assert.strictEqual("refusal" in answer ? answer.refusal.code : undefined, expected)
              if ("reply" in answer) {
                const { isRepeat, payment } = answer.reply
                assert.strictEqual(isRepeat, model.papers.length === before)
                if (!isRepeat) ids.push(payment.id)
              }
              return
            }
            case "Move": {
              const index = given.paper % Math.max(1, ids.length)
              const [id, paper] = [ids[index], model.papers[index]]
              if (id === undefined || paper === undefined) return
              const actor = `staff:${given.staff}`
              const payment = runner.store.tables().payments.find((one) => one.id === id)
              const approvedBy = payment === undefined ? [] : approversOf(payment)
              const judged = { approvedBy, objection: undefined }
              const answer = runner.ask(
                transitionStep(transitionOf(id, given.move, { actor, secondApprovalAbove, judged })),
                paper.player
              )
              assert.strictEqual("reply" in answer, model.move(paper, given.move, actor))
            }
          }
        }

        for (const given of commands) {
          run(given)
          for (const id of [1, 2]) {
            assert.deepStrictEqual(
              [runner.player(id).real, runner.player(id).withdrawn],
              [model.balance(id), model.withdrawn(id)]
            )
          }
        }
        checkLedger(runner.store, beginning)
        const { entries, events, payments } = runner.store.tables()
        assert.deepStrictEqual(events.map(({ type }) => type), model.events)
        for (const payment of payments) {
          const own = entries.filter(({ paymentRequestId }) => paymentRequestId === payment.id)
          const isUndone = payment.isReversed || payment.status === "rejected" || payment.status === "cancelled"
          assert.deepStrictEqual(
            own.map(({ amount }) => Math.abs(amount)),
            Array(isUndone ? 2 : 1).fill(payment.amount)
          )
        }
      }),
      { numRuns: 300 }
    )
  })
})

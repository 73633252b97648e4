import { assert, describe, it } from "@effect/vitest"
import { ageText } from "../../src/domain/Age.ts"
import { grouped } from "../../src/domain/Grouped.ts"
import { leftOutOf } from "../../src/domain/payment/BulkSelection.ts"

// Goal: a queue says what an action leaves out before it is confirmed. Method: payments in each state, at each action.

const waits = { type: "withdrawal", status: "new", waiting_for: ["approval"], objection: null } as const

describe("a staff action on several payments", () => {
  it("leaves out payments that the service would refuse, with the reason", () => {
    const of = (more: Partial<Parameters<typeof leftOutOf>[1]>, action: Parameters<typeof leftOutOf>[0] = "approve") =>
      leftOutOf(action, { ...waits, ...more })
    assert.isUndefined(of({}))
    assert.isUndefined(of({ waiting_for: ["approval", "second_approval"] }))
    assert.deepStrictEqual(
      [
        of({ type: "deposit" }),
        of({ status: "allowed" }),
        of({ status: "paid" }, "pay"),
        of({ waiting_for: ["approval", "alert"] }),
        of({ waiting_for: ["payout", "judgement"], status: "allowed" }, "pay"),
        of({ objection: "second_approver" }),
        of({ objection: "corrected_balance" })
      ],
      ["status", "status", "status", "held", "not_judged", "second_person", "not_by_you"]
    )
  })

  it("allows held payments to be rejected, including those that need a second person's approval", () => {
    const held = { ...waits, waiting_for: ["second_approval", "alert"], objection: "second_approver" }
    assert.isUndefined(leftOutOf("reject", held))
    assert.isUndefined(leftOutOf("reject", { ...held, status: "allowed" }))
    assert.strictEqual(leftOutOf("reject", { ...held, status: "cancelled" }), "status")
  })
})

describe("rows of the payment queue", () => {
  it("are grouped, and groups are in the order of their first rows", () => {
    const rows = [[1, "a"], [2, "b"], [3, "a"], [4, "c"], [5, "b"]] as const
    assert.deepStrictEqual(grouped(rows, ([, group]) => group).map(([id]) => id), [1, 3, 2, 5, 4])
  })

  it("show the age of an account in its largest unit", () => {
    const day = 86_400_000
    const ages = [-1, 0.9, 1, 5, 13.9, 14, 60, 70, 800].map((days) => ageText(0, days * day))
    assert.deepStrictEqual(ages, [
      "today",
      "today",
      "1 day",
      "5 days",
      "13 days",
      "2 weeks",
      "8 weeks",
      "2 months",
      "2 years"
    ])
  })
})

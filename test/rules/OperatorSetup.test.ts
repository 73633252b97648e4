import { assert, describe, it } from "@effect/vitest"
import { missingSteps, type OperatorParts, setupSteps } from "../../src/domain/operator/OperatorSetup.ts"

// Goal: the steps that an operator still needs are those whose part is missing, in the order of the set-up.

const whole: OperatorParts = {
  keys: 1,
  webhooks: 2,
  payment_methods: 1,
  games: 300,
  first_call_at: "2026-11-22T13:03:00.000Z"
}

describe("missingSteps", () => {
  it("names every setup step of a new operator in order, and none of a complete operator", () => {
    assert.deepStrictEqual(
      [
        missingSteps({ keys: 0, webhooks: 0, payment_methods: 0, games: 0, first_call_at: null }),
        missingSteps(whole)
      ],
      [setupSteps, []]
    )
  })

  it("names a step that was undone, even when later steps are done", () => {
    assert.deepStrictEqual(missingSteps({ ...whole, keys: 0 }), ["key"])
    assert.deepStrictEqual(missingSteps({ ...whole, webhooks: 0, first_call_at: null }), ["webhook", "first_call"])
  })
})

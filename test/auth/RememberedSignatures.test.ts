import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { RememberedSignatures } from "../../src/auth/RememberedSignatures.ts"

const signature = fc.stringMatching(/^[0-9a-f]{64}$/)

describe("RememberedSignatures", () => {
  // Goal: a signature that was never added is never refused. Method: random signatures in so few slots that most replace another.
  it("never refuses a signature that was not added, and always refuses the one added last", () => {
    fc.assert(fc.property(fc.array(signature, { minLength: 1, maxLength: 40 }), (given) => {
      const remembered = new RememberedSignatures(8)
      const added = new Set<string>()
      for (const one of given) {
        const isNew = remembered.add(one, 1000, 0)
        if (!added.has(one)) assert.isTrue(isNew)
        added.add(one)
        assert.isFalse(remembered.add(one, 1000, 0))
      }
    }))
  })

  it("accepts a signature again once its time in memory is over", () => {
    const remembered = new RememberedSignatures()
    const one = "7".repeat(64)
    assert.isTrue(remembered.add(one, 1000, 0))
    assert.isFalse(remembered.add(one, 2000, 1000))
    assert.isTrue(remembered.add(one, 2000, 1001))
    assert.isFalse(remembered.add(one, 3000, 2000))
  })
})

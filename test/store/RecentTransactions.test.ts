import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { RecentTransactions } from "../../src/store/internal/RecentTransactions.ts"

const ids = fc.record({ providerId: fc.integer({ min: 1, max: 2 ** 40 }), transactionId: fc.string({ minLength: 1 }) })
const keyOf = ({ providerId, transactionId }: typeof ids extends fc.Arbitrary<infer A> ? A : never): string =>
  `${providerId} ${transactionId}`

describe("recent transaction ids", () => {
  it("are known by provider and id, and no others are", () =>
    fc.assert(fc.property(
      fc.uniqueArray(ids, { minLength: 2, maxLength: 50, selector: keyOf }),
      (all) => {
        const recent = new RecentTransactions()
        const [absent, ...present] = all
        if (absent === undefined) return
        recent.add({ transactions: present })
        assert.isFalse(recent.has({ transactions: [absent] }))
        assert.isFalse(recent.has({ transactions: [] }))
        for (const one of present.slice(-1)) assert.isTrue(recent.has({ transactions: [absent, one] }))
      }
    )))

  it("are forgotten for later ones, the last of which stays", () => {
    const recent = new RecentTransactions(4)
    const all = Array.from({ length: 1000 }, (_, number) => ({ providerId: 1, transactionId: `t${number}` }))
    recent.add({ transactions: all })
    const known = all.filter((one) => recent.has({ transactions: [one] }))
    assert.isAtMost(known.length, 4)
    assert.include(known.map(({ transactionId }) => transactionId), "t999")
  })

  it("spread over all places", () => {
    const recent = new RecentTransactions(2 ** 16)
    const all = Array.from({ length: 2 ** 14 }, (_, number) => ({ providerId: 7, transactionId: `round-${number}` }))
    recent.add({ transactions: all })
    const known = all.filter((one) => recent.has({ transactions: [one] }))
    // of a quarter as many ids as places, each at random, 88 % keep theirs
    assert.isAbove(known.length / all.length, 0.85)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { clientSeedMessages, rotateSeeds, startSeeds, takeNonce } from "../../../src/domain/state/Seeds.ts"

const first = { serverSeed: "sealed 1", serverSeedHash: "hash 1" }
const second = { serverSeed: "sealed 2", serverSeedHash: "hash 2" }

describe("seeds", () => {
  it("start at nonce 0", () => {
    assert.deepStrictEqual(startSeeds(first, "mine"), { ...first, clientSeed: "mine", nonce: 0 })
  })

  it("give every round the next nonce, and apply a new client seed from its round on", () => {
    const one = takeNonce(startSeeds(first, "mine"))
    assert.deepStrictEqual(one.round, { serverSeedHash: "hash 1", clientSeed: "mine", nonce: 0 })
    const two = takeNonce(one.next, "other")
    assert.deepStrictEqual(two.round, { serverSeedHash: "hash 1", clientSeed: "other", nonce: 1 })
    assert.deepStrictEqual(two.next, { ...first, clientSeed: "other", nonce: 2 })
  })

  // Goal: no outcome can be known before its bet. Method: return to an earlier client seed, which must not repeat an
  // earlier nonce.
  it("never use a nonce twice under one server seed, however often the client seed changes", () => {
    let seeds = startSeeds(first, "a")
    const nonces = ["a", "b", "a", undefined, "b", "a"].map((clientSeed) => {
      const { round, next } = takeNonce(seeds, clientSeed)
      seeds = next
      return round.nonce
    })
    assert.deepStrictEqual(nonces, [0, 1, 2, 3, 4, 5])
  })

  it("can be rotated, which retires the old server seed with its number of rounds and starts the new one at nonce 0", () => {
    const used = takeNonce(takeNonce(startSeeds(first, "mine")).next).next
    assert.deepStrictEqual(rotateSeeds(used, second), {
      retired: { ...first, rounds: 2 },
      next: { ...second, clientSeed: "mine", nonce: 0 }
    })
    assert.strictEqual(rotateSeeds(used, second, "other").next.clientSeed, "other")
  })

  it("accept client seeds of 1 to 64 visible ASCII characters", () => {
    for (const good of ["a", "!", "~", "a:b:0", "x".repeat(64)]) assert.deepStrictEqual(clientSeedMessages(good), [])
    for (const bad of ["", " ", "a b", "é", "a\n", "\u007f", "x".repeat(65)]) {
      assert.lengthOf(clientSeedMessages(bad), 1, JSON.stringify(bad))
    }
  })
})

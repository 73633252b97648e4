import { assert, describe, it } from "@effect/vitest"
import { drawsFrom, drawsOf, hashServerSeed, reduceWord, wordsOf } from "../../../src/domain/original/Fairness.ts"
import { hmacSha256, sha256 } from "./support.ts"

const seeds = { serverSeed: "5eed".repeat(16), clientSeed: "lucky", nonce: 7 }

// Goal: every number below a bound is equally likely, for any bound. Method: count how many words map to each number,
// for all words of a small word size, and at the critical positions of the real one.
describe("reduceWord", () => {
  it("maps the same number of words to each result, for every bound up to the word size", () => {
    for (const values of [256, 243, 7]) {
      for (let bound = 1; bound <= values; bound++) {
        const counts = Array.from({ length: bound }, () => 0)
        let rejected = 0
        for (let word = 0; word < values; word++) {
          const value = reduceWord(word, bound, values)
          if (value === undefined) rejected += 1
          else counts[value] = (counts[value] ?? NaN) + 1
        }
        assert.deepStrictEqual(new Set(counts), new Set([Math.floor(values / bound)]), `${bound} of ${values}`)
        assert.isBelow(rejected, bound)
      }
    }
  })

  it("accepts the largest multiple of the bound among the 2^32 words, and rejects the words after it", () => {
    for (const bound of [1, 2, 3, 24, 25, 10_000, 2 ** 14, 2 ** 31 - 1, 2 ** 31, 2 ** 31 + 1, 2 ** 32 - 1, 2 ** 32]) {
      const accepted = Math.floor(2 ** 32 / bound) * bound
      assert.strictEqual(reduceWord(0, bound), 0)
      assert.strictEqual(reduceWord(accepted - bound, bound), 0, `first of the last round of ${bound}`)
      assert.strictEqual(reduceWord(accepted - 1, bound), bound - 1, `last accepted of ${bound}`)
      if (accepted < 2 ** 32) {
        assert.isUndefined(reduceWord(accepted, bound), `first rejected of ${bound}`)
        assert.isUndefined(reduceWord(2 ** 32 - 1, bound), `last rejected of ${bound}`)
      }
    }
  })
})

describe("drawsFrom", () => {
  it("skips rejected words and continues with the next word", () => {
    const words = [2 ** 32 - 1, 2 ** 32 - 46, 2 ** 32 - 47, 12]
    const draws = drawsFrom(() => words.shift() ?? assert.fail("one word too many"))
    // 2^32 mod 25 is 21: the last 21 words are rejected
    assert.strictEqual(draws.below(25), (2 ** 32 - 46) % 25)
    assert.strictEqual(draws.below(25), (2 ** 32 - 47) % 25)
    assert.strictEqual(draws.below(25), 12)
    assert.deepStrictEqual(words, [])
  })
})

// Goal: the stream is the documented one. Method: cut the blocks of a plain HMAC into words by hand.
describe("wordsOf", () => {
  it("reads the blocks of cursors 0, 1, 2, … as four-byte words, most significant byte first", () => {
    const next = wordsOf(hmacSha256, seeds)
    const words = Array.from({ length: 20 }, () => next())
    const bytes = [0, 1, 2].flatMap((cursor) => [...hmacSha256(seeds.serverSeed, `lucky:7:${cursor}`)])
    const expected = words.map((_, index) =>
      Number.parseInt(Buffer.from(bytes.slice(4 * index, 4 * index + 4)).toString("hex"), 16)
    )
    assert.deepStrictEqual(words, expected)
  })

  it("computes a block only when one of its words is needed, and only once", () => {
    const messages: Array<string> = []
    const next = wordsOf((key, message) => {
      messages.push(message)
      return hmacSha256(key, message)
    }, seeds)
    for (let word = 0; word < 8; word++) next()
    assert.deepStrictEqual(messages, ["lucky:7:0"])
    next()
    assert.deepStrictEqual(messages, ["lucky:7:0", "lucky:7:1"])
  })

  it("reads bytes that lie inside a larger buffer", () => {
    const pool = new Uint8Array(100).fill(255)
    const inside = pool.subarray(33, 65).fill(1)
    assert.strictEqual(wordsOf(() => inside, seeds)(), 0x01010101)
  })
})

describe("drawsOf", () => {
  it("draws the same numbers from the same seeds and nonce, and others when any of them differs", () => {
    const numbers = (changed: Partial<typeof seeds>) => {
      const draws = drawsOf(hmacSha256, { ...seeds, ...changed })
      return Array.from({ length: 12 }, () => draws.below(2 ** 32)).join()
    }
    assert.strictEqual(numbers({}), numbers({}))
    const all = [{}, { serverSeed: "0" }, { clientSeed: "Lucky" }, { nonce: 8 }, { clientSeed: "lucky:7", nonce: 0 }]
    assert.strictEqual(new Set(all.map(numbers)).size, all.length)
  })
})

describe("hashServerSeed", () => {
  it("is the SHA-256 of the text, in lower-case hexadecimal", () => {
    // test vector of FIPS 180-2
    assert.strictEqual(
      hashServerSeed(sha256, "abc"),
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )
  })
})

import { assert, it } from "@effect/vitest"
import * as fc from "fast-check"
import { changes, everything, flagsOf, saidOf, withStatement } from "../../src/domain/player/Consents.ts"
import type { ConsentStatement } from "../../src/domain/state/ConsentStatement.ts"
import { runs } from "../kit/Runs.ts"

// Goal: of all that was said the newest that covers a consent counts. Method: random statements, narrow and wide, against a plain reading of all of them,
// the newest first.

const channels = ["email", "sms", "newsletter"]
const products = ["casino", "sports"]

const statement = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      channel: fc.constantFrom(...channels),
      product: fc.constantFrom(...products, everything),
      granted: fc.boolean(),
      text_version: fc.constantFrom(null, "1", "2")
    })
  },
  // an exclusion, which replaces all there is
  {
    weight: 1,
    arbitrary: fc.constant({ channel: everything, product: everything, granted: false, text_version: null })
  }
)

it("10.1: the newest consent statement for a channel and product decides, and without a statement there is no consent", () => {
  fc.assert(
    fc.property(fc.array(statement, { maxLength: 20 }), (said) => {
      let kept: ReadonlyArray<ConsentStatement> = []
      const all: Array<ConsentStatement> = []
      for (const [at, one] of said.entries()) {
        const next = { ...one, at, source: "player" as const }
        kept = one.channel === everything ? [next] : withStatement(kept, next)
        all.unshift(next)
        for (const channel of channels) {
          for (const product of products) {
            const newest = all.find((each) =>
              [channel, everything].includes(each.channel) && [product, everything].includes(each.product)
            )
            assert.deepStrictEqual(saidOf(kept, channel, product), newest)
          }
          const isAll = products.every((product) => saidOf(kept, channel, product)?.granted === true)
          assert.deepInclude(flagsOf(kept, { channels, products }), { [channel]: isAll })
        }
        assert.isAtMost(kept.length, channels.length * products.length + channels.length + 1)
      }
    }),
    { numRuns: runs(200, 2000) }
  )
})

it("10.1: a repeated consent statement is no change, but the same answer to another version of the text is a change", () => {
  const rules = { channels, products }
  const said = { channel: "email", granted: true, at: 1, source: "player", text_version: "1" } as const
  const kept = withStatement([], { ...said, product: "casino" })
  assert.isTrue(changes([], { ...said, product: "casino" }, rules))
  assert.isFalse(changes(kept, { ...said, product: "casino" }, rules))
  assert.isFalse(changes(kept, { ...said, product: "casino", text_version: null }, rules))
  assert.isTrue(changes(kept, { ...said, product: "casino", text_version: "2" }, rules))
  assert.isTrue(changes(kept, { ...said, product: everything }, rules))
  assert.isFalse(changes(withStatement(kept, { ...said, product: "sports" }), { ...said, product: everything }, rules))
})

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { undisturbed } from "../../bench/load/Quiet.ts"

const attempts = (results: ReadonlyArray<{ readonly foreignShare: number; readonly processed: number }>) =>
  Effect.map(
    undisturbed(1, (number) => Effect.succeed(results[number] ?? { foreignShare: 0, processed: 0 })),
    ({ all, last }) => [all.length, last.processed]
  )

describe("a measured round", () => {
  it.effect("is measured again while nothing was answered, five times at most", () =>
    Effect.gen(function*() {
      const idle = { foreignShare: 0, processed: 0 }
      assert.deepStrictEqual(yield* attempts([{ foreignShare: 1, processed: 1 }]), [1, 1])
      assert.deepStrictEqual(yield* attempts([idle, idle, { foreignShare: 0, processed: 7 }]), [3, 7])
      assert.deepStrictEqual(yield* attempts([]), [5, 0])
    }))
})

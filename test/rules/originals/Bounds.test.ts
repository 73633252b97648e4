import { assert, describe, it } from "@effect/vitest"
import { playStep } from "../../../src/domain/original/OriginalRounds.ts"
import type { JsonObject } from "../../../src/domain/state/Change.ts"
import { originals } from "../../../src/domain/original/Originals.ts"
import { RuleRunner } from "../../kit/RuleRunner.ts"
import { makePlayer } from "../../kit/Messages.ts"
import { openChance, playOf, startSeedsOf } from "../../kit/Originals.ts"

const checked = (name: string, params: JsonObject, stake: number) => {
  const bet = originals.get(name)?.check(params, stake)
  return bet?._tag === "Checked" ? bet : assert.fail(`${name}: ${JSON.stringify(params)}`)
}

describe("an operator's bounds on stake and payout", () => {
  const bounds = { maxStake: 1000, maxPayout: 50_000 }
  const seated = () => {
    const runner = new RuleRunner([makePlayer({ real: 1_000_000 })])
    runner.accept(startSeedsOf("bounds"))
    return runner
  }

  // Goal: no win of a round exceeds the operator's bound, however unlikely. Method: params whose highest payout is known, at the
  // largest stake within the bound and one above it.
  const cases = [
    ["limbo", { target: 1_000_000 }, undefined],
    ["limbo", { target: 100 }, 500],
    ["limbo", { target: 2 }, 1000],
    ["dice", { direction: "under", target: 1 }, 505],
    ["coin_flip", { side: "heads" }, 1000],
    ["mines", { mines: 24, cells: [7] }, 1000],
    ["plinko", { rows: 16, risk: "high" }, 50]
  ] as const
  for (const [name, params, largest] of cases) {
    it(`allow a stake of ${largest ?? "nothing"} on ${name} with ${JSON.stringify(params)}, and no larger one`, () => {
      const refusedAt = (stake: number) =>
        seated().refuse(playStep({ ...playOf(checked(name, params, stake)), bounds }, openChance))
      if (largest !== undefined) {
        const bet = checked(name, params, largest)
        assert.isAtMost(bet.maxPayout, bounds.maxPayout)
        assert.strictEqual(seated().accept(playStep({ ...playOf(bet), bounds }, openChance))._tag, "Played")
      }
      const refusal = refusedAt((largest ?? 0) + 1)
      assert.strictEqual(refusal.code, "VALIDATION_FAILED")
      assert.match(JSON.stringify(refusal.details), new RegExp(`must be at most ${largest ?? 0}\\b`))
    })
  }

  it("are compared with the highest payout of the chosen params", () => {
    assert.strictEqual(checked("limbo", { target: 1.5 }, 1000).maxPayout, 1500)
    assert.strictEqual(checked("coin_flip", { side: "tails" }, 1000).maxPayout, 1980)
  })
})

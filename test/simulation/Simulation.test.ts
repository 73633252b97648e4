import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Plan, planOf } from "./support/Plan.ts"
import { nothingPlanted, type Plant } from "./support/Plant.ts"
import { planted } from "./support/Planted.ts"
import { Trace } from "./support/Random.ts"
import { runSeeds } from "./support/Runner.ts"
import { shrink } from "./support/Shrink.ts"
import { simulate } from "./support/Simulation.ts"

// Goal: the service keeps its laws whatever breaks, and the simulator that says so can be believed: it replays exactly, finds what
// is planted, and makes it small. Method: fixed seeds; the many are `npm run simulate`.

const steps = 80

/** What is wrong with a seed, in words. */
const complaintsOf = (seed: number): ReadonlyArray<string> =>
  simulate(planOf(seed, steps)).complaints.map(({ law, text }) => `seed ${seed}: ${law}: ${text}`)

describe("the simulator", () => {
  it("does the same again for the same seed", () => {
    const hashes = [11, 12, 13].map((seed) => simulate(planOf(seed, steps)).hash)
    const again = [13, 12, 11].map((seed) => simulate(planOf(seed, steps)).hash)
    assert.deepStrictEqual([...again].reverse(), hashes)
    assert.strictEqual(new Set(hashes).size, hashes.length)
  })

  it.effect("does the same on threads", () =>
    Effect.gen(function*() {
      const seeds = { firstSeed: 11, seeds: 3, steps, workers: 2, onProgress: () => {} }
      const sound = yield* runSeeds({ ...seeds, plant: null })
      const trace = new Trace()
      for (const seed of [11, 12, 13]) trace.addText(simulate(planOf(seed, steps)).hash)
      assert.deepInclude(sound, { seeds: 3, failures: [], hash: trace.digest() })
      const broken = yield* runSeeds({ ...seeds, workers: 1, plant: "acknowledges before the commit" })
      assert.isNotEmpty(broken.failures)
    }))

  it("leaves the other actions as they were when one is taken out", () => {
    const plan = planOf(14, steps)
    const without = (id: string): Plan => ({ ...plan, actions: plan.actions.filter((action) => action.id !== id) })
    const asks = (of: Plan) =>
      new Map(
        simulate(of).notes.map(({ action, request }) => [action.id, JSON.stringify(request?.kind)])
      )
    const all = asks(plan)
    const fewer = asks(without(plan.actions[3]?.id ?? ""))
    assert.strictEqual(fewer.size, all.size - 1)
    const changed = [...fewer].filter(([id, request]) => all.get(id) !== request)
    assert.deepStrictEqual(changed, [])
  })

  // by fifty, so that a slow machine has time for each
  for (const first of [1000, 1050, 1100, 1150]) {
    it(`finds nothing wrong with the service, seeds from ${first}`, () => {
      const complaints = Array.from({ length: 50 }, (_, index) => complaintsOf(first + index)).flat()
      assert.deepStrictEqual(complaints, [])
    })
  }

  /** The first seed that shows a planted bug, of the first thousand. */
  const findSeed = (plant: Plant): number =>
    Array.from({ length: 1000 }, (_, index) => index + 1).find((seed) =>
      simulate(planOf(seed, steps), plant).complaints.length > 0
    ) ?? assert.fail("not found within 1000 seeds")

  for (const [name, plant] of Object.entries(planted)) {
    it(`finds a service that ${name}`, () => {
      assert.isAbove(findSeed(plant), 0)
    })
  }

  it("makes a failure small", () => {
    const plant = planted["forgets a tombstone"] ?? nothingPlanted
    const plan = planOf(findSeed(plant), steps)
    const failing = simulate(plan, plant)
    const small = shrink(plan, plant, failing, 300)
    assert.strictEqual(small.outcome.complaints[0]?.law, failing.complaints[0]?.law)
    assert.isAtMost(small.plan.actions.length + small.plan.faults.length, 6)
    assert.strictEqual(simulate(small.plan, plant).hash, small.outcome.hash)
  })
})

import { assert, it } from "@effect/vitest"
import { staffCases, unmeasured } from "../../bench/scenarios/ReadCases.ts"

// Goal: how fast the back office's pages are answered is measured for every reading action of staff, under addresses that the contract knows. Method:
// the cases of `npm run bench -- staff-reads`, which are made of the contract, beside all of its reading actions.

it("every staff read endpoint is measured in the benchmarks, or has a reason why not", () => {
  const shape = {
    players: 1000,
    entries: 100_000,
    endsAt: Date.parse("2026-11-27T12:00:00Z"),
    operatorIds: [1, 2],
    firstId: 10
  }
  assert.deepStrictEqual(unmeasured(staffCases(shape, [20])), [])
})

import { assert, describe, it } from "@effect/vitest"
import { mines } from "../../../src/domain/original/Mines.ts"
import { assertReturn, bet, choose, scripted, units, wrongs } from "./support.ts"

const firstCells = (count: number) => Array.from({ length: count }, (_, cell) => cell)
const lastCells = (count: number) => firstCells(count).map((cell) => 24 - cell)

/** Every sequence of `count` draws, the first below 25, the next below 24, … */
const sequences = (count: number): ReadonlyArray<ReadonlyArray<number>> => {
  let all: ReadonlyArray<ReadonlyArray<number>> = [[]]
  for (let bound = 25; bound > 25 - count; bound--) {
    all = all.flatMap((head) => Array.from({ length: bound }, (_, value) => [...head, value]))
  }
  return all
}

// Goal: the odds are as stated. Method: with up to three mines, play every possible sequence of draws; for all numbers
// of mines and cells, compare the payout of a win with the share of winning choices, in exact integers.
describe("mines", () => {
  it("places mines on every set of cells equally often, so that wins are as frequent as combinatorics predicts", () => {
    for (const count of [1, 2, 3]) {
      const draws = sequences(count)
      for (const opened of [1, 2, 12, 25 - count]) {
        const cells = lastCells(opened)
        const checked = bet(mines, { mines: count, cells })
        const sets = new Map<string, number>()
        let winning = 0n
        for (const numbers of draws) {
          const { multiplier, outcome } = checked.play(scripted(...numbers))
          const mined = JSON.stringify(outcome["mine_cells"])
          sets.set(mined, (sets.get(mined) ?? 0) + 1)
          if (multiplier > 0) winning += 1n
        }
        assert.strictEqual(BigInt(sets.size), choose(25, count))
        assert.strictEqual(new Set(sets.values()).size, 1, "no set more often than another")
        assert.strictEqual(winning * choose(25, opened), BigInt(draws.length) * choose(25 - count, opened))
      }
    }
  })

  it("has a multiplier for a 99 % return, cut to four decimals, for all numbers of mines and cells", () => {
    let highest = 0
    for (let count = 1; count <= 24; count++) {
      for (let opened = 1; opened <= 25 - count; opened++) {
        // all draws 0 mine the first cells
        const { multiplier, outcome } = bet(mines, { mines: count, cells: lastCells(opened) })
          .play(scripted(...firstCells(count).map(() => 0)))
        assert.deepStrictEqual(outcome["mine_cells"], firstCells(count))
        assert.isTrue(outcome["won"])
        assertReturn(units(multiplier), choose(25 - count, opened), choose(25, opened), `${count} ${opened}`)
        assert.isAbove(multiplier, 1, "a win pays more than the stake")
        highest = Math.max(highest, multiplier)
      }
    }
    assert.strictEqual(mines.maxMultiplier, highest)
    assert.strictEqual(mines.maxMultiplier, 5_148_297)
  })

  it("loses if any opened cell is mined, and reports all mines in ascending order", () => {
    const draws = scripted(24, 3, 3)
    const played = bet(mines, { mines: 3, cells: [20, 4, 7] }, 500).play(draws)
    assert.deepStrictEqual(draws.bounds, [25, 24, 23])
    assert.deepStrictEqual(played, {
      payout: 0,
      multiplier: 0,
      outcome: { mines: 3, cells: [20, 4, 7], mine_cells: [3, 4, 24], won: false }
    })
  })

  it("refuses mines and cells out of range, repeated cells and more cells than are free of mines", () => {
    for (const count of [0, 25, 1.5, "3"]) {
      assert.deepStrictEqual(wrongs(mines, { mines: count, cells: [1] }), {
        "params.mines": ["must be an integer between 1 and 24"]
      })
    }
    for (const cells of [[], [1, 1], [-1], [25], [1.5], ["1"], [null], 7, {}, firstCells(26), [[1]]]) {
      assert.deepStrictEqual(wrongs(mines, { mines: 1, cells }), {
        "params.cells": ["must be a list of different integers between 0 and 24"]
      }, JSON.stringify(cells))
    }
    assert.deepStrictEqual(wrongs(mines, { mines: 20, cells: firstCells(6) }), {
      "params.cells": ["must be at most 5 cells, which is how many are free of mines"]
    })
  })
})

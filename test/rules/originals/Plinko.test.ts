import { assert, describe, it } from "@effect/vitest"
import { plinko } from "../../../src/domain/original/Plinko.ts"
import { plinkoRisks, plinkoTable } from "../../../src/domain/original/PlinkoTables.ts"
import { bet, choose, scripted, units, wrongs } from "./support.ts"

const allRows = [8, 9, 10, 11, 12, 13, 14, 15, 16]
const tables = allRows.flatMap((rows) => plinkoRisks.map((risk) => ({ rows, risk })))

// Goal: the odds are as stated. Method: every possible path of the ball, and the slots weighted by
// the binomial coefficients.
describe("plinko", () => {
  it("returns exactly 99 % on average over all paths, in every table", () => {
    for (const { rows, risk } of tables) {
      const checked = bet(plinko, { rows, risk })
      const table = plinkoTable(rows, risk)
      const hits = Array.from({ length: rows + 1 }, () => 0)
      let paid = 0
      for (let path = 0; path < 2 ** rows; path++) {
        const turns = Array.from({ length: rows }, (_, row) => path >> row & 1)
        const { multiplier, outcome } = checked.play(scripted(...turns))
        const slot = turns.reduce((sum, turn) => sum + turn, 0)
        if (outcome["slot"] !== slot || multiplier !== table[slot]) {
          assert.fail(`${rows} ${risk} ${turns.join("")}: ${JSON.stringify(outcome)}, ${multiplier}`)
        }
        hits[slot] = (hits[slot] ?? NaN) + 1
        paid += Math.round(multiplier * 10_000)
      }
      assert.strictEqual(paid, 9_900 * 2 ** rows, `${rows} ${risk}`)
      assert.deepStrictEqual(hits, hits.map((_, slot) => Number(choose(rows, slot))))
    }
  })

  it("returns exactly 99 % on average by the binomial weights of every table", () => {
    for (const { rows, risk } of tables) {
      const table = plinkoTable(rows, risk)
      assert.lengthOf(table, rows + 1)
      const sum = table.reduce((sum, multiplier, slot) => sum + choose(rows, slot) * BigInt(units(multiplier)), 0n)
      assert.strictEqual(sum, 9_900n * 2n ** BigInt(rows), `${rows} ${risk}`)
    }
  })

  it("pays the same on both sides, more towards the edges, and more at the edges for a higher risk", () => {
    for (const { rows, risk } of tables) {
      const table = plinkoTable(rows, risk)
      assert.deepStrictEqual([...table].reverse(), table)
      const half = table.slice(0, Math.floor(rows / 2) + 1)
      assert.deepStrictEqual(half, [...new Set(half)].sort((a, b) => b - a), `${rows} ${risk}`)
    }
    for (const rows of allRows) {
      const edges = plinkoRisks.map((risk) => plinkoTable(rows, risk)[0] ?? NaN)
      assert.deepStrictEqual(edges, [...new Set(edges)].sort((a, b) => a - b), `${rows}`)
    }
    assert.strictEqual(
      plinko.maxMultiplier,
      Math.max(...tables.flatMap(({ rows, risk }) => plinkoTable(rows, risk)))
    )
    assert.strictEqual(plinko.maxMultiplier, 995)
  })

  it("draws one number below 2 for each row, and reports the path", () => {
    const draws = scripted(1, 0, 0, 1, 0, 1, 1, 0)
    const { outcome } = bet(plinko, { rows: 8, risk: "low" }).play(draws)
    assert.deepStrictEqual(outcome, { rows: 8, risk: "low", path: "RLLRLRRL", slot: 4 })
    assert.deepStrictEqual(draws.bounds, [2, 2, 2, 2, 2, 2, 2, 2])
  })

  it("refuses unknown numbers of rows and unknown risks", () => {
    for (const rows of [7, 17, 8.5, "8", null]) {
      assert.deepStrictEqual(wrongs(plinko, { rows, risk: "low" }), {
        "params.rows": ["must be an integer between 8 and 16"]
      })
    }
    assert.deepStrictEqual(wrongs(plinko, { rows: 8, risk: "none" }), {
      "params.risk": ["must be one of: low, medium, high"]
    })
  })
})

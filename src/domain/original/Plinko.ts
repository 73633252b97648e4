/** Plinko: a ball falls left or right through rows of pins into a slot that pays by the table of the chosen risk. */
import { makeOriginal, multiplierUnits } from "./Original.ts"
import { maxRows, minRows, type PlinkoRisk, plinkoRisks, plinkoTable } from "./PlinkoTables.ts"

export type PlinkoParams = {
  /** 8 to 16. */
  readonly rows: number
  readonly risk: PlinkoRisk
}

const highest = Math.max(...plinkoRisks.flatMap((risk) => plinkoTable(maxRows, risk)))

export const plinko = makeOriginal<PlinkoParams>({
  name: "plinko",
  maxMultiplier: highest * multiplierUnits,
  read: (params) => {
    const rows = params.integer("rows", minRows, maxRows)
    const risk = params.word("risk", plinkoRisks)
    return rows === undefined || risk === undefined ? undefined : { rows, risk }
  },
  highest: ({ rows, risk }) => Math.round(Math.max(...plinkoTable(rows, risk)) * multiplierUnits),
  play: ({ rows, risk }, draws) => {
    let path = ""
    let slot = 0
    for (let row = 0; row < rows; row++) {
      const right = draws.below(2)
      path += right === 1 ? "R" : "L"
      slot += right
    }
    // table values have two decimals, which binary fractions only approximate
    const multiplier = Math.round((plinkoTable(rows, risk)[slot] ?? 0) * multiplierUnits)
    return { multiplier, outcome: { rows, risk, path, slot } }
  }
})

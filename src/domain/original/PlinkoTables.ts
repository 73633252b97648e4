/**
 * Payout tables of plinko. The ball goes right or left at each of `rows` pins with equal probability, so slot k is hit in C(rows, k) of 2^rows ways.
 * In each table the sum of ways × multiplier is exactly 0.99 × 2^rows, the stated return; verified by a test.
 */

export const plinkoRisks = ["low", "medium", "high"] as const

export type PlinkoRisk = typeof plinkoRisks[number]

export const minRows = 8
export const maxRows = 16

/** Multipliers from the outermost slot to the middle one, for 8, 9, … 16 rows; the other half mirrors them. */
const halfTables: { readonly [risk in PlinkoRisk]: ReadonlyArray<ReadonlyArray<number>> } = {
  low: [
    [5.3, 2.7, 1.4, 0.77, 0.5],
    [5.4, 2.8, 1.5, 0.96, 0.7],
    [7.1, 3.7, 2.1, 1.2, 0.75, 0.53],
    [7.7, 3.9, 2.2, 1.4, 0.9, 0.68],
    [10, 5.4, 3.2, 1.85, 1.1, 0.7, 0.51],
    [11, 6.1, 3.2, 1.9, 1.25, 0.85, 0.69],
    [13, 6.4, 4.5, 2.7, 1.6, 1, 0.7, 0.53],
    [15, 7.7, 4.5, 2.7, 1.65, 1.17, 0.81, 0.71],
    [14, 9, 6.2, 3.7, 2.2, 1.5, 0.99, 0.69, 0.48]
  ],
  medium: [
    [12, 3.7, 1.3, 0.62, 0.4],
    [18, 4.8, 1.7, 0.81, 0.5],
    [22, 7.1, 2.4, 1.1, 0.6, 0.38],
    [33, 9.1, 3.4, 1.4, 0.73, 0.48],
    [41, 14, 5.1, 2.2, 1, 0.46, 0.3],
    [50, 20, 6.8, 2.8, 1.3, 0.62, 0.4],
    [63, 24, 9.4, 4, 1.8, 0.88, 0.44, 0.3],
    [84, 35, 13.5, 5.9, 2.5, 1.17, 0.53, 0.3],
    [114, 43, 17, 7.2, 3.2, 1.5, 0.79, 0.42, 0.32]
  ],
  high: [
    [29, 4.9, 1.1, 0.37, 0.2],
    [45, 8, 1.9, 0.51, 0.2],
    [74, 13, 2.7, 0.78, 0.31, 0.18],
    [121, 21, 4.4, 1.1, 0.4, 0.23],
    [168, 30, 6.8, 1.8, 0.64, 0.31, 0.2],
    [258, 47, 11, 3, 0.91, 0.37, 0.2],
    [425, 78, 16.5, 4.3, 1.4, 0.5, 0.26, 0.2],
    [640, 114, 27.5, 6.8, 2.1, 0.72, 0.34, 0.18],
    [995, 183, 40, 10, 3, 1.05, 0.49, 0.25, 0.2]
  ]
}

/** Multipliers of the `rows` + 1 slots from left to right. `rows` is from 8 to 16. */
export const plinkoTable = (rows: number, risk: PlinkoRisk): ReadonlyArray<number> => {
  const half = halfTables[risk][rows - minRows] ?? []
  return Array.from({ length: rows + 1 }, (_, slot) => half[Math.min(slot, rows - slot)] ?? 0)
}

/** Mines: some of 25 cells are mined; the player picks cells and wins when none of them is. The picked cells are opened in one step. */
import { fairMultiplier, makeOriginal } from "./Original.ts"

export type MinesParams = {
  /** Number of mined cells, 1 to 24. */
  readonly mines: number
  /** Cells to open, numbered 0 to 24 row by row: at least one, at most the number of safe ones. */
  readonly cells: ReadonlyArray<number>
}

const gridCells = 25

/** Binomial coefficient: `from` choose `count`. */
const combinations = (from: number, count: number): number => {
  let ways = 1
  for (let chosen = 1; chosen <= count; chosen++) ways = ways * (from - count + chosen) / chosen
  return ways
}

/** Win multiplier in ten-thousandths, from the share of choices of `opened` cells without a mine. */
const winMultiplier = (mines: number, opened: number): number =>
  fairMultiplier(combinations(gridCells, opened), combinations(gridCells - mines, opened))

/** Half the grid mined and all the rest opened has the lowest probability. */
const leastLikelyMines = Math.floor(gridCells / 2)

export const mines = makeOriginal<MinesParams>({
  name: "mines",
  maxMultiplier: winMultiplier(leastLikelyMines, gridCells - leastLikelyMines),
  read: (params) => {
    const count = params.integer("mines", 1, gridCells - 1)
    const cells = params.distinctIntegers("cells", 0, gridCells - 1)
    if (count === undefined || cells === undefined) return undefined
    if (cells.length > gridCells - count) {
      params.note("cells", `must be at most ${gridCells - count} cells, which is how many are free of mines`)
      return undefined
    }
    return { mines: count, cells }
  },
  highest: ({ mines: count, cells }) => winMultiplier(count, cells.length),
  play: ({ mines: count, cells }, draws) => {
    const free = Array.from({ length: gridCells }, (_, cell) => cell)
    const mined = new Set<number>()
    while (mined.size < count) {
      for (const cell of free.splice(draws.below(free.length), 1)) mined.add(cell)
    }
    const won = cells.every((cell) => !mined.has(cell))
    return {
      multiplier: won ? winMultiplier(count, cells.length) : 0,
      outcome: { mines: count, cells, mine_cells: [...mined].sort((a, b) => a - b), won }
    }
  }
})

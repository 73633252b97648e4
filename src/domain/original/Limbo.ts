/** Limbo: a random multiplier; the bet is that it reaches a target, which is then paid. */
import { makeOriginal, multiplierUnits, returnPercent } from "./Original.ts"

export type LimboParams = {
  /** 1.01 to 1,000,000.00 in steps of 0.01. */
  readonly target: number
}

const lowestTarget = 101
const highestTarget = 100_000_000
const lowestResult = 100

/** The random number is one of 2^46: the most for which 99 times it is an exact integer. */
const upperValues = 2 ** 14
const lowerValues = 2 ** 32

/**
 * Multiplier in hundredths of a random number from 0 to 2^46 − 1. It reaches `target` when number + 1 ≤ 99 × 2^46 ÷ target, with probability 0.99 ÷
 * (target ÷ 100), rounded down to one in 2^46.
 */
export const limboResult = (chance: number): number =>
  Math.min(
    Math.max(Math.floor(returnPercent * upperValues * lowerValues / (chance + 1)), lowestResult),
    highestTarget
  )

export const limbo = makeOriginal<LimboParams>({
  name: "limbo",
  maxMultiplier: highestTarget * multiplierUnits / 100,
  read: (params) => {
    const target = params.hundredths("target", lowestTarget, highestTarget)
    return target === undefined ? undefined : { target: target / 100 }
  },
  highest: ({ target }) => Math.round(target * 100) * multiplierUnits / 100,
  play: ({ target }, draws) => {
    const upper = draws.below(upperValues)
    const result = limboResult(upper * lowerValues + draws.below(lowerValues))
    const targetResult = Math.round(target * 100)
    const won = result >= targetResult
    return {
      multiplier: won ? targetResult * multiplierUnits / 100 : 0,
      outcome: { target, result: result / 100, won }
    }
  }
})

/**
 * Dice, one of the platform's own games: a roll from 0.00 to 99.99, and a bet that it lands under or over a target, paid the more the less likely
 * that is.
 */
import { fairMultiplier, makeOriginal } from "./Original.ts"

export type DiceParams = {
  readonly direction: "under" | "over"
  /** 0.01 to 98.00 for `under`, 1.99 to 99.98 for `over`, in steps of 0.01. */
  readonly target: number
}

const rolls = 10_000
const highestRoll = rolls - 1
/** A win covers at least one roll and pays more than the stake. */
const maxWinningRolls = 9_800

/** Number of rolls that win against a target in hundredths. Landing on the target always loses. */
const winningRolls = (direction: DiceParams["direction"], target: number): number =>
  direction === "under" ? target : highestRoll - target

export const dice = makeOriginal<DiceParams>({
  name: "dice",
  maxMultiplier: fairMultiplier(rolls, 1),
  read: (params) => {
    const direction = params.word("direction", ["under", "over"])
    const [minimum, maximum] = direction === "under"
      ? [1, maxWinningRolls]
      : direction === "over"
      ? [highestRoll - maxWinningRolls, highestRoll - 1]
      : [1, highestRoll - 1]
    const target = params.hundredths("target", minimum, maximum)
    return direction === undefined || target === undefined ? undefined : { direction, target: target / 100 }
  },
  highest: ({ direction, target }) => fairMultiplier(rolls, winningRolls(direction, Math.round(target * 100))),
  play: ({ direction, target }, draws) => {
    const roll = draws.below(rolls)
    const targetRoll = Math.round(target * 100)
    const won = direction === "under" ? roll < targetRoll : roll > targetRoll
    return {
      multiplier: won ? fairMultiplier(rolls, winningRolls(direction, targetRoll)) : 0,
      outcome: { direction, target, roll: roll / 100, won }
    }
  }
})

/** Coin flip, one of the platform's own games: the side that the player bets on, the outcome from the seeds, and what it pays. */
import { fairMultiplier, makeOriginal } from "./Original.ts"

export type CoinFlipParams = {
  readonly side: "heads" | "tails"
}

const sides = 2
const multiplier = fairMultiplier(sides, 1)

export const coinFlip = makeOriginal<CoinFlipParams>({
  name: "coin_flip",
  maxMultiplier: multiplier,
  read: (params) => {
    const side = params.word("side", ["heads", "tails"])
    return side === undefined ? undefined : { side }
  },
  highest: () => multiplier,
  play: ({ side }, draws) => {
    const result = draws.below(sides) === 0 ? "heads" : "tails"
    const won = result === side
    return { multiplier: won ? multiplier : 0, outcome: { side, result, won } }
  }
})

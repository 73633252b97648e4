/** The built-in games. */
import { coinFlip } from "./CoinFlip.ts"
import { dice } from "./Dice.ts"
import { limbo } from "./Limbo.ts"
import { mines } from "./Mines.ts"
import type { Original } from "./Original.ts"
import { plinko } from "./Plinko.ts"

const all: ReadonlyArray<Original> = [dice, limbo, coinFlip, plinko, mines]

/** Every original by the name that the catalogue gives it. */
export const originals: ReadonlyMap<string, Original> = new Map(all.map((original) => [original.name, original]))

/** The built-in originals (the platform's own games), by their name in the game catalogue. */
import { coinFlip } from "./CoinFlip.ts"
import { dice } from "./Dice.ts"
import { limbo } from "./Limbo.ts"
import { mines } from "./Mines.ts"
import type { Original } from "./Original.ts"
import { plinko } from "./Plinko.ts"

const all: ReadonlyArray<Original> = [dice, limbo, coinFlip, plinko, mines]

/** Originals by their name in the catalogue. */
export const originals: ReadonlyMap<string, Original> = new Map(all.map((original) => [original.name, original]))

/** Funds as vendors are shown them: never negative. */
import type { Funds } from "./Protocol.ts"

/** Minor units. What the real balance lacks is taken off the bonus, so that the sum is what the player has to play with. */
export const shownFunds = ({ bonus, real }: Funds): { readonly cash: number; readonly bonus: number } =>
  real >= 0 ? { cash: real, bonus } : { cash: 0, bonus: Math.max(0, bonus + real) }

/** Real and bonus money in one sum, minor units. */
export const shownTotal = ({ bonus, real }: Funds): number => Math.max(0, real + bonus)

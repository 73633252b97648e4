/** Funds as shown to vendors: never negative. */
import type { Funds } from "./Protocol.ts"

/** Minor units. A negative real balance is deducted from the bonus, so that the sum is what the player can stake. */
export const shownFunds = ({ bonus, real }: Funds): { readonly cash: number; readonly bonus: number } =>
  real >= 0 ? { cash: real, bonus } : { cash: 0, bonus: Math.max(0, bonus + real) }

/** Sum of real and bonus money, minor units. */
export const shownTotal = ({ bonus, real }: Funds): number => Math.max(0, real + bonus)

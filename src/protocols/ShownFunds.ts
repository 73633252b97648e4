/** Funds shown to vendors: what the player can stake, which is nothing while the real balance is negative, whatever the bonus. */
import type { Funds } from "./Protocol.ts"

/** Minor units. */
export const shownFunds = ({ bonus, real }: Funds): { readonly cash: number; readonly bonus: number } =>
  real < 0 ? { cash: 0, bonus: 0 } : { cash: real, bonus }

/** Sum of real and bonus money, minor units. */
export const shownTotal = (funds: Funds): number => {
  const { bonus, cash } = shownFunds(funds)
  return cash + bonus
}

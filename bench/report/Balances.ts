/** A player whose balance is not explained by the bets that were sent. */
export interface BalanceMismatch {
  readonly player: number
  readonly balance: number
  readonly lowest: number
  readonly highest: number
}

/**
 * Compares balances with what was acknowledged, all in minor units and per player. A bet that was acknowledged must
 * have been taken, a bet that was refused must not; only a bet whose outcome nobody was told may have gone either way.
 */
export const findMismatches = (round: {
  readonly openingBalance: number
  readonly balances: ReadonlyArray<number>
  readonly acknowledged: ReadonlyArray<number>
  readonly unknown: ReadonlyArray<number>
}): ReadonlyArray<BalanceMismatch> => {
  const mismatches: Array<BalanceMismatch> = []
  for (const [player, acknowledged] of round.acknowledged.entries()) {
    const balance = round.balances[player] ?? Number.NaN
    const highest = round.openingBalance - acknowledged
    const lowest = highest - (round.unknown[player] ?? 0)
    // Written so that NaN, a missing balance, is a mismatch.
    if (!(balance >= lowest && balance <= highest)) mismatches.push({ player, balance, lowest, highest })
  }
  return mismatches
}

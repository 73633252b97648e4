/** A player whose balance is not explained by the requests that were sent. */
export interface BalanceMismatch {
  readonly player: number
  readonly balance: number
  readonly lowest: number
  readonly highest: number
}

/** Changes of balances by requests so far, per player, minor units. */
export interface Moves {
  /** Added by requests that were acknowledged; stakes are negative. */
  readonly moved: ReadonlyArray<number>
  /** Minimum and maximum change by requests with an unknown outcome. */
  readonly leastUnknown: ReadonlyArray<number>
  readonly mostUnknown: ReadonlyArray<number>
}

/**
 * Compares balances with acknowledged changes, in minor units and per player. An acknowledged request must have
 * taken effect, a refused one must not; only one with an unknown outcome may have done either.
 */
export const findMismatches = (
  openingBalances: ReadonlyArray<number>,
  balances: ReadonlyArray<number>,
  { leastUnknown, mostUnknown, moved }: Moves
): ReadonlyArray<BalanceMismatch> => {
  const mismatches: Array<BalanceMismatch> = []
  for (const [player, change] of moved.entries()) {
    const balance = balances[player] ?? Number.NaN
    const expected = (openingBalances[player] ?? Number.NaN) + change
    const lowest = expected + (leastUnknown[player] ?? 0)
    const highest = expected + (mostUnknown[player] ?? 0)
    // Written so that NaN, a missing balance, is a mismatch.
    if (!(balance >= lowest && balance <= highest)) mismatches.push({ player, balance, lowest, highest })
  }
  return mismatches
}

/** Sum of the changes of rounds, which may have different numbers of players. */
export class Books implements Moves {
  readonly moved: Array<number>
  readonly leastUnknown: Array<number>
  readonly mostUnknown: Array<number>

  constructor(players: number) {
    const zeros = () => Array.from({ length: players }, () => 0)
    this.moved = zeros()
    this.leastUnknown = zeros()
    this.mostUnknown = zeros()
  }

  add(moves: Moves): void {
    for (const name of ["moved", "leastUnknown", "mostUnknown"] as const) {
      for (const [player, amount] of moves[name].entries()) this[name][player] = (this[name][player] ?? 0) + amount
    }
  }
}

/** The mismatches in words. */
export const describeMismatches = (target: string, mismatches: ReadonlyArray<BalanceMismatch>): string =>
  [
    `${target}: ${mismatches.length} balances are not what there was and what was acknowledged`,
    ...mismatches.slice(0, 5).map((found) =>
      `  player ${found.player}: ${found.balance}, expected ${found.lowest} to ${found.highest}`
    )
  ].join("\n")

/**
 * Repeated steps of a generated player: a deposit, rounds won and lost, one rolled back, a bonus wagered and lost, a withdrawal.
 * Amounts are in units that differ from player to player. Because every player repeats the same steps, the balance after any
 * entry can be computed from its number alone, and millions of entries need no window over their predecessors.
 */

/** Kind of a step. */
type StepKind = "payment" | "bet" | "win" | "rollback" | "bonus"

interface Step {
  readonly kind: StepKind
  readonly wallet: "real" | "bonus"
  readonly type: string
  readonly amount: number
  /** Round within the cycle, for bets and their wins and rollbacks. */
  readonly round: number | null
}

const payment = (type: "deposit" | "withdrawal", amount: number): Step => ({
  kind: "payment",
  wallet: "real",
  type,
  amount,
  round: null
})
const bet = (round: number, stake: number, wallet: Step["wallet"] = "real"): Step => ({
  kind: "bet",
  wallet,
  type: "casino_bet",
  amount: -stake,
  round
})
const win = (round: number, amount: number, wallet: Step["wallet"] = "real"): Step => ({
  kind: "win",
  wallet,
  type: "casino_win",
  amount,
  round
})
const rollback = (round: number, amount: number): Step => ({
  kind: "rollback",
  wallet: "real",
  type: "casino_rollback",
  amount,
  round
})
const bonusGrant = (amount: number): Step => ({
  kind: "bonus",
  wallet: "bonus",
  type: "bonus_correction_up",
  amount,
  round: null
})

/** Neither wallet is ever below zero, and the bonus wallet ends as empty as it began. */
export const steps: ReadonlyArray<Step> = [
  payment("deposit", 100),
  bet(1, 10),
  win(1, 15),
  bet(2, 10),
  bet(3, 20),
  win(3, 30),
  bet(4, 10),
  bet(5, 5),
  win(5, 8),
  bet(6, 10),
  rollback(6, 10),
  bet(7, 10),
  win(7, 12),
  bet(8, 25),
  bet(9, 10),
  win(9, 5),
  bonusGrant(20),
  bet(10, 10, "bonus"),
  win(10, 6, "bonus"),
  bet(11, 16, "bonus"),
  payment("deposit", 50),
  bet(12, 10),
  win(12, 9),
  bet(13, 10),
  bet(14, 10),
  win(14, 40),
  bet(15, 10),
  win(15, 3),
  bet(16, 15),
  bet(17, 10),
  win(17, 20),
  bet(18, 10),
  payment("withdrawal", -60),
  bet(19, 10),
  win(19, 14),
  bet(20, 10),
  win(20, 11),
  bet(21, 20),
  bet(22, 10),
  win(22, 18)
]

export const cycleLength = steps.length
/** How many rounds a cycle has. */
export const cycleRounds = Math.max(...steps.map(({ round }) => round ?? 0))

/** The steps as rows of the table that the generator joins: position from 1, and the balances, in units, after each. */
export const cycleRows = (): ReadonlyArray<ReadonlyArray<string | number | null>> => {
  let real = 0
  let bonus = 0
  let bonusPosition: number | null = null
  return steps.map(({ amount, kind, round, type, wallet }, index) => {
    if (wallet === "real") real += amount
    else bonus += amount
    if (kind === "bonus") bonusPosition = index + 1
    const positionOf = (wanted: StepKind): number | null => {
      const found = round === null ? -1 : steps.findIndex((step) => step.round === round && step.kind === wanted)
      return found < 0 ? null : found + 1
    }
    return [
      index + 1,
      kind,
      wallet,
      type,
      amount,
      real,
      bonus,
      round,
      positionOf("bet"),
      positionOf("win"),
      positionOf("rollback"),
      wallet === "bonus" ? bonusPosition : null
    ]
  })
}

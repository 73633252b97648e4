/**
 * One round as the contract's table has it (CONTRACT section 2), read as a caller reads it: which answer each message gets, in
 * whatever order and however often messages come. It has nothing in common with the service but that table.
 */

/** The messages of a round: a bet, its win, a rollback of each, and the close. */
export const messages = ["bet", "win", "rollback-bet", "rollback-win", "close"] as const
export type Message = (typeof messages)[number]

export interface Stakes {
  readonly bet: number
  readonly win: number
  /** Whether the win says that the round is over. */
  readonly winCloses: boolean
}

export type Answer =
  | { readonly _tag: "Refused"; readonly status: number; readonly code: string }
  | {
    readonly _tag: "Settled"
    readonly status: "processed" | "replayed" | "ignored"
    readonly realAmount: number
    readonly balance: number
    readonly walletSeq: number
    /** Undefined where the contract leaves it open: a rollback whose target nobody has seen belongs to no round. */
    readonly roundState: "open" | "closed" | undefined
    /** How many ledger entries stand for the message. */
    readonly entries: number
  }

/** What a message that was sent with an id has become (`GET /transactions/{id}`). */
export type Fate = "unknown" | "processed" | "rolled_back" | "tombstone"

/** What a player has; the rounds of a player follow each other on it. */
export interface Purse {
  balance: number
  walletSeq: number
}

export interface Round {
  readonly send: (message: Message) => Answer
  readonly fate: (message: Exclude<Message, "close">) => Fate
}

const refused = (status: number, code: string): Answer => ({ _tag: "Refused", status, code })

export const startRound = (purse: Purse, stakes: Stakes): Round => {
  let isClosed = false
  const stake = { bet: stakes.bet, win: stakes.win }
  const fates: Record<"bet" | "win", Fate> = { bet: "unknown", win: "unknown" }
  /** What each known id moved, for ever. Null: the rollback was ignored, and what it was to take back had not come. */
  const moved = new Map<Message, number | null>()

  const settled = (
    status: "processed" | "replayed" | "ignored",
    realAmount: number,
    roundState: "open" | "closed" | undefined
  ): Answer => ({
    _tag: "Settled",
    status,
    realAmount,
    balance: purse.balance,
    walletSeq: purse.walletSeq,
    roundState,
    entries: realAmount === 0 ? 0 : 1
  })
  const state = () => isClosed ? "closed" : "open"

  const process = (message: Message, amount: number): Answer => {
    moved.set(message, amount)
    purse.balance += amount
    if (amount !== 0) purse.walletSeq++
    return settled("processed", amount, state())
  }

  const sendBet = (): Answer => {
    if (fates.bet === "tombstone") return refused(409, "BET_ROLLED_BACK")
    if (isClosed) return refused(409, "ROUND_CLOSED")
    fates.bet = "processed"
    return process("bet", 0 - stake.bet)
  }

  const sendWin = (): Answer => {
    if (fates.win === "tombstone" || fates.bet === "tombstone" || fates.bet === "rolled_back") {
      return refused(409, "BET_ROLLED_BACK")
    }
    if (fates.bet === "unknown") return refused(404, "BET_NOT_FOUND")
    if (isClosed) return refused(409, "ROUND_CLOSED")
    fates.win = "processed"
    isClosed = stakes.winCloses
    return process("win", stake.win)
  }

  const sendRollback = (message: "rollback-bet" | "rollback-win", target: "bet" | "win"): Answer => {
    if (fates[target] === "unknown" || fates[target] === "tombstone") {
      fates[target] = "tombstone"
      moved.set(message, null)
      return settled("ignored", 0, undefined)
    }
    const isPaid = fates.win === "processed" && stake.win > 0
    if (target === "bet" && isPaid) return refused(409, "BET_ALREADY_SETTLED")
    fates[target] = "rolled_back"
    return process(message, target === "bet" ? stake.bet : 0 - stake.win)
  }

  return {
    send: (message) => {
      const known = moved.get(message)
      if (known !== undefined) return settled("replayed", known ?? 0, known === null ? undefined : state())
      switch (message) {
        case "bet":
          return sendBet()
        case "win":
          return sendWin()
        case "rollback-bet":
          return sendRollback(message, "bet")
        case "rollback-win":
          return sendRollback(message, "win")
        case "close": {
          const status = isClosed ? "replayed" : "processed"
          isClosed = true
          return settled(status, 0, "closed")
        }
      }
    },
    fate: (message) =>
      message === "bet" || message === "win" ? fates[message] : moved.has(message) ? "processed" : "unknown"
  }
}

/**
 * Model of a player's wallet from the contract alone: real money, without bonuses and limits. Returns the answer to each message, in any
 * order and any number of times, and the wallet after it. Shares nothing with the service.
 */
import { HashMap, Option } from "effect"
import {
  type Bet,
  type BetWin,
  type Close,
  currency,
  type Message,
  type PromoWin,
  type Rollback,
  type Round,
  type Win
} from "./WalletMessages.ts"

export type PaymentStatus = "new" | "allowed" | "paid" | "rejected" | "cancelled"

interface KnownRound {
  readonly isClosed: boolean
  /** Wins above zero that were not rolled back. */
  readonly paidWins: number
}

/** The effect under a transaction id or a payment's reference. */
type Known =
  | { readonly kind: "tombstone" }
  | { readonly kind: "payment"; readonly amount: number; readonly status: PaymentStatus }
  | {
    readonly kind: "settled"
    readonly message: Bet | Win | Rollback | PromoWin
    /** Signed amount. */
    readonly moved: number
    /** The round it belongs to; undefined where there is none. */
    readonly round: Round | undefined
    readonly isRolledBack: boolean
  }

export interface Wallet {
  readonly currency: string
  readonly balance: number
  readonly walletSeq: number
  /** How many ledger entries there are. */
  readonly entries: number
  readonly known: HashMap.HashMap<string, Known>
  readonly rounds: HashMap.HashMap<string, KnownRound>
}

export const emptyWallet: Wallet = {
  currency,
  balance: 0,
  walletSeq: 0,
  entries: 0,
  known: HashMap.empty(),
  rounds: HashMap.empty()
}

/** Answer to a settled message. Undefined fields are not specified by the contract. */
export interface Settled {
  readonly status: "processed" | "replayed" | "ignored" | undefined
  readonly moved: number
  readonly balance: number
  readonly walletSeq: number
  readonly entries: number
  readonly roundState: "open" | "closed" | undefined
}

export type Expected =
  | { readonly _tag: "Settled"; readonly results: ReadonlyArray<Settled> }
  | {
    readonly _tag: "Refused"
    readonly status: number
    readonly code: string
    /** Required `details.balance`, if any. */
    readonly balance?: number
  }

export interface Decided {
  readonly expected: Expected
  readonly wallet: Wallet
}

export const keyOf = ({ gameId, roundId }: Round): string => `${gameId} ${roundId}`

const freshRound: KnownRound = { isClosed: false, paidWins: 0 }

const roundOf = (wallet: Wallet, round: Round): KnownRound =>
  Option.getOrElse(HashMap.get(wallet.rounds, keyOf(round)), () => freshRound)

const stateOf = (wallet: Wallet, round: Round | undefined): "open" | "closed" | undefined =>
  round === undefined ? undefined : roundOf(wallet, round).isClosed ? "closed" : "open"

export const find = (wallet: Wallet, id: string): Known | undefined =>
  Option.getOrUndefined(HashMap.get(wallet.known, id))

export const remember = (wallet: Wallet, id: string, known: Known): Wallet => ({
  ...wallet,
  known: HashMap.set(wallet.known, id, known)
})

const withRound = (wallet: Wallet, round: Round, change: Partial<KnownRound>): Wallet => ({
  ...wallet,
  rounds: HashMap.set(wallet.rounds, keyOf(round), { ...roundOf(wallet, round), ...change })
})

const refused = (wallet: Wallet, status: number, code: string, balance?: number): Decided => ({
  expected: { _tag: "Refused", status, code, ...(balance === undefined ? {} : { balance }) },
  wallet
})

const settled = (
  wallet: Wallet,
  status: Settled["status"],
  moved: number,
  roundState: Settled["roundState"]
): Decided => ({
  expected: {
    _tag: "Settled",
    results: [{
      status,
      moved,
      balance: wallet.balance,
      walletSeq: wallet.walletSeq,
      entries: moved === 0 ? 0 : 1,
      roundState
    }]
  },
  wallet
})

/** The wallet after money came or went in one action, such as a deposit. */
export const move = (wallet: Wallet, amount: number): Wallet =>
  amount === 0
    ? wallet
    : { ...wallet, balance: wallet.balance + amount, walletSeq: wallet.walletSeq + 1, entries: wallet.entries + 1 }

const isSame = (known: Known, message: Bet | Win | Rollback | PromoWin): boolean => {
  if (known.kind !== "settled") return false
  const earlier = known.message
  switch (message.kind) {
    case "bet":
      return earlier.kind === "bet" && earlier.amount === message.amount && earlier.currency === message.currency &&
        keyOf(earlier.round) === keyOf(message.round)
    case "win":
      return earlier.kind === "win" && earlier.amount === message.amount && earlier.betId === message.betId &&
        keyOf(earlier.round) === keyOf(message.round)
    case "rollback":
      return earlier.kind === "rollback" && earlier.targetId === message.targetId
    case "promo_win":
      return earlier.kind === "promo_win" && earlier.amount === message.amount && earlier.prize === message.prize
  }
}

/** Answer to a known id, independent of later changes of the player. */
const again = (wallet: Wallet, known: Known, message: Bet | Win | Rollback | PromoWin): Decided =>
  known.kind !== "settled"
    ? message.kind === "bet" || message.kind === "win"
      ? refused(wallet, 409, "BET_ROLLED_BACK")
      : refused(wallet, 409, "DUPLICATE_TRANSACTION")
    : isSame(known, message)
    ? settled(wallet, "replayed", known.moved, stateOf(wallet, known.round))
    : refused(wallet, 409, "DUPLICATE_TRANSACTION")

const accept = (
  wallet: Wallet,
  message: Bet | Win | Rollback | PromoWin,
  moved: number,
  round: Round | undefined
): Wallet => remember(move(wallet, moved), message.id, { kind: "settled", message, moved, round, isRolledBack: false })

const decideBet = (wallet: Wallet, bet: Bet): Decided => {
  const known = find(wallet, bet.id)
  if (known !== undefined) return again(wallet, known, bet)
  if (bet.session === "demo") return refused(wallet, 401, "INVALID_SESSION")
  if (bet.currency !== wallet.currency) return refused(wallet, 422, "VALIDATION_FAILED")
  if (roundOf(wallet, bet.round).isClosed) return refused(wallet, 409, "ROUND_CLOSED")
  if (wallet.balance < 0 || bet.amount > wallet.balance) {
    return refused(wallet, 402, "INSUFFICIENT_FUNDS", wallet.balance)
  }
  const after = withRound(accept(wallet, bet, 0 - bet.amount, bet.round), bet.round, { isClosed: bet.closes })
  return settled(after, "processed", 0 - bet.amount, stateOf(after, bet.round))
}

const decideWin = (wallet: Wallet, win: Win): Decided => {
  const known = find(wallet, win.id)
  if (known !== undefined) return again(wallet, known, win)
  const bet = find(wallet, win.betId)
  if (bet === undefined) return refused(wallet, 404, "BET_NOT_FOUND")
  if (bet.kind !== "settled" || bet.isRolledBack) return refused(wallet, 409, "BET_ROLLED_BACK")
  if (bet.message.kind !== "bet" || keyOf(bet.message.round) !== keyOf(win.round)) {
    return refused(wallet, 404, "BET_NOT_FOUND")
  }
  const round = roundOf(wallet, win.round)
  if (round.isClosed) return refused(wallet, 409, "ROUND_CLOSED")
  const after = withRound(accept(wallet, win, win.amount, win.round), win.round, {
    isClosed: win.closes,
    paidWins: round.paidWins + (win.amount > 0 ? 1 : 0)
  })
  return settled(after, "processed", win.amount, stateOf(after, win.round))
}

const decideRollback = (wallet: Wallet, rollback: Rollback): Decided => {
  const known = find(wallet, rollback.id)
  if (known !== undefined) return again(wallet, known, rollback)
  const target = find(wallet, rollback.targetId)
  if (target?.kind !== "settled") {
    const after = remember(accept(wallet, rollback, 0, undefined), rollback.targetId, { kind: "tombstone" })
    return settled(after, "ignored", 0, undefined)
  }
  if (target.message.kind === "rollback") return refused(wallet, 409, "ROLLBACK_NOT_ALLOWED")
  if (target.isRolledBack) {
    return settled(accept(wallet, rollback, 0, target.round), "ignored", 0, stateOf(wallet, target.round))
  }
  const paidWins = target.round === undefined ? 0 : roundOf(wallet, target.round).paidWins
  if (target.message.kind === "bet" && paidWins > 0) return refused(wallet, 409, "BET_ALREADY_SETTLED")
  const moved = 0 - target.moved
  const taken = remember(accept(wallet, rollback, moved, target.round), rollback.targetId, {
    ...target,
    isRolledBack: true
  })
  const after = target.round !== undefined && target.message.kind === "win" && target.moved > 0
    ? withRound(taken, target.round, { paidWins: paidWins - 1 })
    : taken
  return settled(after, "processed", moved, stateOf(after, target.round))
}

/** Bet and win are one action: one commit, and the wallet sequence rises once. */
const decideBetWin = (wallet: Wallet, { bet, win }: BetWin): Decided => {
  const first = decideBet(wallet, bet)
  if (first.expected._tag === "Refused") return first
  const second = decideWin(first.wallet, win)
  if (second.expected._tag === "Refused") return { expected: second.expected, wallet }
  const [placed, paid] = [first.expected.results[0], second.expected.results[0]]
  if (placed === undefined || paid === undefined) return second
  const walletSeq = Math.min(second.wallet.walletSeq, wallet.walletSeq + 1)
  return {
    expected: {
      _tag: "Settled",
      results: [{ ...paid, moved: placed.moved + paid.moved, entries: placed.entries + paid.entries, walletSeq }]
    },
    wallet: { ...second.wallet, walletSeq }
  }
}

const decidePromoWin = (wallet: Wallet, win: PromoWin): Decided => {
  const known = find(wallet, win.id)
  return known === undefined
    ? settled(accept(wallet, win, win.amount, undefined), "processed", win.amount, undefined)
    : again(wallet, known, win)
}

const decideClose = (wallet: Wallet, { round }: Close): Decided => {
  const status = roundOf(wallet, round).isClosed ? undefined : "processed"
  return settled(withRound(wallet, round, { isClosed: true }), status, 0, "closed")
}

/** In order, all or nothing. */
const decideAll = (wallet: Wallet, messages: ReadonlyArray<Message>): Decided => {
  const results: Array<Settled> = []
  let after = wallet
  for (const message of messages) {
    const one = decide(after, message)
    if (one.expected._tag === "Refused") return { expected: one.expected, wallet }
    results.push(...one.expected.results)
    after = one.wallet
  }
  return { expected: { _tag: "Settled", results }, wallet: after }
}

/** The answer to a message, and the wallet after it. One that is refused or known leaves the wallet as it is. */
export const decide = (wallet: Wallet, message: Message): Decided => {
  switch (message.kind) {
    case "bet":
      return decideBet(wallet, message)
    case "win":
      return decideWin(wallet, message)
    case "rollback":
      return decideRollback(wallet, message)
    case "bet_win":
      return decideBetWin(wallet, message)
    case "promo_win":
      return decidePromoWin(wallet, message)
    case "close":
      return decideClose(wallet, message)
    case "batch":
      return decideAll(wallet, message.actions)
  }
}

/** The status of the message with this id, as the wallet API answers it. */
export const fateOf = (wallet: Wallet, id: string): "unknown" | "processed" | "rolled_back" | "tombstone" => {
  const known = find(wallet, id)
  return known === undefined
    ? "unknown"
    : known.kind !== "settled"
    ? "tombstone"
    : known.isRolledBack
    ? "rolled_back"
    : "processed"
}

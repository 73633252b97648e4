/**
 * Model of a player's wallet from the contract alone: real money, without bonuses and limits. Returns the answer to each message, in any
 * order and any number of times, and the wallet after it. Shares nothing with the service.
 */
import { HashMap, Option } from "effect"
import type { Rules } from "./Linearizability.ts"
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

export interface PaymentRequest {
  readonly kind: "deposit" | "withdrawal"
  /** The external reference. */
  readonly id: string
  readonly amount: number
  /** Sent with an idempotency key: the answer can be the stored one. */
  readonly isKeyed: boolean
}

/** A transition that staff request of the withdrawal with a reference. */
export interface TransitionRequest {
  readonly kind: "move"
  readonly move: "approve" | "pay" | "reject" | "cancel"
  readonly reference: string
}

type PaymentStatus = "new" | "allowed" | "paid" | "rejected" | "cancelled"

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
  readonly balance: number
  readonly walletSeq: number
  /** How many ledger entries there are. */
  readonly entries: number
  readonly known: HashMap.HashMap<string, Known>
  readonly rounds: HashMap.HashMap<string, KnownRound>
}

export const emptyWallet: Wallet = {
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

const keyOf = ({ gameId, roundId }: Round): string => `${gameId} ${roundId}`

const freshRound: KnownRound = { isClosed: false, paidWins: 0 }

const roundOf = (wallet: Wallet, round: Round): KnownRound =>
  Option.getOrElse(HashMap.get(wallet.rounds, keyOf(round)), () => freshRound)

const stateOf = (wallet: Wallet, round: Round | undefined): "open" | "closed" | undefined =>
  round === undefined ? undefined : roundOf(wallet, round).isClosed ? "closed" : "open"

const find = (wallet: Wallet, id: string): Known | undefined => Option.getOrUndefined(HashMap.get(wallet.known, id))

const remember = (wallet: Wallet, id: string, known: Known): Wallet => ({
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

/** The wallet after money came or went in one action. */
const move = (wallet: Wallet, amount: number): Wallet =>
  amount === 0
    ? wallet
    : { ...wallet, balance: wallet.balance + amount, walletSeq: wallet.walletSeq + 1, entries: wallet.entries + 1 }

/** The wallet after a deposit. */
export const credit = move

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
  if (bet.currency !== currency) return refused(wallet, 422, "VALIDATION_FAILED")
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

// Histories: the model as rules of a search for an order

export type Input = Message | PaymentRequest | TransitionRequest | { readonly kind: "look" }

/** The answer to one message of a provider, as far as the model knows it. */
export type ReportedResult = Pick<Settled, "status" | "moved" | "balance" | "walletSeq">

export type Output =
  | { readonly _tag: "Answered"; readonly results: ReadonlyArray<ReportedResult> }
  | { readonly _tag: "Paid"; readonly isNew: boolean }
  /** Not new: the payment had this status already. */
  | { readonly _tag: "Moved"; readonly isNew: boolean }
  | { readonly _tag: "Seen"; readonly balance: number }
  | { readonly _tag: "Refused"; readonly code: string }

/** The statuses from which a move starts, and where it leads. */
export const moves: {
  readonly [move in TransitionRequest["move"]]: {
    readonly from: ReadonlyArray<PaymentStatus>
    readonly to: PaymentStatus
  }
} = {
  approve: { from: ["new"], to: "allowed" },
  pay: { from: ["allowed"], to: "paid" },
  reject: { from: ["new", "allowed"], to: "rejected" },
  cancel: { from: ["new"], to: "cancelled" }
}

const matchesResults = (expected: ReadonlyArray<Settled>, told: ReadonlyArray<ReportedResult>): boolean =>
  expected.length === told.length && expected.every(({ balance, moved, status, walletSeq }, index) => {
    const other = told[index]
    return other !== undefined && (status ?? other.status) === other.status && moved === other.moved &&
      balance === other.balance && walletSeq === other.walletSeq
  })

/** Whether the answer, if there is one, is a refusal with this code. */
const isRefusal = (output: Output | undefined, code: string): boolean =>
  output === undefined || (output._tag === "Refused" && output.code === code)

const stepMessage = (before: Wallet, message: Message, output?: Output): Wallet | undefined => {
  const { expected, wallet } = decide(before, message)
  if (expected._tag === "Refused") return isRefusal(output, expected.code) ? wallet : undefined
  return output === undefined || (output._tag === "Answered" && matchesResults(expected.results, output.results))
    ? wallet
    : undefined
}

const stepPayment = (wallet: Wallet, { amount, id, isKeyed, kind }: PaymentRequest, output?: Output) => {
  if (find(wallet, id) !== undefined) {
    return output === undefined || (output._tag === "Paid" && !output.isNew) ? wallet : undefined
  }
  if (kind === "withdrawal" && wallet.balance < amount) {
    return isRefusal(output, "INSUFFICIENT_FUNDS") ? wallet : undefined
  }
  if (output !== undefined && !(output._tag === "Paid" && (output.isNew || isKeyed))) return undefined
  const [signed, status] = kind === "deposit" ? [amount, "paid" as const] : [-amount, "new" as const]
  return remember(move(wallet, signed), id, { kind: "payment", amount, status })
}

const stepMove = (wallet: Wallet, { move: name, reference }: TransitionRequest, output?: Output) => {
  const { from, to } = moves[name]
  const payment = find(wallet, reference)
  if (payment?.kind !== "payment") return output === undefined ? wallet : undefined
  const isNew = from.includes(payment.status)
  if (!isNew && payment.status !== to) return output === undefined ? wallet : undefined
  if (output !== undefined && !(output._tag === "Moved" && output.isNew === isNew)) return undefined
  if (!isNew) return wallet
  const isRefund = to === "rejected" || to === "cancelled"
  return remember(move(wallet, isRefund ? payment.amount : 0), reference, { ...payment, status: to })
}

/** Every id that an input names, and every round that it may close. */
const namesOf = (input: Input): ReadonlyArray<string> => {
  switch (input.kind) {
    case "look":
      return []
    case "move":
      return [input.reference]
    case "close":
      return [keyOf(input.round)]
    case "batch":
      return input.actions.flatMap(namesOf)
    case "bet_win":
      return [input.bet, input.win].flatMap(namesOf)
    case "rollback":
      return [input.id, input.targetId]
    case "bet":
    case "win":
      return input.closes ? [input.id, keyOf(input.round)] : [input.id]
    default:
      return [input.id]
  }
}

/** One letter for the effect under a name. */
const letterOf = (wallet: Wallet, name: string): string => {
  const known = find(wallet, name)
  if (known === undefined) return Option.getOrUndefined(HashMap.get(wallet.rounds, name))?.isClosed === true ? "c" : "."
  if (known.kind === "tombstone") return "b"
  if (known.kind === "payment") return known.status.charAt(0)
  return known.isRolledBack ? "t" : known.moved === 0 && known.message.kind === "rollback" ? "i" : "d"
}

const step = (wallet: Wallet, input: Input, output?: Output): Wallet | undefined => {
  switch (input.kind) {
    case "deposit":
    case "withdrawal":
      return stepPayment(wallet, input, output)
    case "move":
      return stepMove(wallet, input, output)
    case "look":
      return output === undefined || (output._tag === "Seen" && output.balance === wallet.balance) ? wallet : undefined
    default:
      return stepMessage(wallet, input, output)
  }
}

/** A wallet with a letter for each name, in one order: the part of its key that an input changes at the names of that input only. */
interface LetteredWallet extends Wallet {
  readonly letters: string
}

/** Rules for a player with an initial balance. `inputs`: all messages of the run. */
export const walletRules = (
  start: { readonly balance: number; readonly walletSeq: number },
  inputs: ReadonlyArray<Input>
): Rules<LetteredWallet, Input, Output> => {
  const places = new Map([...new Set(inputs.flatMap(namesOf))].map((name, place) => [name, place]))
  return {
    start: { ...emptyWallet, ...start, letters: ".".repeat(places.size) },
    keyOf: ({ balance, letters, walletSeq }) => `${balance} ${walletSeq} ${letters}`,
    step: (before, input, output) => {
      const after = step(before, input, output)
      if (after === undefined || after === before) return after === undefined ? undefined : before
      let { letters } = before
      for (const name of namesOf(input)) {
        const place = places.get(name) ?? 0
        letters = letters.slice(0, place) + letterOf(after, name) + letters.slice(place + 1)
      }
      return { ...after, letters }
    }
  }
}

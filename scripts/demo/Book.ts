/**
 * A player's money and rounds as a provider may expect them, from the contract of the wallet API alone: which answer each message
 * gets, in whatever order messages come and however often. Nothing of the service is used here; that is what makes it a check.
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
} from "./Message.ts"

interface KnownRound {
  readonly isClosed: boolean
  /** Wins above zero that stand. */
  readonly paidWins: number
}

/** What stands under a transaction id, for ever. */
type Known =
  | { readonly kind: "tombstone" }
  | {
    readonly kind: "settled"
    readonly message: Bet | Win | Rollback | PromoWin
    /** What it moved, signed. */
    readonly moved: number
    /** The round it belongs to; undefined where there is none. */
    readonly round: Round | undefined
    readonly isRolledBack: boolean
  }

export interface Book {
  readonly balance: number
  readonly walletSeq: number
  /** How many ledger entries there are. */
  readonly entries: number
  readonly known: HashMap.HashMap<string, Known>
  readonly rounds: HashMap.HashMap<string, KnownRound>
}

export const emptyBook: Book = {
  balance: 0,
  walletSeq: 0,
  entries: 0,
  known: HashMap.empty(),
  rounds: HashMap.empty()
}

/** What a settled message answers. Undefined: the contract leaves it open. */
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
    /** What `details.balance` has to say, where it has to. */
    readonly balance?: number
  }

export interface Decided {
  readonly expected: Expected
  readonly book: Book
}

const keyOf = ({ gameId, roundId }: Round): string => `${gameId} ${roundId}`

const freshRound: KnownRound = { isClosed: false, paidWins: 0 }

const roundOf = (book: Book, round: Round): KnownRound =>
  Option.getOrElse(HashMap.get(book.rounds, keyOf(round)), () => freshRound)

const stateOf = (book: Book, round: Round | undefined): "open" | "closed" | undefined =>
  round === undefined ? undefined : roundOf(book, round).isClosed ? "closed" : "open"

const find = (book: Book, id: string): Known | undefined => Option.getOrUndefined(HashMap.get(book.known, id))

const remember = (book: Book, id: string, known: Known): Book => ({
  ...book,
  known: HashMap.set(book.known, id, known)
})

const withRound = (book: Book, round: Round, change: Partial<KnownRound>): Book => ({
  ...book,
  rounds: HashMap.set(book.rounds, keyOf(round), { ...roundOf(book, round), ...change })
})

const refused = (book: Book, status: number, code: string, balance?: number): Decided => ({
  expected: { _tag: "Refused", status, code, ...(balance === undefined ? {} : { balance }) },
  book
})

const settled = (
  book: Book,
  status: Settled["status"],
  moved: number,
  roundState: Settled["roundState"]
): Decided => ({
  expected: {
    _tag: "Settled",
    results: [{
      status,
      moved,
      balance: book.balance,
      walletSeq: book.walletSeq,
      entries: moved === 0 ? 0 : 1,
      roundState
    }]
  },
  book
})

/** The book after money came or went in one action. */
const move = (book: Book, amount: number): Book =>
  amount === 0
    ? book
    : { ...book, balance: book.balance + amount, walletSeq: book.walletSeq + 1, entries: book.entries + 1 }

/** The book after a deposit. */
export const credit = move

const isSame = (known: Known, message: Bet | Win | Rollback | PromoWin): boolean => {
  if (known.kind === "tombstone") return false
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
    case "promo-win":
      return earlier.kind === "promo-win" && earlier.amount === message.amount && earlier.prize === message.prize
  }
}

/** The answer to an id that is known, whatever else has become of the player since. */
const again = (book: Book, known: Known, message: Bet | Win | Rollback | PromoWin): Decided =>
  known.kind === "tombstone"
    ? message.kind === "bet" || message.kind === "win"
      ? refused(book, 409, "BET_ROLLED_BACK")
      : refused(book, 409, "DUPLICATE_TRANSACTION")
    : isSame(known, message)
    ? settled(book, "replayed", known.moved, stateOf(book, known.round))
    : refused(book, 409, "DUPLICATE_TRANSACTION")

const accept = (
  book: Book,
  message: Bet | Win | Rollback | PromoWin,
  moved: number,
  round: Round | undefined
): Book => remember(move(book, moved), message.id, { kind: "settled", message, moved, round, isRolledBack: false })

const decideBet = (book: Book, bet: Bet): Decided => {
  const known = find(book, bet.id)
  if (known !== undefined) return again(book, known, bet)
  if (bet.session === "demo") return refused(book, 401, "INVALID_SESSION")
  if (bet.currency !== currency) return refused(book, 422, "VALIDATION_FAILED")
  if (roundOf(book, bet.round).isClosed) return refused(book, 409, "ROUND_CLOSED")
  if (book.balance < 0 || bet.amount > book.balance) return refused(book, 402, "INSUFFICIENT_FUNDS", book.balance)
  const after = withRound(accept(book, bet, 0 - bet.amount, bet.round), bet.round, { isClosed: bet.closes })
  return settled(after, "processed", 0 - bet.amount, stateOf(after, bet.round))
}

const decideWin = (book: Book, win: Win): Decided => {
  const known = find(book, win.id)
  if (known !== undefined) return again(book, known, win)
  const bet = find(book, win.betId)
  if (bet === undefined) return refused(book, 404, "BET_NOT_FOUND")
  if (bet.kind === "tombstone" || bet.isRolledBack) return refused(book, 409, "BET_ROLLED_BACK")
  if (bet.message.kind !== "bet" || keyOf(bet.message.round) !== keyOf(win.round)) {
    return refused(book, 404, "BET_NOT_FOUND")
  }
  const round = roundOf(book, win.round)
  if (round.isClosed) return refused(book, 409, "ROUND_CLOSED")
  const after = withRound(accept(book, win, win.amount, win.round), win.round, {
    isClosed: win.closes,
    paidWins: round.paidWins + (win.amount > 0 ? 1 : 0)
  })
  return settled(after, "processed", win.amount, stateOf(after, win.round))
}

const decideRollback = (book: Book, rollback: Rollback): Decided => {
  const known = find(book, rollback.id)
  if (known !== undefined) return again(book, known, rollback)
  const target = find(book, rollback.targetId)
  if (target === undefined || target.kind === "tombstone") {
    const after = remember(accept(book, rollback, 0, undefined), rollback.targetId, { kind: "tombstone" })
    return settled(after, "ignored", 0, undefined)
  }
  if (target.message.kind === "rollback") return refused(book, 409, "ROLLBACK_NOT_ALLOWED")
  if (target.isRolledBack) {
    return settled(accept(book, rollback, 0, target.round), "ignored", 0, stateOf(book, target.round))
  }
  const paidWins = target.round === undefined ? 0 : roundOf(book, target.round).paidWins
  if (target.message.kind === "bet" && paidWins > 0) return refused(book, 409, "BET_ALREADY_SETTLED")
  const moved = 0 - target.moved
  const taken = remember(accept(book, rollback, moved, target.round), rollback.targetId, {
    ...target,
    isRolledBack: true
  })
  const after = target.round !== undefined && target.message.kind === "win" && target.moved > 0
    ? withRound(taken, target.round, { paidWins: paidWins - 1 })
    : taken
  return settled(after, "processed", moved, stateOf(after, target.round))
}

/** Bet and win are one action: one commit, and the wallet sequence rises once. */
const decideBetWin = (book: Book, { bet, win }: BetWin): Decided => {
  const first = decideBet(book, bet)
  if (first.expected._tag === "Refused") return first
  const second = decideWin(first.book, win)
  if (second.expected._tag === "Refused") return { expected: second.expected, book }
  const [placed, paid] = [first.expected.results[0], second.expected.results[0]]
  if (placed === undefined || paid === undefined) return second
  const walletSeq = Math.min(second.book.walletSeq, book.walletSeq + 1)
  return {
    expected: {
      _tag: "Settled",
      results: [{ ...paid, moved: placed.moved + paid.moved, entries: placed.entries + paid.entries, walletSeq }]
    },
    book: { ...second.book, walletSeq }
  }
}

const decidePromoWin = (book: Book, win: PromoWin): Decided => {
  const known = find(book, win.id)
  return known === undefined
    ? settled(accept(book, win, win.amount, undefined), "processed", win.amount, undefined)
    : again(book, known, win)
}

const decideClose = (book: Book, { round }: Close): Decided => {
  const status = roundOf(book, round).isClosed ? undefined : "processed"
  return settled(withRound(book, round, { isClosed: true }), status, 0, "closed")
}

/** In order, all or nothing. */
const decideAll = (book: Book, messages: ReadonlyArray<Message>): Decided => {
  const results: Array<Settled> = []
  let after = book
  for (const message of messages) {
    const one = decide(after, message)
    if (one.expected._tag === "Refused") return { expected: one.expected, book }
    results.push(...one.expected.results)
    after = one.book
  }
  return { expected: { _tag: "Settled", results }, book: after }
}

/** What a message is answered, and the book after it. A message that is refused or known leaves the book as it is. */
export const decide = (book: Book, message: Message): Decided => {
  switch (message.kind) {
    case "bet":
      return decideBet(book, message)
    case "win":
      return decideWin(book, message)
    case "rollback":
      return decideRollback(book, message)
    case "bet-win":
      return decideBetWin(book, message)
    case "promo-win":
      return decidePromoWin(book, message)
    case "close":
      return decideClose(book, message)
    case "batch":
      return decideAll(book, message.actions)
  }
}

/** What became of the message with this id, as the wallet API is to say. */
export const fateOf = (book: Book, id: string): "unknown" | "processed" | "rolled_back" | "tombstone" => {
  const known = find(book, id)
  return known === undefined
    ? "unknown"
    : known.kind === "tombstone"
    ? "tombstone"
    : known.isRolledBack
    ? "rolled_back"
    : "processed"
}

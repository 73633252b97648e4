/** Stories at a table: ordinary rounds, and network failures. */
import { Effect, Random } from "effect"
import type { DemoError } from "./DemoError.ts"
import type { Bet, Message, PromoWin } from "../../test/kit/WalletMessages.ts"
import type { GivenUp, Table } from "./Table.ts"

interface Story {
  /** As the summary names it. */
  readonly name: string
  /** Relative frequency. */
  readonly weight: number
  readonly play: (table: Table) => Effect.Effect<void, DemoError | GivenUp>
}

/** Below this the operator records a deposit first, so that the stakes of any story are covered. */
const enough = 3000
const topUp = 5000

const between = (low: number, high: number) => Random.nextIntBetween(low, high)
const inShare = (share: number) => Effect.map(Random.next, (drawn) => drawn < share)
const oneOf = <A>(first: A, ...others: ReadonlyArray<A>) =>
  Effect.map(between(0, others.length), (index) => index === 0 ? first : others[index - 1] ?? first)

const stake = Effect.map(between(1, 50), (tens) => tens * 10)

/** Random win of a stake: mostly zero, sometimes high; about 95 % of the stake on average. */
const payout = (amount: number) =>
  Effect.map(Random.next, (drawn) => drawn < 0.6 ? 0 : drawn < 0.85 ? amount : drawn < 0.95 ? amount * 3 : amount * 8)

const wonPayout = (amount: number) => Effect.map(oneOf(1, 2, 5), (times) => amount * times)

/** A bet of some stake in a round of its own. */
const newBet = (table: Table, more: Partial<Bet> = {}) =>
  Effect.map(stake, (amount) => table.bet(table.newRound(), amount, more))

/** Plays a bet and gives it. */
const placed = Effect.fnUntraced(function*(table: Table) {
  const bet = yield* newBet(table)
  yield* table.send(bet)
  return bet
})

const story = (
  weight: number,
  name: string,
  play: (table: Table) => Effect.Effect<void, DemoError | GivenUp>
): Story => ({ name, weight, play })

const stories: ReadonlyArray<Story> = [
  story(
    24,
    "a bet and its win",
    Effect.fnUntraced(function*(table) {
      const bet = yield* placed(table)
      yield* table.send(table.win(bet, yield* payout(bet.amount), { closes: true }))
    })
  ),
  story(
    8,
    "several bets and wins, then the close",
    Effect.fnUntraced(function*(table) {
      const first = yield* placed(table)
      const second = table.bet(first.round, yield* stake)
      yield* table.send(second)
      yield* table.send(table.win(first, yield* payout(first.amount)))
      yield* table.send(table.win(second, yield* payout(second.amount)))
      const close = { kind: "close", round: first.round } as const
      yield* table.send(close)
      yield* table.send(close)
      yield* table.send(table.bet(first.round, 10))
    })
  ),
  story(
    10,
    "bet and win in one message, sent again",
    Effect.fnUntraced(function*(table) {
      const bet = yield* newBet(table)
      const win = table.win(bet, yield* payout(bet.amount), { closes: true })
      const message = { kind: "bet_win", bet, win } as const
      yield* table.send(message)
      if (yield* inShare(0.5)) yield* table.send(message)
    })
  ),
  story(
    8,
    "each message retried",
    Effect.fnUntraced(function*(table) {
      const bet = yield* placed(table)
      yield* table.send(bet)
      const win = table.win(bet, yield* payout(bet.amount))
      yield* table.send(win)
      yield* table.send(win)
      yield* table.send(bet)
      yield* table.lookUp(bet.id)
    })
  ),
  story(
    8,
    "the same bet twice at the same moment",
    Effect.fnUntraced(function*(table) {
      const bet = yield* newBet(table)
      yield* table.sendTogether([bet, bet])
      const win = table.win(bet, yield* payout(bet.amount), { closes: true })
      yield* table.sendTogether([win, win])
    })
  ),
  story(
    5,
    "a bet, another one and a rollback at the same moment",
    Effect.fnUntraced(function*(table) {
      const bet = yield* newBet(table)
      const other = table.bet(bet.round, yield* stake)
      yield* table.sendTogether([bet, other, table.rollback(bet)])
      yield* table.lookUp(bet.id)
    })
  ),
  story(
    8,
    "a bet rolled back, the rollback retried, a win too late",
    Effect.fnUntraced(function*(table) {
      const bet = yield* placed(table)
      const rollback = table.rollback(bet)
      yield* table.send(rollback)
      yield* table.send(rollback)
      yield* table.send(table.rollback(bet))
      yield* table.send(table.win(bet, bet.amount))
      yield* table.send(table.rollback(rollback))
      yield* table.lookUp(bet.id)
    })
  ),
  story(
    7,
    "a rollback before its bet",
    Effect.fnUntraced(function*(table) {
      const bet = yield* newBet(table)
      yield* table.send(table.rollback(bet))
      yield* table.send(bet)
      yield* table.send(table.rollback(bet))
      yield* table.lookUp(bet.id)
    })
  ),
  story(
    6,
    "a win before its bet, another after the close",
    Effect.fnUntraced(function*(table) {
      const bet = yield* newBet(table)
      const win = table.win(bet, yield* payout(bet.amount), { closes: true })
      yield* table.send(win)
      yield* table.lookUp(win.id)
      yield* table.send(bet)
      yield* table.send(win)
      yield* table.send(table.win(bet, bet.amount))
    })
  ),
  story(
    6,
    "a paid bet cannot be taken back before its win is",
    Effect.fnUntraced(function*(table) {
      const bet = yield* placed(table)
      const win = table.win(bet, yield* wonPayout(bet.amount))
      yield* table.send(win)
      yield* table.send(table.rollback(bet))
      yield* table.send(table.rollback(win))
      yield* table.send(table.rollback(bet))
      yield* table.lookUp(win.id)
    })
  ),
  story(
    4,
    "a win taken back after it was spent",
    Effect.fnUntraced(function*(table) {
      const bet = yield* placed(table)
      const win = table.win(bet, yield* wonPayout(bet.amount))
      yield* table.send(win)
      const all = table.bet(table.newRound(), table.books.book.balance)
      yield* table.send(all)
      yield* table.send(table.rollback(win))
      yield* table.readBalance
      yield* table.send(table.bet(bet.round, 10))
      yield* table.send(table.win(all, all.amount, { closes: true }))
    })
  ),
  story(
    7,
    "a batch, sent again",
    Effect.fnUntraced(function*(table) {
      const first = yield* newBet(table)
      const second = table.bet(first.round, yield* stake)
      const actions = [
        first,
        table.win(first, yield* payout(first.amount)),
        second,
        table.rollback(yield* oneOf<{ readonly id: string }>(second, { id: table.newId() }))
      ]
      const batch = { kind: "batch", id: table.newId(), actions } as const
      yield* table.send(batch)
      if (yield* inShare(0.5)) yield* table.send(batch)
    })
  ),
  story(
    4,
    "a batch with a bet that is refused: nothing of it happens",
    Effect.fnUntraced(function*(table) {
      const first = yield* newBet(table)
      const tooMuch = table.bet(first.round, table.books.book.balance + 10)
      yield* table.send({ kind: "batch", id: table.newId(), actions: [first, tooMuch] })
      yield* table.lookUp(first.id)
    })
  ),
  story(
    5,
    "more than the balance",
    Effect.fnUntraced(function*(table) {
      yield* table.send(table.bet(table.newRound(), table.books.book.balance + (yield* between(1, 1000))))
      yield* table.readBalance
    })
  ),
  story(
    4,
    "an id used again for something else",
    Effect.fnUntraced(function*(table) {
      const bet = yield* placed(table)
      yield* table.send({ ...bet, amount: bet.amount + 10 })
      yield* table.send({ ...bet, round: table.newRound() })
      yield* table.send(table.win(bet, 10, { id: bet.id }))
      yield* table.send({ ...table.rollback(bet), id: bet.id, targetId: table.newId() })
    })
  ),
  story(
    3,
    "a bet in free play, a bet in another currency",
    Effect.fnUntraced(function*(table) {
      yield* table.send(yield* newBet(table, { session: "demo" }))
      yield* table.send(yield* newBet(table, { currency: "USD" }))
    })
  ),
  story(
    7,
    "the line cut during a bet: taken back",
    (table) => Effect.flatMap(newBet(table), table.sendAndHangUp)
  ),
  story(
    6,
    "the line cut during a win, a batch: sent again",
    Effect.fnUntraced(function*(table) {
      const bet = yield* placed(table)
      const win = table.win(bet, yield* wonPayout(bet.amount), { closes: true })
      const batch = { kind: "batch", id: table.newId(), actions: [win, table.bet(table.newRound(), 10)] } as const
      yield* table.sendAndHangUp(yield* oneOf<Message>(win, batch))
    })
  ),
  story(
    3,
    "a deposit, recorded three times",
    (table) => table.deposit(topUp)
  ),
  story(
    3,
    "a prize outside any round",
    Effect.fnUntraced(function*(table) {
      const prize = yield* oneOf<PromoWin["prize"]>("jackpot", "tournament", "free_rounds", "cash_drop")
      const win = { kind: "promo_win", id: table.newId(), amount: yield* stake, prize } as const
      yield* table.send(win)
      yield* table.send(win)
    })
  )
]

const allWeights = stories.reduce((sum, { weight }) => sum + weight, 0)

const drawStory = Effect.map(Random.next, (drawn) => {
  let left = drawn * allWeights
  return stories.find(({ weight }) => (left -= weight) < 0) ?? stories[0]
})

/** Plays one story; gives its name. */
export const playStory = Effect.fnUntraced(function*(table: Table) {
  if (table.books.book.balance < enough) yield* table.deposit(topUp)
  const story = yield* drawStory
  if (story === undefined) return ""
  // A bet rolled back after an unknown outcome ends its round, as expected.
  yield* Effect.catchTag(story.play(table), "GivenUp", () => Effect.void)
  return story.name
})

/** What happens in a game: ordinary rounds, and what goes wrong between machines that talk over a network. */
import { Effect, Random } from "effect"
import { randomUUID } from "node:crypto"
import { toMinorUnits } from "../../src/protocols/Decimal.ts"
import type { BetMessage, Dialect, Grant, PromoMessage } from "./Dialect.ts"
import type { Seat } from "./Seat.ts"

interface Story {
  /** As the summary names it. */
  readonly name: string
  /** How often it is told, in relation to the others. */
  readonly weight: number
  readonly isPossible: (dialect: Dialect) => boolean
  readonly play: (seat: Seat) => Effect.Effect<void>
}

const between = (low: number, high: number) => Random.nextIntBetween(low, high)

/** A stake that the player has, and has left for the next ones. */
const stakeOf = ({ books }: Seat) => between(1, Math.max(1, Math.min(500, Math.floor(books.balance / 8))))

/** What a stake wins: mostly nothing, sometimes much; somewhat more than it on average, so that play goes on. */
const payout = (stake: number) =>
  Effect.map(Random.next, (drawn) => drawn < 0.55 ? 0 : drawn < 0.85 ? stake : drawn < 0.95 ? stake * 3 : stake * 10)

/** A bet in a round of its own or in this one, placed. */
const placed = Effect.fnUntraced(function*(seat: Seat, roundId?: string) {
  const stake = yield* stakeOf(seat)
  const bet = seat.newBet(stake, roundId)
  yield* seat.send(bet)
  return { bet, stake }
})

const promoOf = (seat: Seat, minor: number, grant: string | null = null): PromoMessage => ({
  kind: "promo",
  id: randomUUID(),
  gameId: seat.session().gameId,
  amount: seat.amount(minor),
  grant
})

type Play = (seat: Seat) => Generator<Effect.Effect<unknown>, void, never>

const storyWhere = (isPossible: Story["isPossible"], weight: number, name: string, play: Play): Story => ({
  name,
  weight,
  isPossible,
  play: Effect.fnUntraced(play)
})

const story = (weight: number, name: string, play: Play) => storyWhere(() => true, weight, name, play)

const pay = Effect.fnUntraced(function*(seat: Seat, bet: BetMessage, stake: number, closes = true) {
  const win = seat.winOf(bet, yield* payout(stake), closes)
  yield* seat.send(win)
  return win
})

const stories: ReadonlyArray<Story> = [
  story(24, "a bet and its win", function*(seat) {
    const { bet, stake } = yield* placed(seat)
    yield* pay(seat, bet, stake)
  }),
  story(6, "a bet that wins nothing", function*(seat) {
    const { bet } = yield* placed(seat)
    const win = seat.winOf(bet, 0)
    yield* seat.send(win)
    yield* seat.send(win)
  }),
  story(10, "a bet and its win, each sent again", function*(seat) {
    const { bet, stake } = yield* placed(seat)
    yield* seat.send(bet)
    const win = yield* pay(seat, bet, stake)
    yield* seat.send(win)
    yield* seat.send(bet)
  }),
  storyWhere(
    ({ winsName }) => winsName === "bet",
    6,
    "several bets in a round, settled each on its own",
    function*(seat) {
      const first = yield* placed(seat)
      const second = yield* placed(seat, first.bet.roundId)
      const third = yield* placed(seat, first.bet.roundId)
      yield* pay(seat, second.bet, second.stake, false)
      yield* seat.send(seat.rollbackOf(third.bet))
      yield* pay(seat, first.bet, first.stake)
    }
  ),
  story(6, "several bets in a round, one rolled back, one win for the round", function*(seat) {
    const first = yield* placed(seat)
    const second = yield* placed(seat, first.bet.roundId)
    yield* seat.send(seat.rollbackOf(second.bet))
    yield* pay(seat, first.bet, first.stake)
  }),
  story(4, "a bet rolled back, the rollback sent again", function*(seat) {
    const { bet } = yield* placed(seat)
    const rollback = seat.rollbackOf(bet)
    yield* seat.send(rollback)
    yield* seat.send(rollback)
    yield* seat.send(bet)
  }),
  story(4, "a rollback that overtakes its bet", function*(seat) {
    const bet = seat.newBet(yield* stakeOf(seat))
    const rollback = seat.rollbackOf(bet)
    yield* seat.send(rollback)
    yield* seat.send(bet)
    yield* seat.send(bet)
    yield* seat.send(rollback)
  }),
  story(3, "a win of a bet that was rolled back", function*(seat) {
    const { bet, stake } = yield* placed(seat)
    yield* seat.send(seat.rollbackOf(bet))
    yield* seat.send(seat.winOf(bet, stake))
  }),
  story(3, "a rollback of a bet that was paid", function*(seat) {
    const { bet, stake } = yield* placed(seat)
    yield* seat.send(seat.winOf(bet, stake))
    yield* seat.send(seat.rollbackOf(bet))
  }),
  story(3, "two wins of one bet", function*(seat) {
    const { bet, stake } = yield* placed(seat)
    yield* seat.send(seat.winOf(bet, stake, false))
    yield* seat.send(seat.winOf(bet, stake * 2))
  }),
  story(2, "a win and a rollback of nothing", function*(seat) {
    const bet = seat.newBet(yield* stakeOf(seat))
    yield* seat.send(seat.winOf(bet, 1))
    yield* seat.send(seat.rollbackOf(seat.newBet(1)))
  }),
  story(4, "the same bet and the same win many times at once", function*(seat) {
    const stake = yield* stakeOf(seat)
    const bet = seat.newBet(stake)
    yield* seat.sendAtOnce(bet, yield* between(2, 8))
    yield* seat.sendAtOnce(seat.winOf(bet, stake * 2), yield* between(2, 8))
  }),
  story(2, "the same rollback many times at once", function*(seat) {
    const { bet } = yield* placed(seat)
    yield* seat.sendAtOnce(seat.rollbackOf(bet), yield* between(2, 8))
  }),
  story(4, "a bet whose answer is too late, rolled back", function*(seat) {
    const bet = seat.newBet(yield* stakeOf(seat))
    yield* seat.giveUp(bet, seat.rollbackOf(bet), yield* between(1, 8))
  }),
  story(3, "a win whose answer is too late, sent again", function*(seat) {
    const { bet, stake } = yield* placed(seat)
    yield* seat.giveUpWin(seat.winOf(bet, stake), yield* between(1, 8))
  }),
  story(3, "a win that comes rounds later", function*(seat) {
    const late = yield* placed(seat)
    const next = yield* placed(seat)
    yield* pay(seat, next.bet, next.stake)
    const last = yield* placed(seat)
    yield* seat.send(seat.rollbackOf(last.bet))
    yield* pay(seat, late.bet, late.stake)
  }),
  storyWhere(({ betWin }) => betWin, 3, "bet and win in one call, sent again", function*(seat) {
    const stake = yield* stakeOf(seat)
    const bet = seat.newBet(stake)
    const message = { kind: "bet_win", bet, win: seat.winOf(bet, yield* payout(stake)) } as const
    yield* seat.send(message)
    yield* seat.send(message)
  }),
  storyWhere(({ promo }) => promo, 3, "a prize, sent again", function*(seat) {
    const promo = promoOf(seat, yield* between(1, 300))
    yield* seat.send(promo)
    yield* seat.send(promo)
  }),
  storyWhere(({ close }) => close, 2, "a round that is closed", function*(seat) {
    const { bet, stake } = yield* placed(seat)
    yield* pay(seat, bet, stake, false)
    const close = { kind: "close", roundId: bet.roundId, gameId: bet.gameId } as const
    yield* seat.send(close)
    yield* seat.send(close)
  }),
  story(2, "a stake beyond the balance", function*(seat) {
    const stake = seat.books.balance + (yield* between(1, 1000))
    yield* seat.send(seat.newBet(Math.max(1, stake)))
  }),
  story(2, "an amount that is no amount", function*(seat) {
    const { dialect, digits } = seat
    const bet = seat.newBet(1)
    const amount = dialect.tooFine(bet.amount, digits)
    if (amount !== undefined) yield* seat.send({ ...bet, amount }, { situation: "too_fine" })
  }),
  storyWhere(({ malformed }) => malformed, 2, "a body that cannot be read", function*(seat) {
    yield* seat.send(seat.newBet(1), { situation: "malformed", damage: "body" })
  }),
  storyWhere(({ authenticate }) => authenticate === "exchanges", 2, "a token that is exchanged", function*(seat) {
    const before = seat.session()
    yield* seat.send({ kind: "authenticate" })
    if (seat.session().token !== before.token) {
      yield* seat.send(seat.newBet(1), { session: before, situation: "over" })
    }
  }),
  storyWhere(({ sessions }) => sessions, 1, "a session that is none", function*(seat) {
    const session = { ...seat.session(), token: randomUUID() }
    yield* seat.send(seat.newBet(1), { session, situation: "over" })
  }),
  storyWhere(({ balance }) => balance, 3, "the balance", function*(seat) {
    yield* seat.send({ kind: "balance" })
  })
]

/** Signatures that are wrong, once for each player at most: wallets count them, and shut out who sends many. */
export const forge = (seat: Seat) =>
  Effect.asVoid(seat.send(seat.newBet(1), { situation: "forged", damage: "signature" }))

/** Plays free rounds to their end: bet by bet where the protocol has them so, else their winnings in one sum. */
export const playFreeRounds = Effect.fnUntraced(function*(seat: Seat, grant: Grant) {
  const { dialect, digits } = seat
  const stake = toMinorUnits(grant.stake, digits) ?? 1
  if (dialect.freeRounds === "total") {
    const promo = promoOf(seat, stake * grant.rounds, grant.reference)
    yield* seat.send(promo)
    yield* seat.send(promo)
  }
  if (dialect.freeRounds !== "bets") return
  for (let round = 0; round < grant.rounds; round++) {
    const bet = seat.newBet(stake, undefined, grant.reference)
    yield* seat.send(bet)
    yield* pay(seat, bet, stake)
  }
})

/** Plays one story, drawn by weight, and gives its name. */
export const playStory = Effect.fnUntraced(function*(seat: Seat) {
  const possible = stories.filter(({ isPossible }) => isPossible(seat.dialect))
  let drawn = (yield* Random.next) * possible.reduce((sum, { weight }) => sum + weight, 0)
  const story = possible.find(({ weight }) => (drawn -= weight) < 0) ?? possible[0]
  if (story === undefined) return "nothing"
  yield* story.play(seat)
  seat.books.forget()
  return story.name
})

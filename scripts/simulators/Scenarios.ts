/** What happens in a game: ordinary rounds, and what goes wrong between machines that talk over a network. */
import { Effect, Random } from "effect"
import { randomUUID } from "node:crypto"
import { toMinorUnits } from "../../src/protocols/Decimal.ts"
import type { BetMessage, Dialect, Grant, Message, PromoMessage } from "./Dialect.ts"
import type { GivenUp, PlayerSession } from "./PlayerSession.ts"
import type { SimulatorError } from "./SimulatorError.ts"

type Played = Effect.Effect<void, GivenUp | SimulatorError>

export interface Scenario {
  /** As the summary names it. */
  readonly name: string
  /** How often it is played, in relation to the others. */
  readonly weight: number
  readonly isPossible: (dialect: Dialect) => boolean
  readonly play: (player: PlayerSession) => Played
}

const between = (low: number, high: number) => Random.nextIntBetween(low, high)
const inShare = (share: number) => Effect.map(Random.next, (drawn) => drawn < share)
const oneOf = <A>(first: A, ...others: ReadonlyArray<A>) =>
  Effect.map(between(0, others.length), (index) => index === 0 ? first : others[index - 1] ?? first)

/** A stake that the player has, and has left for the next ones. */
const stakeOf = (player: PlayerSession) => between(1, Math.max(1, Math.min(500, Math.floor(player.balance() / 8))))

/** What a stake wins: mostly nothing, sometimes much; somewhat more than it on average, so that play goes on. */
const payout = (stake: number) =>
  Effect.map(Random.next, (drawn) => drawn < 0.55 ? 0 : drawn < 0.85 ? stake : drawn < 0.95 ? stake * 3 : stake * 10)

const newBet = Effect.fnUntraced(function*(player: PlayerSession, roundId?: string) {
  const stake = yield* stakeOf(player)
  return { bet: player.newBet(stake, roundId), stake }
})

/** A bet in a round of its own or in this one, placed. */
const placed = Effect.fnUntraced(function*(player: PlayerSession, roundId?: string) {
  const made = yield* newBet(player, roundId)
  yield* player.send(made.bet)
  return made
})

const promoOf = (player: PlayerSession, minor: number, grant: string | null = null): PromoMessage => ({
  kind: "promo",
  id: player.newId(),
  gameId: player.session().gameId,
  amount: player.amountOf(minor),
  grant
})

const lookUp = (player: PlayerSession, id: string) =>
  player.dialect.lookUp === true ? Effect.asVoid(player.send({ kind: "look_up", id })) : Effect.void

const copies = (message: Message, times: number): ReadonlyArray<Message> => Array.from({ length: times }, () => message)

type Play = (player: PlayerSession) => Generator<Effect.Effect<unknown, GivenUp | SimulatorError>, void, never>

const scenarioWhere = (isPossible: Scenario["isPossible"], weight: number, name: string, play: Play): Scenario => ({
  name,
  weight,
  isPossible,
  play: Effect.fnUntraced(play)
})

const scenario = (weight: number, name: string, play: Play) => scenarioWhere(() => true, weight, name, play)

/** Only where the description decides every message in every state. */
const exact = (weight: number, name: string, play: Play) =>
  scenarioWhere(({ isExact }) => isExact === true, weight, name, play)

const pay = Effect.fnUntraced(function*(player: PlayerSession, bet: BetMessage, stake: number, closes = true) {
  const win = player.winOf(bet, yield* payout(stake), closes)
  yield* player.send(win)
  return win
})

const scenarios: ReadonlyArray<Scenario> = [
  scenario(24, "a bet and its win", function*(player) {
    const { bet, stake } = yield* placed(player)
    yield* pay(player, bet, stake)
  }),
  scenario(6, "a bet that wins nothing", function*(player) {
    const { bet } = yield* placed(player)
    const win = player.winOf(bet, 0)
    yield* player.send(win)
    yield* player.send(win)
  }),
  scenario(10, "a bet and its win, each sent again", function*(player) {
    const { bet, stake } = yield* placed(player)
    yield* player.send(bet)
    const win = yield* pay(player, bet, stake)
    yield* player.send(win)
    yield* player.send(bet)
    yield* lookUp(player, bet.id)
  }),
  scenarioWhere(
    ({ winsName }) => winsName === "bet",
    6,
    "several bets in a round, settled each on its own",
    function*(player) {
      const first = yield* placed(player)
      const second = yield* placed(player, first.bet.roundId)
      const third = yield* placed(player, first.bet.roundId)
      yield* pay(player, second.bet, second.stake, false)
      yield* player.send(player.rollbackOf(third.bet))
      yield* pay(player, first.bet, first.stake)
    }
  ),
  scenario(6, "several bets in a round, one rolled back, one win for the round", function*(player) {
    const first = yield* placed(player)
    const second = yield* placed(player, first.bet.roundId)
    yield* player.send(player.rollbackOf(second.bet))
    yield* pay(player, first.bet, first.stake)
  }),
  scenario(4, "a bet rolled back, the rollback sent again", function*(player) {
    const { bet } = yield* placed(player)
    const rollback = player.rollbackOf(bet)
    yield* player.send(rollback)
    yield* player.send(rollback)
    yield* player.send(bet)
    yield* lookUp(player, bet.id)
  }),
  exact(5, "a bet rolled back twice, the rollback rolled back", function*(player) {
    const { bet } = yield* placed(player)
    const rollback = player.rollbackOf(bet)
    yield* player.send(rollback)
    yield* player.send(player.rollbackOf(bet))
    yield* player.send(player.rollbackOf(bet, rollback.id))
  }),
  scenario(4, "a rollback that overtakes its bet", function*(player) {
    const { bet } = yield* newBet(player)
    const rollback = player.rollbackOf(bet)
    yield* player.send(rollback)
    yield* player.send(bet)
    yield* player.send(bet)
    yield* player.send(rollback)
    yield* lookUp(player, bet.id)
  }),
  scenario(3, "a win of a bet that was rolled back", function*(player) {
    const { bet, stake } = yield* placed(player)
    yield* player.send(player.rollbackOf(bet))
    yield* player.send(player.winOf(bet, stake))
  }),
  scenario(3, "a rollback of a bet that was paid", function*(player) {
    const { bet, stake } = yield* placed(player)
    yield* player.send(player.winOf(bet, stake))
    yield* player.send(player.rollbackOf(bet))
  }),
  exact(6, "a paid bet cannot be taken back before its win is", function*(player) {
    const { bet, stake } = yield* placed(player)
    const win = player.winOf(bet, stake * (yield* oneOf(1, 2, 5)), false)
    yield* player.send(win)
    yield* player.send(player.rollbackOf(bet))
    yield* player.send(player.rollbackOf(bet, win.id))
    yield* player.send(player.rollbackOf(bet))
    yield* lookUp(player, win.id)
  }),
  exact(4, "a win taken back after it was spent", function*(player) {
    const { bet, stake } = yield* placed(player)
    const win = player.winOf(bet, stake * (yield* oneOf(1, 2, 5)), false)
    yield* player.send(win)
    const all = player.balance()
    const last = player.newBet(all)
    yield* player.send(last)
    yield* player.send(player.rollbackOf(bet, win.id))
    yield* player.send({ kind: "balance" })
    yield* player.send(player.newBet(10, bet.roundId))
    yield* player.send(player.winOf(last, all))
  }),
  scenario(3, "two wins of one bet", function*(player) {
    const { bet, stake } = yield* placed(player)
    yield* player.send(player.winOf(bet, stake, false))
    yield* player.send(player.winOf(bet, stake * 2))
  }),
  scenario(2, "a win and a rollback of nothing", function*(player) {
    const { bet } = yield* newBet(player)
    yield* player.send(player.winOf(bet, 1))
    yield* player.send(player.rollbackOf(player.newBet(1)))
  }),
  exact(6, "a win before its bet, another after the close", function*(player) {
    const { bet, stake } = yield* newBet(player)
    const win = player.winOf(bet, yield* payout(stake))
    yield* player.send(win)
    yield* lookUp(player, win.id)
    yield* player.send(bet)
    yield* player.send(win)
    yield* player.send(player.winOf(bet, stake))
  }),
  scenario(4, "the same bet and the same win many times at once", function*(player) {
    const { bet, stake } = yield* newBet(player)
    yield* player.sendTogether(copies(bet, yield* between(2, 8)))
    yield* player.sendTogether(copies(player.winOf(bet, stake * 2), yield* between(2, 8)))
  }),
  scenario(2, "the same rollback many times at once", function*(player) {
    const { bet } = yield* placed(player)
    yield* player.sendTogether(copies(player.rollbackOf(bet), yield* between(2, 8)))
  }),
  exact(5, "a bet, another one and a rollback at the same moment", function*(player) {
    const { bet } = yield* newBet(player)
    const other = yield* newBet(player, bet.roundId)
    yield* player.sendTogether([bet, other.bet, player.rollbackOf(bet)])
    yield* lookUp(player, bet.id)
  }),
  scenario(4, "a bet whose answer is too late, rolled back", function*(player) {
    const { bet } = yield* newBet(player)
    yield* player.sendAndHangUp(bet)
  }),
  scenario(3, "a win whose answer is too late, sent again", function*(player) {
    const { bet, stake } = yield* placed(player)
    yield* player.sendAndHangUp(player.winOf(bet, stake))
  }),
  scenario(3, "a win that comes rounds later", function*(player) {
    const late = yield* placed(player)
    const next = yield* placed(player)
    yield* pay(player, next.bet, next.stake)
    const last = yield* placed(player)
    yield* player.send(player.rollbackOf(last.bet))
    yield* pay(player, late.bet, late.stake)
  }),
  scenarioWhere(({ betWin }) => betWin, 3, "bet and win in one call, sent again", function*(player) {
    const { bet, stake } = yield* newBet(player)
    const message = { kind: "bet_win", bet, win: player.winOf(bet, yield* payout(stake)) } as const
    yield* player.send(message)
    yield* player.send(message)
  }),
  scenarioWhere(({ batch }) => batch === true, 7, "a batch, sent again", function*(player) {
    const first = yield* newBet(player)
    const second = yield* newBet(player, first.bet.roundId)
    const messages = [
      first.bet,
      player.winOf(first.bet, yield* payout(first.stake), false),
      second.bet,
      player.rollbackOf(yield* oneOf(second.bet, player.newBet(1)))
    ]
    const batch = { kind: "batch", id: player.newId(), messages } as const
    yield* player.send(batch)
    if (yield* inShare(0.5)) yield* player.send(batch)
  }),
  scenarioWhere(
    ({ batch }) => batch === true,
    4,
    "a batch with a bet that is refused: nothing of it happens",
    function*(player) {
      const { bet } = yield* newBet(player)
      const tooMuch = player.newBet(player.balance() + 10, bet.roundId)
      yield* player.send({ kind: "batch", id: player.newId(), messages: [bet, tooMuch] })
      yield* lookUp(player, bet.id)
    }
  ),
  scenarioWhere(({ batch }) => batch === true, 3, "a batch whose answer is too late, sent again", function*(player) {
    const { bet, stake } = yield* placed(player)
    const messages = [player.winOf(bet, stake), player.newBet(10)]
    yield* player.sendAndHangUp({ kind: "batch", id: player.newId(), messages })
  }),
  scenarioWhere(({ promo }) => promo, 3, "a prize, sent again", function*(player) {
    const promo = promoOf(player, yield* between(1, 300))
    yield* player.send(promo)
    yield* player.send(promo)
  }),
  scenarioWhere(({ close }) => close, 4, "several bets and wins, then the close", function*(player) {
    const first = yield* placed(player)
    const second = yield* placed(player, first.bet.roundId)
    yield* pay(player, first.bet, first.stake, false)
    yield* pay(player, second.bet, second.stake, false)
    const close = { kind: "close", roundId: first.bet.roundId, gameId: first.bet.gameId } as const
    yield* player.send(close)
    yield* player.send(close)
    if (player.dialect.isExact === true) yield* player.send(player.newBet(10, first.bet.roundId))
  }),
  scenario(2, "a stake beyond the balance", function*(player) {
    const stake = player.balance() + (yield* between(1, 1000))
    yield* player.send(player.newBet(Math.max(1, stake)))
  }),
  exact(4, "an id used again for something else", function*(player) {
    const { bet, stake } = yield* placed(player)
    yield* player.send({ ...bet, amount: player.amountOf(stake + 10) })
    yield* player.send({ ...bet, roundId: player.newId() })
    yield* player.send({ ...player.winOf(bet, 10, false), id: bet.id })
    yield* player.send({ ...player.rollbackOf(player.newBet(1)), id: bet.id })
  }),
  exact(3, "a bet in free play, a bet in another currency", function*(player) {
    const session = player.session()
    const { freePlayToken: token } = session
    if (token !== undefined) {
      yield* player.send(player.newBet(1), { session: { ...session, token }, situation: "session_expired" })
    }
    const other = session.currency === "USD" ? "EUR" : "USD"
    yield* player.send(player.newBet(1), { session: { ...session, currency: other }, situation: "wrong_currency" })
  }),
  scenario(2, "an amount that is no amount", function*(player) {
    const { dialect, digits } = player
    const bet = player.newBet(1)
    const amount = dialect.tooFine(bet.amount, digits)
    if (amount !== undefined) yield* player.send({ ...bet, amount }, { situation: "fractional_amount" })
  }),
  scenarioWhere(({ malformed }) => malformed, 2, "a body that cannot be read", function*(player) {
    yield* player.send(player.newBet(1), { situation: "malformed", damage: "body" })
  }),
  scenarioWhere(({ authenticate }) => authenticate === "exchanges", 2, "a token that is exchanged", function*(player) {
    const before = player.session()
    yield* player.send({ kind: "authenticate" })
    if (player.session().token !== before.token) {
      yield* player.send(player.newBet(1), { session: before, situation: "session_expired" })
    }
  }),
  scenarioWhere(({ sessions }) => sessions, 1, "a session that is none", function*(player) {
    const session = { ...player.session(), token: randomUUID() }
    yield* player.send(player.newBet(1), { session, situation: "session_expired" })
  }),
  scenarioWhere(({ balance }) => balance, 3, "the balance", function*(player) {
    yield* player.send({ kind: "balance" })
  })
]

/** A round that was given up ends as the protocol says. */
const ended = <R>(played: Effect.Effect<unknown, GivenUp | SimulatorError, R>) =>
  Effect.asVoid(Effect.catchTag(played, "GivenUp", () => Effect.void))

/** Signatures that are wrong, once for each player at most: wallets count them, and shut out who sends many. */
export const forge = (player: PlayerSession) =>
  ended(player.send(player.newBet(1), { situation: "forged", damage: "signature" }))

/** Plays free rounds to their end: bet by bet where the protocol has them so, else their winnings in one sum. */
export const playFreeRounds = Effect.fnUntraced(function*(player: PlayerSession, grant: Grant) {
  const { dialect, digits } = player
  const stake = toMinorUnits(grant.stake, digits) ?? 1
  if (dialect.freeRounds === "total") {
    const promo = promoOf(player, stake * grant.rounds, grant.reference)
    yield* player.send(promo)
    yield* player.send(promo)
  }
  if (dialect.freeRounds !== "bets") return
  for (let round = 0; round < grant.rounds; round++) {
    const bet = player.newBet(stake, undefined, grant.reference)
    yield* player.send(bet)
    yield* pay(player, bet, stake)
  }
}, ended)

/** Plays one scenario, drawn by weight, and gives its name. `more`: besides those of every provider. */
export const playScenario = Effect.fnUntraced(
  function*(player: PlayerSession, more: ReadonlyArray<Scenario> = []) {
    const possible = [...scenarios, ...more].filter(({ isPossible }) => isPossible(player.dialect))
    let drawn = (yield* Random.next) * possible.reduce((sum, { weight }) => sum + weight, 0)
    const chosen = possible.find(({ weight }) => (drawn -= weight) < 0) ?? possible[0]
    if (chosen === undefined) return "nothing"
    yield* ended(chosen.play(player))
    player.prune()
    return chosen.name
  }
)

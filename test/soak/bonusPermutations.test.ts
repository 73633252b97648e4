import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type * as Http from "node:http"
import { isDeepStrictEqual } from "node:util"
import { applyDueBonusesStep, type CatalogueBonus, grantStep } from "../../src/domain/bonus/BonusGrants.ts"
import type { Operator } from "../../src/domain/state/Operator.ts"
import type { Action, Closing } from "../../src/domain/settlement/Settlement.ts"
import { LedgerAudit } from "../../src/features/ledger/LedgerAudit.ts"
import { Ids } from "../../src/platform/Ids.ts"
import { fromUnits, toMinorUnits } from "../../src/protocols/Decimal.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import type * as Wire from "../../scripts/simulators/Dialect.ts"
import { Calendar, minuteMs, pass } from "../kit/Calendar.ts"
import { addGame, addStudio, addTenant, dataAs, deposit, settledOf } from "../kit/Casino.ts"
import { layerE2eServer } from "../kit/E2eServer.ts"
import { makeAgent, portOf } from "../kit/HttpCalls.ts"
import * as Messages from "../kit/Messages.ts"
import { policies } from "../kit/Policies.ts"
import { type ModelAnswer, SettlementModel } from "../kit/SettlementModel.ts"
import { addPlayer } from "../kit/TestService.ts"
import { addVendor, openSeat, play as send, type Vendor, vendorCases } from "../kit/Vendors.ts"
import { answered, heard, SettledBatch } from "../kit/WalletAnswers.ts"
import { type Bet, bodyOf, type Message, pathOf, type Win } from "../../scripts/simulators/pitboss/WalletMessages.ts"

// Goal: in any order of a round's messages, and in every protocol, a player who plays with bonus money has what the rules say: the answers,
// both balances, which bonus runs and which waits, and how each ended. Method: players with two bonuses, the second of which waits; orders of five
// messages of a round over HTTP, and of four in the words of each vendor, each answer and the state after it compared with the model
// that test/rules/BonusTraffic.test.ts checks the rules against. Eleven minutes later nothing can be won any more: then the bonuses' rows are compared too,
// orders that leave the same messages standing must have left the same, and the ledger is verified. Some cases have their outcome written down.

type Protocol = keyof typeof policies

/** How a protocol tells what the wallet's own messages tell. */
interface Manner {
  /** Whether bets, wins and rollbacks say that their round ends with them, end it as the last that is settled, or never do. */
  readonly ends: "as told" | "when settled" | "never"
  readonly takesWinsBack: boolean
  readonly roundOfBet: boolean
  /** A win and a rollback of a bet have one id. */
  readonly settlesOnce: boolean
}

const plain: Manner = { ends: "as told", takesWinsBack: true, roundOfBet: false, settlesOnce: false }

const manners: { readonly [protocol in Protocol]: Manner } = {
  pitboss: plain,
  hub88: plain,
  caleta: { ...plain, takesWinsBack: false },
  evolution: { ...plain, ends: "when settled", takesWinsBack: false, settlesOnce: true },
  pragmatic: { ...plain, ends: "never", takesWinsBack: false },
  slotegrator: plain,
  a8r: plain,
  gcp: plain,
  spribe: { ...plain, ends: "when settled", roundOfBet: true }
}

const isProtocol = (name: string): name is Protocol => name in policies

interface Terms {
  readonly multiplier: number
  readonly conversion: number
}

/** What a player has, and the messages about the player. */
interface Play {
  readonly name: string
  /** Plays of one group had the same messages to send. */
  readonly group: string
  readonly terms: Terms
  readonly real: number
  readonly messages: ReadonlyArray<Message>
  readonly outcome?: Outcome
}

/** Of both bonuses: the state, or the result once it is over. */
interface Outcome {
  readonly real: number
  readonly bonus: number
  readonly states: readonly [string, string]
  readonly forfeited?: number
}

/** Messages of a play, by the play's name. */
const messagesOf = (name: string, gameId: string) => {
  const round = { gameId, roundId: `${name}r` }
  return {
    bet: (amount: number, id = "b", closes = false): Bet => ({
      kind: "bet",
      id: name + id,
      round,
      amount,
      currency: "EUR",
      session: "real",
      closes
    }),
    win: (amount: number, id = "w", of = "b", closes = false): Win => ({
      kind: "win",
      id: name + id,
      round,
      betId: name + of,
      amount,
      closes
    }),
    // vendors with two messages for it send the one or the other by the last character
    rollback: (of: string) =>
      ({ kind: "rollback", id: `${name}k${of}${of === "b" ? 2 : 1}`, targetId: name + of }) as const,
    close: { kind: "close", round } as const
  }
}

/** A provider of a protocol, with one game. */
interface House {
  readonly protocol: Protocol
  readonly provider: Pick<Vendor, "id" | "game">
  readonly hasClose: boolean
  readonly hasBetWin: boolean
  readonly exchange: (
    session: Wire.Session,
    message: Message,
    play: Play,
    expected: Expected
  ) => Effect.Effect<void, unknown>
}

/** The model's answer to a message, and what the player has after it. */
interface Expected {
  /** What was played until now. */
  readonly where: string
  readonly answer: ModelAnswer | ReadonlyArray<ModelAnswer>
  readonly real: number
  readonly bonus: number
}

const isOne = (answer: Expected["answer"]): answer is ModelAnswer => !Array.isArray(answer)

const amount = (minor: number) => fromUnits(minor, 2)

const listed = (message: Message): ReadonlyArray<Message> =>
  message.kind === "batch" ? message.actions : message.kind === "bet_win" ? [message.bet, message.win] : [message]

/** A bet or a win of a play, by its id. */
const named = ({ messages }: Play, id: string): Bet | Win | undefined =>
  messages.flatMap(listed).find((message): message is Bet | Win =>
    (message.kind === "bet" || message.kind === "win") && message.id === id
  )

/** A message in a vendor's words. */
const wireOf = (dialect: Wire.Dialect, play: Play, message: Message): Wire.Message => {
  const betOf = (of: Pick<Bet, "id" | "round" | "amount"> & { readonly closes?: boolean }): Wire.BetMessage => ({
    kind: "bet",
    id: of.id,
    ...of.round,
    amount: amount(of.amount),
    grant: null,
    closes: of.closes === true
  })
  const known = (id: string, { gameId, roundId }: Bet["round"]) =>
    betOf(named(play, id) ?? { id, round: { gameId, roundId }, amount: 1 })
  const winOf = (win: Win): Wire.WinMessage => ({
    ...betOf(win),
    kind: "win",
    bet: dialect.winsName === "bet" ? known(win.betId, win.round) : null,
    closes: win.closes
  })
  switch (message.kind) {
    case "bet":
      return betOf(message)
    case "win":
      return winOf(message)
    case "bet_win":
      return { kind: "bet_win", bet: betOf(message.bet), win: winOf(message.win) }
    case "rollback": {
      const bet = known(message.targetId, { gameId: "", roundId: "" })
      return { kind: "rollback", id: message.id, bet, roundId: bet.roundId, gameId: bet.gameId }
    }
    case "close":
      return { kind: "close", ...message.round }
    case "batch":
    case "promo_win":
      return assert.fail(`${message.kind} is no message of a vendor`)
  }
}

/** A provider of a vendor's protocol. Of its answers, the code tells whether the message was accepted, and most tell the balance. */
const vendorHouse = (protocol: Protocol, vendor: Vendor): House => ({
  protocol,
  provider: vendor,
  hasClose: vendor.dialect.close,
  hasBetWin: vendor.dialect.betWin,
  exchange: Effect.fnUntraced(function*(session, message, play, { answer, bonus, real, where }) {
    const wire = wireOf(vendor.dialect, play, message)
    const reply = yield* send(vendor, session, wire, `${play.name}${play.messages.indexOf(message)}`)
    // of a win, only what the bonus kept is in the balances
    assert.deepStrictEqual(
      reply.problems.filter((problem) => !problem.startsWith("from ")),
      [],
      `${where}: ${reply.text}`
    )
    const { codes } = vendor.dialect.expect(wire.kind, "new")
    const answers = [answer].flat()
    if (answers.some((one) => typeof one === "string")) assert.notInclude(codes, reply.code, `${where}: ${reply.text}`)
    else if (answers.some((one) => typeof one !== "string" && one.status === "processed")) {
      assert.include(codes, reply.code, `${where}: ${reply.text}`)
    }
    if (reply.balance !== undefined) {
      // a player who owes money cannot stake a bonus
      assert.strictEqual(toMinorUnits(reply.balance, 2), real < 0 ? 0 : real + bonus, `${where}: ${reply.text}`)
    }
  })
})

const addHouses = Effect.fnUntraced(function*(agent: Http.Agent, port: number) {
  const studio = yield* addStudio(agent, port, "studio")
  const game = yield* addGame(studio.id, "dice")
  const own: House = {
    protocol: "pitboss",
    provider: { id: studio.id, game },
    hasClose: true,
    hasBetWin: true,
    exchange: Effect.fnUntraced(function*({ playerRef, token }, message, _, { answer, where }) {
      const reply = yield* studio.call.post(pathOf(message), bodyOf(message, { token, demoToken: "", playerRef }))
      const told = reply.status !== 200
        ? reply.code
        : message.kind === "batch"
        ? (yield* dataAs(reply, 200, SettledBatch)).results.map(heard)
        : heard(yield* settledOf(reply))
      assert.deepStrictEqual(
        told,
        isOne(answer) ? answered(answer) : answer.map(answered),
        `${where}: ${reply.text}`
      )
    })
  }
  const vendors = yield* Effect.forEach(vendorCases, (vendorCase) =>
    Effect.map(
      addVendor(agent, port, vendorCase.name, vendorCase),
      (vendor) => isProtocol(vendorCase.name) ? vendorHouse(vendorCase.name, vendor) : assert.fail(vendorCase.name)
    ))
  return [own, ...vendors]
})

/** What a message is to the rules. */
const actionOf = ({ protocol, provider }: House) => {
  const { ends, roundOfBet, settlesOnce } = manners[protocol]
  const about = { policy: policies[protocol], providerId: provider.id }
  const game = { id: provider.game.id, providerId: provider.id, type: "rng", category: "slots", active: true } as const
  const closes = (isTold: boolean): Closing => ends === "as told" ? isTold : ends === "when settled" && "when_settled"
  return (message: Message): Action => {
    switch (message.kind) {
      case "bet":
        return Messages.bet(message.id, message.amount, {
          ...about,
          game,
          roundId: roundOfBet ? message.id : message.round.roundId,
          closesRound: !roundOfBet && closes(message.closes)
        })
      case "win":
        return Messages.win(settlesOnce ? `${message.betId} settled` : message.id, message.betId, message.amount, {
          ...about,
          game,
          ...winsName(protocol) === "round" ? { betTransactionId: null } : {},
          roundId: roundOfBet ? message.betId : message.round.roundId,
          closesRound: closes(message.closes)
        })
      case "rollback":
        return Messages.rollback(settlesOnce ? `${message.targetId} settled` : message.id, message.targetId, {
          ...about,
          closesRound: closes(false)
        })
      case "close":
        return Messages.close(message.round.roundId, game, about)
      default:
        return assert.fail(`${message.kind} is several messages`)
    }
  }
}

const winsName = (protocol: Protocol) => vendorCases.find(({ name }) => name === protocol)?.dialect.winsName ?? "bet"

/** Tells a message to the model; gives its answer. */
const tell = (model: SettlementModel, house: House, playerId: number, message: Message): Expected["answer"] => {
  const toAction = actionOf(house)
  switch (message.kind) {
    case "batch":
      return model.batch(playerId, message.actions.map(toAction))
    case "bet_win": {
      const [bet, win] = [toAction(message.bet), toAction(message.win)]
      return house.protocol === "pitboss" && bet.action === "bet" && win.action === "win"
        ? model.betWin(playerId, bet, win)
        : model.batch(playerId, [bet, win])
    }
    default:
      return model.settle(playerId, toAction(message))
  }
}

const bonusAmount = 1000

/** Two bonuses of an operator's catalogue by these terms, of which the second waits. */
const grantBoth = Effect.fnUntraced(function*(bonus: CatalogueBonus, playerId: number, model: SettlementModel) {
  const actors = yield* PlayerActors
  const ids: Array<number> = []
  for (let index = 0; index < 2; index++) {
    const granted = yield* actors.ask(null, playerId, grantStep({ bonus, amount: null, note: null }))
    model.grant(playerId, { ...granted, requirement: granted.wagerRequirement, cap: 0 })
    ids.push(granted.id)
  }
  return ids
})

/** A play that has ended, with all that is needed to hold it against the model. */
interface Played {
  readonly house: House
  readonly play: Play
  readonly playerId: number
  readonly model: SettlementModel
  readonly bonusIds: ReadonlyArray<number>
}

const checkState = Effect.fnUntraced(function*({ model, playerId }: Played, where: string) {
  const { activeBonus, bonus, pendingBonuses, real, walletSeq } = yield* (yield* PlayerActors).read(null, playerId)
  const { active, queue, wagered } = model.bonuses(playerId)
  assert.deepStrictEqual(
    {
      real,
      bonus,
      walletSeq,
      active: activeBonus?.id ?? null,
      wagered: activeBonus?.wagered ?? 0,
      queue: pendingBonuses.map(({ id }) => id)
    },
    { ...model.balances(playerId), active, wagered, queue: [...queue] },
    where
  )
})

const nameOf = ({ name }: Play, message: Message): string =>
  "id" in message && message.kind !== "batch"
    ? message.id.slice(name.length)
    : message.kind === "close"
    ? "close"
    : `[${listed(message).map((one) => "id" in one ? one.id.slice(name.length) : one.kind).join(", ")}]`

/** Plays to the end, comparing after each message. */
const playAt = Effect.fnUntraced(
  function*(
    operator: Operator,
    bonus: CatalogueBonus,
    house: House,
    play: Play,
    fund: (playerId: number) => Effect.Effect<void, unknown>
  ) {
    const playerId = yield* addPlayer(operator, play.name)
    const now = yield* Clock.currentTimeMillis
    const model = new SettlementModel([
      Messages.makePlayer({ id: playerId, providerIds: [house.provider.id], real: 0, walletSeq: 0 })
    ], now)
    if (play.real > 0) {
      yield* fund(playerId)
      model.deposit(playerId, play.real)
    }
    const contributions = { [house.provider.game.id]: 100 }
    const bonusIds = yield* grantBoth({ ...bonus, contributions }, playerId, model)
    const session = yield* openSeat(house.provider, playerId)
    const played: Played = { house, play, playerId, model, bonusIds }
    let isBegun = false
    for (const [index, message] of play.messages.entries()) {
      // one protocol names no game with it, and is heard only where the round is known
      const isUnheard: boolean = house.protocol === "a8r" && message.kind === "close" && !isBegun
      const answer: Expected["answer"] = isUnheard ? [] : tell(model, house, playerId, message)
      isBegun ||= typeof answer !== "string" &&
        (message.kind === "bet" || message.kind === "win" || message.kind === "bet_win")
      const order = play.messages.map((one) => nameOf(play, one)).join(" ")
      const where = `${house.protocol}, ${play.group}: ${order}, message ${index + 1}`
      const { real, bonus } = model.balances(playerId)
      yield* house.exchange(session, message, play, { where, answer, real, bonus })
      yield* checkState(played, where)
    }
    return played
  }
)

interface Variant extends Terms {
  readonly name: string
  readonly bet: number
  readonly win: number
  readonly secondBet: number
}

const variants: ReadonlyArray<Variant> = [
  { name: "all of the bonus", multiplier: 20, conversion: 0, bet: 1000, win: 1500, secondBet: 70 },
  { name: "a small stake, then the rest", multiplier: 20, conversion: 0, bet: 10, win: 40, secondBet: 990 },
  { name: "the stake that meets the requirement", multiplier: 1, conversion: 1, bet: 1000, win: 5000, secondBet: 60 },
  { name: "two stakes that meet it together", multiplier: 1, conversion: 0, bet: 600, win: 700, secondBet: 400 }
]

/** Every order of so many of them. */
const orders = <A>(all: ReadonlyArray<A>, length: number): ReadonlyArray<ReadonlyArray<A>> =>
  length === 0
    ? [[]]
    : all.flatMap((first) => orders(all.filter((other) => other !== first), length - 1).map((rest) => [first, ...rest]))

/** All but the first and the last as one message, where the wallet API has lists of them. */
const withList = (name: string, messages: ReadonlyArray<Message>): ReadonlyArray<Message> => {
  const [first, ...rest] = messages
  const last = rest.at(-1)
  const actions = rest.slice(0, -1).filter((message) =>
    message.kind === "bet" || message.kind === "win" || message.kind === "rollback"
  )
  return first === undefined || last === undefined || actions.length < rest.length - 1
    ? messages
    : [first, { kind: "batch", id: `${name}l`, actions }, last]
}

/** Six messages of a round: every order of five of them; with a vendor, every third order of four. */
const ordersAt = (house: House, houseIndex: number): ReadonlyArray<Play> => {
  const { takesWinsBack } = manners[house.protocol]
  const isOwn = house.protocol === "pitboss"
  return orders([0, 1, 2, 3, 4, 5], isOwn ? 5 : 4).flatMap((order, orderIndex) =>
    variants.flatMap((variant, variantIndex) =>
      (isOwn ? [false, true] : [false]).flatMap((isListed, listedIndex): ReadonlyArray<Play> => {
        const isPlayed = isOwn
          ? (orderIndex + variantIndex) % 2 === listedIndex
          : orderIndex % 3 === houseIndex % 3 &&
            (Math.floor(orderIndex / 3) + houseIndex) % variants.length === variantIndex
        if (!isPlayed) return []
        const name = `h${houseIndex}o${orderIndex}v${variantIndex}`
        const { bet, close, rollback, win } = messagesOf(name, house.provider.game.externalId)
        const all = [
          bet(variant.bet),
          win(variant.win),
          rollback("b"),
          bet(variant.secondBet, "c"),
          house.hasClose ? close : win(0, "e", "b", true),
          takesWinsBack ? rollback("w") : win(2000, "v", "c")
        ]
        const messages = order.flatMap((index) => all.slice(index, index + 1))
        return [{
          name,
          group: variant.name,
          terms: variant,
          real: 0,
          messages: isListed ? withList(name, messages) : messages
        }]
      })
    )
  )
}

/** Cases with their outcomes, as far as the protocol can tell them. */
const casesAt = (house: House, houseIndex: number): ReadonlyArray<Play> => {
  const { settlesOnce, roundOfBet, takesWinsBack } = manners[house.protocol]
  const refuses = policies[house.protocol].closedRounds === "refuse"
  const asBefore: Outcome = { real: 0, bonus: 1000, states: ["activated", "pending"] }
  const lost: Outcome = { real: 0, bonus: 1000, states: ["lost", "activated"] }
  const far = { multiplier: 20, conversion: 0 }
  const plays: Array<Play> = []
  const add = (
    group: string,
    outcome: Outcome,
    messages: (made: ReturnType<typeof messagesOf> & { readonly end: Message }) => ReadonlyArray<Message>,
    { real = 0, terms = far }: { readonly real?: number; readonly terms?: Terms } = {}
  ) => {
    const name = `h${houseIndex}c${plays.length}`
    const made = messagesOf(name, house.provider.game.externalId)
    const end = house.hasClose ? made.close : made.win(0, "e", "b", true)
    plays.push({ name, group, outcome, terms, real, messages: messages({ ...made, end }) })
  }

  add("a lost spin that ended its round, taken back", asBefore, ({ bet, rollback }) => [
    bet(1000, "b", true),
    rollback("b")
  ])
  // a bet that was settled with a win of nothing is not taken back where each is settled once
  add("a lost spin taken back after the end of its round", settlesOnce ? lost : asBefore, (made) => [
    made.bet(1000),
    made.win(0, "w", "b", true),
    ...house.hasClose ? [made.close] : [],
    made.rollback("b")
  ])
  if (takesWinsBack) {
    add("a win taken back, then its bet", asBefore, ({ bet, rollback, win }) => [
      bet(1000),
      win(1500, "w", "b", true),
      rollback("w"),
      rollback("b")
    ])
  }
  if (takesWinsBack && house.hasBetWin) {
    add("a bet and its win in one message, both taken back", asBefore, ({ bet, rollback, win }) => [
      { kind: "bet_win", bet: bet(1000), win: win(300, "w", "b", true) },
      rollback("w"),
      rollback("b")
    ])
  }
  if (house.protocol === "pitboss") {
    add("a win and its bet taken back in one list", asBefore, ({ bet, rollback, win }) => [
      bet(1000),
      win(1500, "w", "b", true),
      { kind: "batch", id: `list${houseIndex}`, actions: [rollback("w"), rollback("b")] }
    ])
  }
  add(
    "the win of a second bet after the end of the round",
    refuses
      ? asBefore
      : roundOfBet
      ? { ...asBefore, bonus: 3000 }
      // the round was paid with 10 of real money and 1000 of the bonus
      : { ...asBefore, real: 30, bonus: 2970 },
    ({ bet, end, win }) => [bet(10), end, bet(1000, "c"), win(3000, "v", "c", true)],
    { real: 10 }
  )
  if (!settlesOnce) {
    add(
      "a win that the end of its round overtook",
      refuses ? lost : { ...asBefore, bonus: 3000 },
      ({ bet, end, win }) => [
        bet(1000),
        end,
        win(3000)
      ]
    )
  }
  const near = { real: 10_000, terms: { multiplier: 2, conversion: 0 } }
  add(
    "the bet that met the requirement, taken back while the next bonus is untouched",
    { real: 10_000, bonus: 1000, states: ["activated", "pending"] },
    ({ bet, rollback }) => [bet(2000), rollback("b")],
    near
  )
  add(
    "the bet that met the requirement, taken back when the next bonus was played",
    { real: 9900, bonus: 1000, states: ["pending", "activated"] },
    ({ bet, rollback }) => [bet(2000), bet(100, "c"), rollback("b")],
    near
  )
  add(
    "a win above the cap",
    { real: 1000, bonus: 1000, states: ["converted", "activated"], forfeited: 49_000 },
    ({ bet, win }) => [bet(1000), win(50_000, "w", "b", true)],
    { terms: { multiplier: 1, conversion: 1 } }
  )
  add(
    "the last of a bonus, and no win",
    policies[house.protocol].wonWithinMs === null ? { ...asBefore, bonus: 0 } : lost,
    ({ bet }) => [bet(1000)]
  )
  return plays
}

interface BonusRow {
  readonly id: number
  readonly state: string
  readonly result: string | null
  readonly wagered: number
  readonly converted: number
  readonly late: number
  readonly forfeited: number
  readonly held: number | null
}

const stateOf = ({ result, state }: BonusRow) => result ?? state

/** The rows of each player, by the player's id. */
const byPlayer = <Row extends { readonly player: number }>(rows: ReadonlyArray<Row>) => {
  const all = new Map<number, Array<Row>>()
  for (const row of rows) all.set(row.player, [...all.get(row.player) ?? [], row])
  return (playerId: number): ReadonlyArray<Row> => all.get(playerId) ?? []
}

/** What the stored rows say of each player: the bonuses, and what stands of the messages with who paid for it. */
const readRows = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const bonuses = yield* sql<BonusRow & { readonly player: number }>`SELECT player_id::float8 AS player, id::float8,
    state, result, wagered::float8, converted::float8, late_amount::float8 AS late, forfeited::float8,
    held_amount::float8 AS held FROM player_bonuses ORDER BY id`
  const standing = yield* sql<{ readonly player: number; readonly bonus: number | null; readonly about: string }>`
    SELECT player_id::float8 AS player, player_bonus_id::float8 AS bonus,
      concat_ws(' ', kind, amount, CASE kind WHEN 'bet' THEN real_amount ELSE real_amount - wagered END) AS about
    FROM provider_transactions t WHERE kind IN ('bet', 'win') AND NOT EXISTS (SELECT FROM provider_transactions r
      WHERE r.provider_id = t.provider_id AND r.target_transaction_id = t.transaction_id AND r.kind = 'rollback'
        AND r.status = 'processed')
    ORDER BY about`
  const rounds = yield* sql<{ readonly player: number; readonly about: string }>`SELECT player_id::float8 AS player,
    concat_ws(' ', real_stake, bonus_stake, closed) AS about FROM rounds ORDER BY about`
  return {
    bonusesOf: byPlayer(bonuses),
    standingOf: byPlayer(standing),
    roundsOf: byPlayer(rounds)
  }
})

/** Bonuses as the model has them. */
const modelRows = ({ bonusIds, model, playerId }: Played) => {
  const { active, ended, wagered } = model.bonuses(playerId)
  return bonusIds.map((id) => {
    const { converted = 0, forfeited = 0, result = id === active ? "activated" : "pending" } = ended.get(id) ?? {}
    return { state: result, converted, forfeited, ...id === active ? { wagered } : {} }
  })
}

layer(LedgerAudit.layer.pipe(Layer.provideMerge(layerE2eServer), Layer.provideMerge(Calendar.layer)), {
  excludeTestServices: true
})("a round's messages about bonus money", (it) => {
  it.effect("are settled by the bonus rules, in any order and in every protocol", () =>
    Effect.gen(function*() {
      const agent = yield* makeAgent()
      const port = yield* portOf
      const sql = yield* SqlClient.SqlClient
      const actors = yield* PlayerActors
      const { call, operator } = yield* addTenant(agent, port, "acme")
      const bonusId = yield* (yield* Ids).reserve(1)
      yield* sql`INSERT INTO bonuses (id, operator_id, name, type, default_amount, wagering_multiplier, valid_days, created_at,
        updated_at) VALUES (${bonusId}, ${operator.id}, 'Welcome', 'no_deposit', ${bonusAmount}, 1, 7, now(), now())`
      const bonusOf = ({ conversion, multiplier }: Terms): CatalogueBonus => ({
        id: bonusId,
        operatorId: operator.id,
        name: "Welcome",
        description: "",
        type: "no_deposit",
        defaultAmount: bonusAmount,
        wageringMultiplier: multiplier,
        validDays: 7,
        maxBet: 0,
        maxConversionMultiplier: conversion,
        maxGrantsPerPlayer: 0,
        isActive: true,
        contributions: {},
        currency: "EUR"
      })

      const houses = yield* addHouses(agent, port)
      assert.sameMembers(houses.map(({ protocol }) => protocol), Object.keys(policies))
      const waiting = houses.flatMap((house, index) =>
        [...casesAt(house, index), ...ordersAt(house, index)].map((play) => ({ house, play }))
      )
      const played = yield* Effect.forEach(
        waiting,
        ({ house, play }) =>
          playAt(
            operator,
            bonusOf(play.terms),
            house,
            play,
            (playerId) => deposit(call, playerId, play.real, `deposit-${play.name}`)
          ),
        { concurrency: 24 }
      )

      // what may still be won is won within ten minutes
      yield* pass(11 * minuteMs)
      yield* Effect.forEach(
        played,
        Effect.fnUntraced(function*(one) {
          yield* actors.ask(null, one.playerId, applyDueBonusesStep)
          one.model.now += 11 * minuteMs
          one.model.look(one.playerId)
          yield* checkState(one, `${one.house.protocol}, ${one.play.group}, at the end`)
        }),
        { concurrency: 24 }
      )

      const { bonusesOf, roundsOf, standingOf } = yield* readRows
      const results = new Set<string>()
      const groups = new Map<string, { readonly order: string; readonly left: unknown }>()
      const differing: Array<unknown> = []
      let compared = 0
      for (const one of played) {
        const { house, model, play, playerId } = one
        const bonuses = bonusesOf(playerId)
        const order = play.messages.map((message) => nameOf(play, message)).join(" ")
        const where = `${house.protocol}, ${play.group}: ${order}`
        const expected = modelRows(one)
        assert.deepStrictEqual(
          bonuses.map((row, index) => ({
            state: stateOf(row),
            converted: row.converted,
            forfeited: row.forfeited,
            ...expected[index]?.wagered === undefined ? {} : { wagered: row.wagered }
          })),
          expected,
          where
        )
        for (const row of bonuses) results.add(stateOf(row))
        const { bonus, real } = model.balances(playerId)
        const { outcome } = play
        if (outcome !== undefined) {
          const found = { real, bonus, states: bonuses.map(stateOf), forfeited: bonuses[0]?.forfeited }
          assert.deepStrictEqual(found, { forfeited: 0, ...outcome, states: [...outcome.states] }, where)
          continue
        }
        const key = JSON.stringify([
          house.protocol,
          play.group,
          standingOf(playerId).map(({ about, bonus }) => [about, bonuses.findIndex(({ id }) => id === bonus)]),
          roundsOf(playerId).map(({ about }) => about)
        ])
        const left = {
          real,
          bonus,
          bonuses: bonuses.map((row) => ({
            state: stateOf(row),
            wagered: row.wagered,
            paid: row.converted + row.late,
            forfeited: row.forfeited,
            // one that never ran has yet to be credited
            waiting: row.held ?? (row.state === "pending" ? bonusAmount : 0)
          }))
        }
        const other = groups.get(key)
        if (other === undefined) groups.set(key, { order, left })
        else {
          if (!isDeepStrictEqual(left, other.left)) differing.push([where, left, other.order, other.left])
          compared++
        }
      }
      assert.sameMembers([...results], ["activated", "pending", "converted", "lost"])
      assert.deepStrictEqual(differing, [], `${differing.length} of ${compared}`)
      assert.isAbove(compared, 1000)

      const { players, violations } = yield* (yield* LedgerAudit).verify(undefined)
      assert.deepStrictEqual(violations, [])
      assert.strictEqual(players, played.length)
    }), 600_000)
})

/** A player at a game, from the provider's side: sends messages and checks every answer against the books. */
import { Clock, Effect, Equal, Random, Schema } from "effect"
import { type Answer, labelsOf, read } from "./Answer.ts"
import { fateOf } from "../../test/kit/WalletModel.ts"
import { Books, type Told } from "./Books.ts"
import type { Caller, NoAnswer, Reply } from "./Caller.ts"
import { DemoError } from "./DemoError.ts"
import {
  type Bet,
  bodyOf,
  currency,
  type Message,
  nameOf,
  type Names,
  pathOf,
  type Rollback,
  type Round,
  type Win
} from "../../test/kit/WalletMessages.ts"
import type { Tally } from "./Tally.ts"

/** A round that the provider gave up: it got no readable answer to a bet and took the bet back. */
export class GivenUp extends Schema.TaggedError<GivenUp>()("GivenUp", {}) {}

interface Player {
  readonly id: number
  readonly username: string
}

export interface TableOptions {
  readonly player: Player
  readonly gameId: string
  readonly names: Names
  /** Set before every id, so that no two runs share one. */
  readonly prefix: string
  readonly operator: Caller
  readonly provider: Caller
  readonly tally: Tally
  /** Waits for the turn of the next request. */
  readonly pace: Effect.Effect<void>
}

type Sent<E = never> = Effect.Effect<void, DemoError | E>

export interface Table {
  readonly player: Player
  readonly books: Books
  readonly newRound: () => Round
  readonly bet: (round: Round, amount: number, more?: Partial<Bet>) => Bet
  readonly win: (bet: Bet, amount: number, more?: Partial<Win>) => Win
  readonly rollback: (target: { readonly id: string }) => Rollback
  readonly newId: () => string
  /** Sends a message until it is answered, and checks the answer. A bet that is not answered is taken back instead. */
  readonly send: (message: Message) => Sent<GivenUp>
  /** Sends messages at the same moment: some order of them must explain the answers. */
  readonly sendTogether: (messages: ReadonlyArray<Message>) => Sent<GivenUp>
  /** Sends a message and breaks the connection before the answer is read; then retries or rolls back as providers must. */
  readonly sendAndHangUp: (message: Message) => Sent<GivenUp>
  /** Records a deposit as the operator, repeats it in both ways that are harmless, and checks the answers. */
  readonly deposit: (amount: number) => Sent
  /** Queries the state of a message, and checks it. */
  readonly lookUp: (id: string) => Sent
  /** Asks for the balance, and checks it. */
  readonly readBalance: Sent
}

/** How long the service may be away, in seconds. */
const absence_s = 30

const backOff = (attempt: number) => Effect.sleep(Math.min(1000, 25 * 2 ** attempt))

const Deposited = Schema.Struct({
  data: Schema.Struct({
    id: Schema.Int,
    type: Schema.String,
    status: Schema.String,
    player_id: Schema.Int,
    amount: Schema.Int,
    currency: Schema.String,
    external_reference: Schema.String
  })
})
const Fate = Schema.Struct({ data: Schema.Struct({ transaction_id: Schema.String, status: Schema.String }) })
const Balances = Schema.Struct({
  data: Schema.Struct({ balance: Schema.Int, bonus_balance: Schema.Int, currency: Schema.String })
})

export const makeTable = (options: TableOptions): Table => {
  const { gameId, names, operator, pace, player, prefix, provider, tally } = options
  const books = new Books()
  let ids = 0
  const newId = () => `${prefix}-${++ids}`

  const check = (name: string, expected: object, actual: object): void => {
    if (!Equal.equals(expected, actual)) {
      tally.violate(`${player.username}: ${name}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`)
    }
  }

  const note = (messages: ReadonlyArray<Message>, told: ReadonlyArray<Told>): void => {
    for (const complaint of books.note(messages, told)) tally.violate(`${player.username}: ${complaint}`)
  }

  const request = (message: Message) =>
    Effect.suspend(() => {
      tally.requests++
      return provider.post(pathOf(message), JSON.stringify(bodyOf(message, names)))
    })

  /** Information of an answer. After a failure of the service the outcome of the message is unknown. */
  const toTold = (message: Message, reply: Reply): Told => {
    const answer: Answer = read(message, reply)
    tally.countAnswers(labelsOf(answer))
    if (reply.headers["x-request-id"] === undefined) tally.violate(`${nameOf(message)}: no X-Request-Id`)
    if (reply.status < 500) return answer
    const retry = answer._tag === "Refused" ? answer.retry : undefined
    const expected = { status: 503, retry: message.kind === "bet" ? "rollback" : "same_request" }
    check(nameOf(message), expected, { status: reply.status, retry })
    return undefined
  }

  /** One request, at once. */
  const attempt = (message: Message): Effect.Effect<Told> =>
    Effect.gen(function*() {
      const startedAt_ns = yield* Clock.currentTimeNanos
      const reply = yield* Effect.catchTag(request(message), "NoAnswer", () => Effect.undefined)
      if (reply === undefined) {
        tally.countAnswers(["no answer"])
        return undefined
      }
      tally.latencies_ms.push(Number((yield* Clock.currentTimeNanos) - startedAt_ns) / 1e6)
      return toTold(message, reply)
    })

  /** Repeats until there is something. */
  const insist = <A, E>(
    name: string,
    ask: Effect.Effect<A | undefined, E>,
    attempts = 0,
    since_ms?: number
  ): Effect.Effect<A, E | DemoError> =>
    Effect.gen(function*() {
      const startedAt_ms = since_ms ?? (yield* Clock.currentTimeMillis)
      const found = yield* ask
      if (found !== undefined) return found
      if ((yield* Clock.currentTimeMillis) - startedAt_ms > absence_s * 1000) {
        return yield* new DemoError({ message: `no answer for ${absence_s} s: ${name}. Is the service still there?` })
      }
      yield* backOff(attempts)
      return yield* insist(name, ask, attempts + 1, startedAt_ms)
    })

  const attemptInTurn = (message: Message) => Effect.andThen(pace, attempt(message))

  const send = (message: Message): Sent<GivenUp> =>
    message.kind === "bet"
      ? Effect.flatMap(attemptInTurn(message), (told) => {
        note([message], [told])
        return told === undefined ? giveUp(message) : Effect.void
      })
      : sendUntilAnswered(message)

  const sendUntilAnswered = (message: Message): Sent => {
    const noted = Effect.tap(attemptInTurn(message), (told) => Effect.sync(() => note([message], [told])))
    return Effect.asVoid(insist(nameOf(message), noted))
  }

  /** Rolls back bets with an unknown outcome. */
  const giveUp = (...bets: ReadonlyArray<Bet>): Effect.Effect<never, DemoError | GivenUp> =>
    Effect.andThen(
      Effect.forEach(bets, (bet) => sendUntilAnswered(rollback(bet)), { discard: true }),
      new GivenUp()
    )

  const rollback = (target: { readonly id: string }): Rollback => ({
    kind: "rollback",
    id: newId(),
    targetId: target.id
  })

  /** Reads by the operator and the provider, which may be repeated. */
  const ask = (name: string, asked: Effect.Effect<Reply, NoAnswer>) =>
    insist(
      name,
      Effect.gen(function*() {
        yield* pace
        tally.requests++
        const reply = yield* Effect.catchTag(asked, "NoAnswer", () => Effect.undefined)
        if (reply?.status === 500) tally.violate(`${name}: ${reply.text}`)
        if (reply !== undefined && reply.status < 500) return reply
        tally.countAnswers([reply === undefined ? "no answer" : `${reply.status}`])
        return undefined
      })
    )

  /** The content of an answer; undefined, with a complaint, when it is another than it should be. */
  const dataOf = <A>(name: string, schema: Schema.Codec<{ readonly data: A }, unknown>, reply: Reply) =>
    Schema.decodeUnknownEffect(Schema.fromJsonString(schema))(reply.text).pipe(
      Effect.map(({ data }): A | undefined => data),
      Effect.catch(() => {
        tally.violate(`${player.username}: ${name}: ${reply.status} ${reply.text.slice(0, 300)}`)
        return Effect.undefined
      })
    )

  const deposit = Effect.fnUntraced(function*(amount: number) {
    const external_reference = newId()
    const name = `deposit ${external_reference}`
    const body = JSON.stringify({ amount, external_reference, payment_method: "card" })
    const post = (headers?: { readonly [name: string]: string }) =>
      ask(name, operator.post(`/api/v1/operator/players/${player.id}/deposits`, body, headers))
    const first = yield* post({ "Idempotency-Key": external_reference })
    const retried = yield* post({ "Idempotency-Key": external_reference })
    const repeated = yield* post()
    books.deposited(amount)
    tally.countAnswers(["deposit", "deposit repeated", "deposit repeated"])
    const paid = yield* dataOf(name, Deposited, first)
    if (paid === undefined) return
    const { id } = paid
    check(
      name,
      { id, type: "deposit", status: "paid", player_id: player.id, amount, currency, external_reference },
      paid
    )
    check(`${name}, same Idempotency-Key`, { status: 201, text: first.text, replayed: "true" }, {
      status: retried.status,
      text: retried.text,
      replayed: retried.headers["idempotent-replayed"]
    })
    const known = yield* dataOf(name, Deposited, repeated)
    check(`${name}, same reference`, { status: 200, id }, { status: repeated.status, id: known?.id })
  })

  return {
    player,
    books,
    newId,
    newRound: () => ({ gameId, roundId: newId() }),
    bet: (round, amount, more = {}) => ({
      kind: "bet",
      id: newId(),
      round,
      amount,
      currency,
      session: "real",
      closes: false,
      ...more
    }),
    win: (bet, amount, more = {}) => ({
      kind: "win",
      id: newId(),
      round: bet.round,
      betId: bet.id,
      amount,
      closes: false,
      ...more
    }),
    rollback,
    send,
    sendTogether: Effect.fnUntraced(function*(messages) {
      for (const _ of messages) yield* pace
      const told = yield* Effect.forEach(messages, attempt, { concurrency: "unbounded" })
      note(messages, told)
      const unanswered = messages.filter((_, index) => told[index] === undefined)
      for (const message of unanswered) if (message.kind !== "bet") yield* sendUntilAnswered(message)
      const bets = unanswered.filter((message) => message.kind === "bet")
      if (bets.length > 0) return yield* giveUp(...bets)
    }),
    sendAndHangUp: Effect.fnUntraced(function*(message) {
      yield* pace
      yield* request(message).pipe(
        Effect.timeoutOption(yield* Random.nextIntBetween(0, 4)),
        Effect.ignore
      )
      tally.countAnswers(["not waited for"])
      note([message], [undefined])
      if (message.kind === "bet") return yield* giveUp(message)
      yield* sendUntilAnswered(message)
    }),
    deposit,
    lookUp: Effect.fnUntraced(function*(id) {
      const name = `what became of ${id}`
      const reply = yield* ask(name, provider.get(`/api/v1/provider/wallet/transactions/${id}`))
      const found = yield* dataOf(name, Fate, reply)
      tally.countAnswers(["looked up"])
      if (found !== undefined) check(name, { transaction_id: id, status: fateOf(books.book, id) }, found)
    }),
    readBalance: Effect.gen(function*() {
      const by = (yield* Random.nextBoolean) ? { session_token: names.token } : { player_ref: names.playerRef }
      const reply = yield* ask("balance", provider.post("/api/v1/provider/wallet/balance", JSON.stringify(by)))
      const found = yield* dataOf("balance", Balances, reply)
      tally.countAnswers(["looked up"])
      if (found !== undefined) check("balance", { balance: books.book.balance, bonus_balance: 0, currency }, found)
    })
  }
}

/** A player at a game, from the provider's side: sends messages, and judges each answer by the state that is expected. */
import { Clock, Effect, Random, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { randomUUID } from "node:crypto"
import { type Decimal, fromUnits, toMinorUnits } from "../../src/protocols/Decimal.ts"
import { minorDigits } from "../../src/domain/Standards.ts"
import type {
  BetMessage,
  Circumstances,
  Dialect,
  Message,
  PlayedTransaction,
  Reading,
  RollbackMessage,
  Session,
  Situation,
  WinMessage
} from "./Dialect.ts"
import { type Answered, type Difference, type Opening, PossibleStates, type Sending } from "./ExpectedState.ts"
import { decimalText } from "./Reading.ts"
import type { RunStats } from "./RunStats.ts"
import { SimulatorError } from "./SimulatorError.ts"
import { SituationState } from "./SituationState.ts"

/** Longer than any provider waits. */
const patience = "20 seconds"
/** How long a call is repeated that the wallet does not answer, or cannot. */
const maxAbsence_s = 60

/** A round that the provider gave up: it got no answer to a bet and took the bet back. */
export class GivenUp extends Schema.TaggedError<GivenUp>()("GivenUp", {}) {}

type Failure = GivenUp | SimulatorError

export interface PlayerSessionOptions {
  readonly url: string
  readonly dialect: Dialect
  readonly session: Session
  readonly stats: RunStats
  readonly pace: Effect.Effect<void>
  readonly notePlayed: (played: PlayedTransaction) => void
  /** The wallet before the session, where it is known; else the first answer is believed. */
  readonly opening?: Opening | undefined
  /** The player in a difference; the player's name at the wallet unless given. */
  readonly name?: string | undefined
  readonly newId?: (() => string) | undefined
  /** Before the first repeat of a call that the wallet could not answer; doubled for each further one. */
  readonly repeatDelay_ms?: number | undefined
}

export interface SendOptions {
  /** Of a message that is wrong by itself. */
  readonly situation?: Situation
  readonly session?: Session
  readonly damage?: Circumstances["damage"]
}

/** A message as a person reads it in a difference. */
const nameOf = (message: Message): string => {
  switch (message.kind) {
    case "batch":
      return `batch of ${message.messages.map(nameOf).join(", ")}`
    case "bet_win":
      return `bet_win ${message.bet.id} of ${decimalText(message.bet.amount)}`
    case "rollback":
      return `rollback ${message.id} of ${message.targetId ?? message.bet.id}`
    case "close":
      return `close of round ${message.roundId}`
    default:
      return [
        message.kind,
        ..."id" in message ? [message.id] : [],
        ..."amount" in message ? [`of ${decimalText(message.amount)}`] : []
      ].join(" ")
  }
}

/** What the provider's feed has of a message. */
const playedIn = (message: Message): ReadonlyArray<PlayedTransaction["message"]> =>
  message.kind === "bet_win"
    ? [message.bet, message.win]
    : message.kind === "bet" || message.kind === "win" || message.kind === "rollback"
    ? [message]
    : []

/** Opens a session; the first messages find out whose it is and what there is to play with. */
export const openPlayerSession = Effect.fnUntraced(function*(options: PlayerSessionOptions) {
  const { dialect, notePlayed, opening, pace, repeatDelay_ms = 100, stats, url } = options
  const client = yield* HttpClient.HttpClient
  const digits = minorDigits(options.session.currency)
  const newId = options.newId ?? randomUUID
  const audit = dialect.audit?.()
  let session = options.session
  const states = new PossibleStates(
    dialect.expectedState?.(session, opening) ?? new SituationState(dialect, digits),
    ({ balance }) => balance === undefined ? undefined : toMinorUnits(balance, digits)
  )

  const report = (message: Message, situation: string, text: string, answered: Answered | undefined): void => {
    const name = options.name ?? `player ${session.playerRef}`
    const answer = answered === undefined ? "" : `; HTTP ${answered.status} ${answered.body.slice(0, 300)}`
    stats.differ(`${name}: ${nameOf(message)} (${situation}): ${text}${answer}`)
  }

  const reportAll = (differences: ReadonlyArray<Difference>): void => {
    for (const { answered, sending, situation, text } of differences) report(sending.message, situation, text, answered)
  }

  /** One call and its answer. Interrupting it breaks the connection. */
  const call = Effect.fnUntraced(
    function*(message: Message, { damage = "none", session: other = session }: SendOptions) {
      const callId = randomUUID()
      const now = yield* Clock.currentTimeMillis
      const wire = dialect.request(message, other, { callId, now, damage })
      const address = `${url}${wire.path}${wire.query === undefined ? "" : `?${wire.query}`}`
      const { "content-type": contentType = "application/json", ...headers } = wire.headers
      const request = HttpClientRequest.make(wire.method)(address, { headers })
      stats.calls++
      const startedAt_ns = yield* Clock.currentTimeNanos
      const response = yield* client.execute(
        wire.method === "GET" ? request : HttpClientRequest.bodyText(request, wire.body, contentType)
      )
      const body = yield* response.text
      stats.countLatency(Number((yield* Clock.currentTimeNanos) - startedAt_ns) / 1e6)
      const { headers: answered, status } = response
      const answer = { status, contentType: answered["content-type"] ?? "", body, headers: { ...answered } }
      return { reading: dialect.read(message, other, callId, answer), status, body } satisfies Answered
    }
  )

  /** One call. Undefined: its outcome is unknown, since no answer came, or one that asks for the call again. */
  const attempt = Effect.fnUntraced(function*(message: Message, sending: SendOptions, isTogether = false) {
    const answered = yield* call(message, sending).pipe(Effect.timeout(patience), Effect.orElseSucceed(() => undefined))
    if (answered === undefined) {
      stats.countAnswer("no answer")
      return undefined
    }
    const { body, reading, status } = answered
    const situation = sending.situation ?? states.state.decide(message).situation
    for (const problem of [...reading.problems, ...audit?.(message, reading) ?? []]) {
      report(message, situation, problem, answered)
    }
    const codes = states.codesOf({ message, situation: sending.situation }, isTogether)
    const isAgain = reading.retry && !codes.includes(reading.code)
    const label = isAgain
      ? `${message.kind}: ${reading.code}, sent again`
      : `${message.kind} ${situation}: ${reading.code}`
    stats.countAnswer(...reading.labels ?? [label])
    return isAgain ? undefined : { reading, status, body }
  })

  const attemptInTurn = (message: Message, sending: SendOptions) => Effect.andThen(pace, attempt(message, sending))

  const note = Effect.fnUntraced(
    function*(sendings: ReadonlyArray<Sending>, told: ReadonlyArray<Answered | undefined>) {
      const differences = states.note(sendings, told)
      reportAll(differences)
      return differences.length === 0
    }
  )

  /** Notes for the feed what moved money. */
  const notePlay = Effect.fnUntraced(function*(message: Message) {
    const at = yield* Clock.currentTimeMillis
    for (const each of playedIn(message)) notePlayed({ at, session, message: each })
  })

  /** Repeats a call until it is answered. */
  const insist = Effect.fnUntraced(function*<A>(message: Message, ask: Effect.Effect<A | undefined>) {
    const startedAt_ms = yield* Clock.currentTimeMillis
    for (let repeats = 0;; repeats++) {
      const told = yield* ask
      if (told !== undefined) return told
      if ((yield* Clock.currentTimeMillis) - startedAt_ms > maxAbsence_s * 1000) {
        return yield* new SimulatorError({
          message: `no answer for ${maxAbsence_s} s: ${nameOf(message)}. Is the service still there?`
        })
      }
      yield* Effect.sleep(Math.min(2000, repeatDelay_ms * 2 ** repeats))
    }
  })

  /** One call, judged; undefined when its outcome is unknown. */
  const attemptJudged = Effect.fnUntraced(function*(message: Message, sending: SendOptions) {
    const { situation } = sending
    const { moves } = states.state.decide(message, situation)
    const answered = yield* attemptInTurn(message, sending)
    const isRight = yield* note([{ message, situation }], [answered])
    if (answered !== undefined && isRight && moves) yield* notePlay(message)
    return answered?.reading
  })

  /** Sends a message until it is answered, and judges the answer. */
  const sendUntilAnswered = (message: Message, sending: SendOptions) => insist(message, attemptJudged(message, sending))

  const rollbackOf = (bet: BetMessage, targetId?: string): RollbackMessage => ({
    kind: "rollback",
    id: newId(),
    roundId: bet.roundId,
    gameId: bet.gameId,
    bet,
    ...targetId !== undefined && { targetId }
  })

  /** Takes bets back whose outcome is unknown. */
  const giveUp = Effect.fnUntraced(function*(bets: ReadonlyArray<BetMessage>): Effect.fn.Return<never, Failure> {
    yield* Effect.forEach(bets, (bet) => sendUntilAnswered(rollbackOf(bet), {}), { discard: true })
    return yield* new GivenUp()
  })

  const isTakenBack = (message: Message): message is BetMessage =>
    message.kind === "bet" && dialect.unansweredBets === "rollback"

  /** Sends a message until it is answered, and judges the answer. A bet that is not answered is taken back, where the protocol says so. */
  const send = Effect.fnUntraced(
    function*(message: Message, sending: SendOptions = {}): Effect.fn.Return<Reading, Failure> {
      if (!isTakenBack(message)) {
        const reading = yield* sendUntilAnswered(message, sending)
        if (message.kind === "authenticate") {
          session = {
            ...session,
            token: reading.token ?? session.token,
            playerRef: reading.playerRef ?? session.playerRef
          }
        }
        return reading
      }
      return (yield* attemptJudged(message, sending)) ?? (yield* giveUp([message]))
    }
  )

  /** Sends messages at the same moment: some order of them must explain the answers. */
  const sendTogether = Effect.fnUntraced(
    function*(messages: ReadonlyArray<Message>): Effect.fn.Return<void, Failure> {
      const moving = new Set(messages.filter((message) => states.state.decide(message).moves))
      for (const _ of messages) yield* pace
      const told = yield* Effect.forEach(messages, (message) => attempt(message, {}, true), {
        concurrency: "unbounded"
      })
      const isRight = yield* note(messages.map((message) => ({ message })), told)
      if (isRight) { for (const message of moving) yield* notePlay(message) }
      const unanswered = messages.filter((_, index) => told[index] === undefined)
      for (const message of unanswered) if (!isTakenBack(message)) yield* sendUntilAnswered(message, {})
      const bets = unanswered.filter(isTakenBack)
      if (bets.length > 0) return yield* giveUp(bets)
    }
  )

  /** Sends a message and breaks the connection before the answer is read; then takes a bet back, and sends anything else again. */
  const sendAndHangUp = Effect.fnUntraced(function*(message: Message): Effect.fn.Return<void, Failure> {
    yield* pace
    yield* call(message, {}).pipe(Effect.timeoutOption(yield* Random.nextIntBetween(0, 8)), Effect.ignore)
    stats.countAnswer("not waited for")
    states.note([{ message }], [undefined])
    if (message.kind !== "bet") return yield* Effect.asVoid(sendUntilAnswered(message, {}))
    return yield* giveUp([message])
  })

  /** Asks whose session it is, or for the balance, and believes the answer. */
  const believe = Effect.fnUntraced(function*(kind: "authenticate" | "balance") {
    const { reading } = yield* insist({ kind }, attemptInTurn({ kind }, {}))
    const { balance, code, playerRef, token } = reading
    session = { ...session, token: token ?? session.token, playerRef: playerRef ?? session.playerRef }
    if (balance !== undefined) states.change((state) => state.withBalance(toMinorUnits(balance, digits) ?? 0))
    return balance === undefined ? code : undefined
  })

  /** Whether play can begin: there is a balance to play with. */
  const open = Effect.gen(function*() {
    if (opening !== undefined) {
      yield* Effect.catchTag(send({ kind: "authenticate" }), "GivenUp", () => Effect.void)
      return true
    }
    const isUnknown = session.playerRef === ""
    let refusal = isUnknown ? yield* believe("authenticate") : undefined
    if (dialect.balance) refusal = yield* believe("balance")
    else if (!isUnknown && dialect.authenticate !== "none") refusal = yield* believe("authenticate")
    if (refusal !== undefined) report({ kind: "balance" }, "new", `no balance at the start: ${refusal}`, undefined)
    return refusal === undefined
  })

  const amountOf = (minor: number): Decimal => fromUnits(minor, digits)

  const isOpen = yield* open

  return {
    dialect,
    isOpen,
    name: options.name,
    digits,
    newId,
    amountOf,
    session: () => session,
    state: () => states.state,
    /** Minor units. */
    balance: () => states.state.balance,
    noteDeposit: (minor: number) => states.change((state) => state.withDeposit(minor)),
    /** Forgets what no message will name again, so that a long run stays small. */
    prune: () => states.change((state) => state.pruned()),
    send,
    sendTogether,
    sendAndHangUp,
    newBet: (minor: number, roundId: string = newId(), grant: string | null = null): BetMessage => ({
      kind: "bet",
      id: newId(),
      roundId,
      gameId: session.gameId,
      amount: amountOf(minor),
      grant
    }),
    winOf: (bet: BetMessage, minor: number, closes = true): WinMessage => ({
      kind: "win",
      id: newId(),
      roundId: bet.roundId,
      gameId: bet.gameId,
      bet: dialect.winsName === "bet" ? bet : null,
      amount: amountOf(minor),
      closes,
      grant: bet.grant
    }),
    rollbackOf
  }
})

export type PlayerSession = Effect.Success<ReturnType<typeof openPlayerSession>>

/** One player at a game: sends the vendor's calls, and holds each answer against the description and the books. */
import { Clock, Effect } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { randomUUID } from "node:crypto"
import { type Decimal, fromUnits, toMinorUnits } from "../../src/protocols/Decimal.ts"
import { minorDigits } from "../../src/domain/Standards.ts"
import { Books } from "./Books.ts"
import type {
  BetMessage,
  Circumstances,
  Dialect,
  Expectation,
  Message,
  PlayedTransaction,
  Reading,
  RollbackMessage,
  Session,
  Situation,
  WinMessage
} from "./Dialect.ts"
import { decimalText } from "./Reading.ts"
import type { Tally } from "./Tally.ts"

/** Longer than any vendor waits. */
const patience = "20 seconds"
/** How often a call is sent again that the wallet cannot answer. */
const maxRepeats = 20

export interface SeatOptions {
  readonly url: string
  readonly dialect: Dialect
  readonly session: Session
  readonly tally: Tally
  readonly pace: Effect.Effect<void>
  readonly notePlayed: (played: PlayedTransaction) => void
  /** Before the first repeat of a call that the wallet could not answer; doubled for each further one. */
  readonly repeatDelay_ms?: number
}

type Sent = { readonly reading: Reading; readonly status: number; readonly body: string } | undefined

interface SendOptions {
  readonly situation?: Situation
  readonly session?: Session
  readonly damage?: Circumstances["damage"]
}

/** Either of two answers; of the balance only what both of them ask. */
const union = (one: Expectation, other: Expectation): Expectation => ({
  codes: [...one.codes, ...other.codes],
  http: [...one.http ?? [200], ...other.http ?? [200]],
  moves: one.moves,
  ...one.balance !== undefined && one.balance === other.balance && { balance: one.balance }
})

/** Whether the wallet asks for the call again: some protocols have one word for that and for a refusal that is wanted here. */
const asksAgain = ({ reading }: NonNullable<Sent>, { codes }: Expectation): boolean =>
  reading.retry && !codes.includes(reading.code)

/** Takes a seat; the first messages find out whose it is and what there is to play with. */
export const takeSeat = Effect.fnUntraced(function*(options: SeatOptions) {
  const { dialect, notePlayed, pace, repeatDelay_ms = 100, tally, url } = options
  const client = yield* HttpClient.HttpClient
  const digits = minorDigits(options.session.currency)
  const minorOf = ({ amount }: { readonly amount: Decimal }): number => toMinorUnits(amount, digits) ?? Number.NaN
  const books = new Books(dialect, minorOf)
  let session = options.session

  const waitAfter = (repeats: number) => Effect.sleep(Math.min(2000, repeatDelay_ms * 2 ** repeats))

  const about = (message: Message): string => {
    const name = "id" in message ? ` ${message.id}` : message.kind === "bet_win" ? ` ${message.bet.id}` : ""
    const amount = "amount" in message ? ` of ${decimalText(message.amount)}` : ""
    return `player ${session.playerRef}: ${message.kind}${name}${amount}`
  }

  /** One call and its answer; undefined when none came. */
  const call = Effect.fnUntraced(
    function*(message: Message, { damage = "none", session: other = session }: SendOptions) {
      const callId = randomUUID()
      const now = yield* Clock.currentTimeMillis
      const wire = dialect.request(message, other, { callId, now, damage })
      const address = `${url}${wire.path}${wire.query === undefined ? "" : `?${wire.query}`}`
      const { "content-type": contentType = "application/json", ...headers } = wire.headers
      const request = HttpClientRequest.make(wire.method)(address, { headers })
      tally.calls++
      const response = yield* client.execute(
        wire.method === "GET" ? request : HttpClientRequest.bodyText(request, wire.body, contentType)
      )
      const body = yield* response.text
      tally.countAnswered((yield* Clock.currentTimeMillis) - now)
      const answer = { status: response.status, contentType: response.headers["content-type"] ?? "", body }
      return { reading: dialect.read(message, other, callId, answer), status: response.status, body }
    }
  )

  const attempt = (message: Message, sending: SendOptions): Effect.Effect<Sent> =>
    Effect.andThen(
      pace,
      call(message, sending).pipe(Effect.timeout(patience), Effect.orElseSucceed(() => undefined))
    )

  const note = (message: Message): Effect.Effect<void> =>
    Effect.map(Clock.currentTimeMillis, (at) => {
      if (message.kind === "bet_win") {
        notePlayed({ at, session, message: message.bet })
        notePlayed({ at, session, message: message.win })
      } else if (message.kind === "bet" || message.kind === "win" || message.kind === "rollback") {
        notePlayed({ at, session, message })
      }
    })

  /** Holds one answer against what it must be, and says whether it is that. Amounts are judged after the books are kept. */
  const judge = (
    message: Message,
    situation: string,
    expectation: Expectation,
    { body, reading, status }: NonNullable<Sent>
  ): boolean => {
    tally.countAnswer(`${message.kind} ${situation}: ${reading.code}`)
    const complain = (what: string) =>
      tally.differ(`${about(message)} (${situation}): ${what}; HTTP ${status} ${body.slice(0, 300)}`)
    for (const problem of reading.problems) complain(problem)
    const http = expectation.http ?? [200]
    if (!http.includes(status)) complain(`HTTP ${status} instead of ${http.join(" or ")}`)
    const isRight = expectation.codes.includes(reading.code)
    if (!isRight) complain(`${reading.code} instead of ${expectation.codes.join(" or ")}`)
    const { balance } = reading
    if (balance === undefined && expectation.balance === "required") complain("the balance is missing")
    if (balance !== undefined && expectation.balance === "absent") complain("a balance where none belongs")
    return isRight
  }

  const judgeBalance = (message: Message, situation: string, { body, reading: { balance } }: NonNullable<Sent>) => {
    if (balance === undefined) return
    const minor = toMinorUnits(balance, digits)
    const expected = Math.max(0, books.balance)
    if (minor === expected) return
    tally.differ(
      `${about(message)} (${situation}): balance ${decimalText(balance)} instead of ${
        decimalText(fromUnits(expected, digits))
      }; ${body.slice(0, 300)}`
    )
    // what comes next is judged by what the wallet says, so that one difference is one
    if (minor !== undefined) books.balance = minor
  }

  /** Sends a message until it is answered, keeps the books, and gives the answer. */
  const send = Effect.fnUntraced(function*(message: Message, sending: SendOptions = {}) {
    const situation = sending.situation ?? books.situationOf(message)
    const expectation = dialect.expect(message.kind, situation)
    let repeats = 0
    let sent = yield* attempt(message, sending)
    while ((sent === undefined || asksAgain(sent, expectation)) && repeats < maxRepeats) {
      repeats++
      tally.countAnswer(sent === undefined ? "no answer" : `${message.kind}: ${sent.reading.code}, sent again`)
      yield* waitAfter(repeats - 1)
      sent = yield* attempt(message, sending)
    }
    if (sent === undefined) {
      tally.differ(`${about(message)}: no answer, ${repeats} times`)
      return undefined
    }
    // an attempt that was not answered may have been settled
    const allowed = repeats === 0 ? expectation : union(expectation, dialect.expect(message.kind, "again"))
    const isRight = judge(message, situation, allowed, sent)
    if (isRight && (sending.damage ?? "none") === "none") {
      books.apply(message, situation, expectation.moves)
      if (expectation.moves) yield* note(message)
    }
    judgeBalance(message, situation, sent)
    const { playerRef, token } = sent.reading
    if (message.kind === "authenticate" && isRight) {
      session = { ...session, token: token ?? session.token, playerRef: playerRef ?? session.playerRef }
    }
    return sent.reading
  })

  /** The same message several times at once: it is settled once, and all of them hear so. */
  const sendAtOnce = Effect.fnUntraced(function*(message: Message, times: number) {
    const situation = books.situationOf(message)
    const first = dialect.expect(message.kind, situation)
    const again = dialect.expect(message.kind, situation === "first" ? "again" : situation)
    const sendings = Array.from({ length: times }, () => attempt(message, {}))
    const answers = yield* Effect.all(sendings, { concurrency: "unbounded" })
    const answered = answers.filter((sent) => sent !== undefined)
    const label = `${situation}, many at once`
    const either = union(first, again)
    const settled = answered.filter((sent) => !asksAgain(sent, either))
    let isRight = settled.length > 0
    for (const sent of settled) isRight = judge(message, label, either, sent) && isRight
    const asFirst = answered.filter(({ reading }) => first.codes.includes(reading.code)).length
    const isTold = !first.codes.some((code) => again.codes.includes(code))
    if (isTold && asFirst > 1) tally.differ(`${about(message)} (${label}): ${asFirst} answers as of the first one`)
    if (isRight) {
      books.apply(message, situation, first.moves)
      if (first.moves) yield* note(message)
    }
    const last = settled.at(-1)
    if (last !== undefined) judgeBalance(message, label, last)
    // one of them may not have been answered
    if (settled.length < times) yield* send(message)
  })

  /** Sends a bet, waits too short a time, and takes it back: whether it came or not, nothing has moved in the end. */
  const giveUp = Effect.fnUntraced(function*(bet: BetMessage, rollback: RollbackMessage, patience_ms: number) {
    yield* pace
    const sent = yield* Effect.timeoutOption(call(bet, {}), patience_ms).pipe(Effect.orElseSucceed(() => undefined))
    const isAnswered = sent?._tag === "Some"
    tally.countAnswer(isAnswered ? "bet that was given up: answered in time" : "bet that was given up: no answer")
    const expectation = union(dialect.expect("rollback", "first"), dialect.expect("rollback", "unknown"))
    for (let repeats = 0; repeats <= maxRepeats; repeats++) {
      const taken = yield* attempt(rollback, {})
      if (taken !== undefined && !asksAgain(taken, expectation)) {
        judge(rollback, "given up", expectation, taken)
        judgeBalance(rollback, "given up", taken)
        return
      }
      yield* waitAfter(repeats)
    }
    tally.differ(`${about(rollback)}: no answer`)
  })

  /** Sends a win, waits too short a time, and sends it again until it is answered. */
  const giveUpWin = Effect.fnUntraced(function*(win: WinMessage, patience_ms: number) {
    const situation = books.situationOf(win)
    yield* pace
    yield* Effect.timeoutOption(call(win, {}), patience_ms).pipe(Effect.orElseSucceed(() => undefined))
    const expectation = union(dialect.expect("win", situation), dialect.expect("win", "again"))
    for (let repeats = 0; repeats <= maxRepeats; repeats++) {
      const paid = yield* attempt(win, {})
      if (paid !== undefined && !asksAgain(paid, expectation)) {
        if (judge(win, `${situation}, sent again unanswered`, expectation, paid)) {
          books.apply(win, situation, dialect.expect("win", situation).moves)
          yield* note(win)
        }
        return judgeBalance(win, situation, paid)
      }
      yield* waitAfter(repeats)
    }
    tally.differ(`${about(win)}: no answer`)
  })

  const amount = (minor: number): Decimal => fromUnits(minor, digits)

  /** Asks for the balance where the protocol has such a call, and believes it. */
  const open = Effect.gen(function*() {
    const sent = dialect.balance
      ? yield* attempt({ kind: "balance" }, {})
      : dialect.authenticate === "none"
      ? undefined
      : yield* attempt({ kind: "authenticate" }, {})
    if (sent === undefined) return false
    const { balance, code, playerRef, token } = sent.reading
    if (!dialect.balance) {
      session = { ...session, token: token ?? session.token, playerRef: playerRef ?? session.playerRef }
    }
    if (balance === undefined) {
      tally.differ(
        `player ${session.playerRef}: no balance at the start; ${code}, HTTP ${sent.status} ${sent.body.slice(0, 300)}`
      )
      return false
    }
    books.balance = toMinorUnits(balance, digits) ?? 0
    return true
  })
  if (session.playerRef === "") yield* send({ kind: "authenticate" })
  const isOpen = yield* open

  return {
    dialect,
    books,
    isOpen,
    digits,
    amount,
    session: () => session,
    send,
    sendAtOnce,
    giveUp,
    giveUpWin,
    newBet: (minor: number, roundId: string = randomUUID(), grant: string | null = null): BetMessage => ({
      kind: "bet",
      id: randomUUID(),
      roundId,
      gameId: session.gameId,
      amount: amount(minor),
      grant
    }),
    winOf: (bet: BetMessage, minor: number, closes = true): WinMessage => ({
      kind: "win",
      id: randomUUID(),
      roundId: bet.roundId,
      gameId: bet.gameId,
      bet: dialect.winsName === "bet" ? bet : null,
      amount: amount(minor),
      closes,
      grant: bet.grant
    }),
    rollbackOf: (bet: BetMessage): RollbackMessage => ({
      kind: "rollback",
      id: randomUUID(),
      roundId: bet.roundId,
      gameId: bet.gameId,
      bet
    })
  }
})

export type Seat = Effect.Success<ReturnType<typeof takeSeat>>

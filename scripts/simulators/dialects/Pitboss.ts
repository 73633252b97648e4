/** A provider's side of Pitboss's own protocol. What must be answered says a model of the wallet. */
import { HashMap, Result, Schema } from "effect"
import { createHmac } from "node:crypto"
import { fromUnits } from "../../../src/protocols/Decimal.ts"
import { minorDigits } from "../../../src/domain/Standards.ts"
import type {
  BetMessage,
  Dialect,
  DialectDefinition,
  Expectation,
  Expectations,
  Message,
  PromoMessage,
  Reading,
  ServerCall,
  Session,
  Situation,
  Situations,
  WinMessage
} from "../Dialect.ts"
import type { Answered, Decision, ExpectedState, Opening } from "../ExpectedState.ts"
import { expecting } from "../Reading.ts"
import { type Answer, differences, labelsOf, partsOf, read } from "../pitboss/WalletAnswer.ts"
import {
  type Bet,
  bodyOf,
  type Message as WalletMessage,
  pathOf,
  type PromoWin,
  type Rollback,
  transactionIdOf,
  type Win
} from "../pitboss/WalletMessages.ts"
import { decide, emptyWallet, fateOf, move, type Wallet } from "../pitboss/WalletModel.ts"

const Settings = Schema.Struct({ key: Schema.String, secret: Schema.String })

/** Where the protocol is served: a part of what is signed. */
const base = "/api/v1/provider/wallet"

/** Minor units as the protocol writes them; a finer amount is no whole number. */
const minorOf = ({ amount }: Pick<BetMessage, "amount">, digits: number): number =>
  amount.coefficient * 10 ** (digits - amount.scale)

const roundOf = ({ gameId, roundId }: BetMessage | WinMessage) => ({ gameId, roundId })

const betOf = (message: BetMessage, { currency }: Session): Bet => ({
  kind: "bet",
  id: message.id,
  round: roundOf(message),
  amount: minorOf(message, minorDigits(currency)),
  currency,
  session: "real",
  closes: message.closes === true
})

const winOf = (message: WinMessage, { currency }: Session): Win => ({
  kind: "win",
  id: message.id,
  round: roundOf(message),
  betId: message.bet?.id ?? "",
  amount: minorOf(message, minorDigits(currency)),
  closes: message.closes
})

const prizes = ["jackpot", "tournament", "free_rounds", "cash_drop"] as const

/** Of each kind some: which one says its id. */
const prizeOf = ({ id }: PromoMessage): PromoWin["prize"] =>
  prizes[(id.codePointAt(id.length - 1) ?? 0) % prizes.length] ?? "jackpot"

/** Messages that settle something. */
type Settling = Exclude<Message, { readonly kind: "authenticate" | "balance" | "look_up" }>

function walletMessageOf(
  message: BetMessage | WinMessage | Extract<Message, { kind: "rollback" }>,
  session: Session
): Bet | Win | Rollback
function walletMessageOf(message: Settling, session: Session): WalletMessage
function walletMessageOf(message: Settling, session: Session): WalletMessage {
  switch (message.kind) {
    case "bet":
      return betOf(message, session)
    case "win":
      return winOf(message, session)
    case "rollback":
      return { kind: "rollback", id: message.id, targetId: message.targetId ?? message.bet.id }
    case "bet_win":
      return { kind: "bet_win", bet: betOf(message.bet, session), win: winOf(message.win, session) }
    case "promo": {
      const amount = minorOf(message, minorDigits(session.currency))
      return { kind: "promo_win", id: message.id, amount, prize: prizeOf(message) }
    }
    case "close":
      return { kind: "close", round: { gameId: message.gameId, roundId: message.roundId } }
    case "batch":
      return {
        kind: "batch",
        id: message.id,
        actions: message.messages.map((each) => walletMessageOf(each, session))
      }
  }
}

/** Messages that are wrong by themselves: the status and the code. */
const refusals: { readonly [situation in Situation]?: readonly [status: number, code: string] } = {
  malformed: [422, "INVALID_REQUEST"],
  forged: [401, "INVALID_SIGNATURE"],
  fractional_amount: [422, "VALIDATION_FAILED"],
  wrong_currency: [422, "VALIDATION_FAILED"],
  session_expired: [401, "INVALID_SESSION"]
}

const isSettling = (message: Message): message is Settling =>
  message.kind !== "authenticate" && message.kind !== "balance" && message.kind !== "look_up"

/** The state by the contract after all messages so far. */
class WalletState implements ExpectedState {
  readonly facts: Wallet
  readonly #session: Session

  constructor(session: Session, facts: Wallet) {
    this.#session = session
    this.facts = facts
  }

  get balance(): number {
    return this.facts.balance
  }

  get entries(): number {
    return this.facts.entries
  }

  #with(facts: Wallet): WalletState {
    return new WalletState(this.#session, facts)
  }

  withDeposit(minor: number): WalletState {
    return this.#with(move(this.facts, minor))
  }

  withBalance(balance: number): WalletState {
    return this.#with({ ...this.facts, balance })
  }

  /** Ids are remembered for ever. */
  pruned(): WalletState {
    return this
  }

  decide(message: Message, situation?: Situation): Decision {
    const { currency } = this.facts
    const decision = {
      situation: situation ?? "after what came before",
      codes: [],
      moves: false,
      next: this
    }
    if (!isSettling(message)) return { ...decision, differences: (answered) => this.#lookedUp(message, answered) }
    const own = walletMessageOf(message, this.#session)
    const [status, code] = (situation === undefined ? undefined : refusals[situation]) ?? []
    if (status !== undefined && code !== undefined) {
      const expected = { _tag: "Refused", status, code } as const
      return { ...decision, differences: ({ reading }) => differences(own, expected, told(reading), currency) }
    }
    const { expected, wallet } = decide(this.facts, own)
    return {
      ...decision,
      moves: wallet.entries !== this.facts.entries,
      differences: ({ reading }) => differences(own, expected, told(reading), currency),
      next: wallet === this.facts ? this : this.#with(wallet)
    }
  }

  #lookedUp(message: Message, { reading: { balance, code }, status }: Answered): ReadonlyArray<string> {
    const expected = message.kind === "look_up" ? fateOf(this.facts, message.id) : "OK"
    const minor = balance === undefined ? undefined : minorOf({ amount: balance }, minorDigits(this.facts.currency))
    return [
      ...status === 200 ? [] : [`HTTP ${status} instead of 200`],
      ...code === expected ? [] : [`${code} instead of ${expected}`],
      ...minor === undefined || minor === this.balance ? [] : [`balance ${minor} instead of ${this.balance}`]
    ]
  }
}

const told = ({ answer, code }: Reading): Answer => answer ?? { _tag: "Unreadable", reason: code }

/** A replay names the entries of the first answer, and an entry belongs to one message. */
const audit = (): NonNullable<Dialect["audit"]> extends () => infer Check ? Check : never => {
  const entriesOf = new Map<string, string>()
  const messageOf = new Map<number, string>()
  return (message, { answer }) => {
    if (answer?._tag !== "Settled" || !isSettling(message)) return []
    const parts = partsOf(walletMessageOf(message, { token: "", playerRef: "", currency: "EUR", gameId: "" }))
    return parts.flatMap((part, index) => {
      const id = transactionIdOf(part)
      const ids = answer.results[index]?.wallet_transaction_ids
      if (id === undefined || ids === undefined) return []
      const name = `${part.kind} ${id}`
      const known = entriesOf.get(name)
      if (known !== undefined) {
        return known === ids.join() ? [] : [`${name}: ledger entries ${ids.join()} instead of ${known}`]
      }
      entriesOf.set(name, ids.join())
      const taken = ids.filter((entry) => messageOf.has(entry))
      for (const entry of ids) messageOf.set(entry, name)
      return taken.map((entry) => `${name}: ledger entry ${entry} belongs to another message`)
    })
  }
}

const Balances = {
  balance: Schema.Int,
  bonus_balance: Schema.Literal(0),
  currency: Schema.String
}
const decodeBalance = Schema.decodeUnknownResult(
  Schema.fromJsonString(Schema.Struct({ data: Schema.Struct(Balances) }))
)
const decodeSession = Schema.decodeUnknownResult(
  Schema.fromJsonString(Schema.Struct({ data: Schema.Struct({ ...Balances, player_ref: Schema.String }) }))
)
const decodeFate = Schema.decodeUnknownResult(
  Schema.fromJsonString(
    Schema.Struct({ data: Schema.Struct({ transaction_id: Schema.String, status: Schema.String }) })
  )
)

/** The answer to a message that settles nothing. */
const readLookUp = (
  message: Message,
  session: Session,
  { body, status }: { readonly body: string; readonly status: number }
): Omit<Reading, "retry"> => {
  const unreadable = { code: `${status}`, problems: [`unreadable: ${body.slice(0, 300)}`] }
  if (status !== 200) return { code: `${status}`, problems: [] }
  if (message.kind === "look_up") {
    const decoded = decodeFate(body)
    if (Result.isFailure(decoded)) return unreadable
    const { status: fate, transaction_id: id } = decoded.success.data
    return { code: fate, problems: id === message.id ? [] : [`transaction_id ${id} instead of ${message.id}`] }
  }
  const decoded = message.kind === "authenticate" ? decodeSession(body) : decodeBalance(body)
  if (Result.isFailure(decoded)) return unreadable
  const { balance, currency } = decoded.success.data
  const digits = minorDigits(currency)
  return {
    code: "OK",
    balance: fromUnits(balance, digits),
    playerRef: "player_ref" in decoded.success.data ? String(decoded.success.data.player_ref) : undefined,
    problems: currency === session.currency ? [] : [`currency ${currency} instead of ${session.currency}`]
  }
}

/** What an answer of 500 or more tells the provider to do. */
const retryProblems = (message: Message, answer: Answer): ReadonlyArray<string> => {
  if (!isSettling(message)) return []
  const expected = message.kind === "bet" ? "rollback" : "same_request"
  const given = answer._tag === "Refused" ? answer : undefined
  return given?.status === 503 && given.retry === expected
    ? []
    : [`${labelsOf(answer).join()} with details.retry ${given?.retry ?? "missing"} instead of 503 with ${expected}`]
}

const refused = (http: number, code: string): Expectation => ({
  codes: [`${http} ${code}`],
  http: [http],
  moves: false
})

const expectations: Expectations = {
  authenticate: { new: { codes: ["OK"], moves: false } },
  balance: { new: { codes: ["OK"], moves: false, balance: "required" } },
  bet: { insufficient_funds: refused(402, "INSUFFICIENT_FUNDS") },
  rollback: { unknown: { codes: ["ignored"], moves: false, balance: "required" } }
}

/** Of every message that settles. What comes of it in each state of the wallet says the model. */
const settled: Situations = {
  new: { codes: ["processed"], moves: true, balance: "required" },
  duplicate: { codes: ["replayed"], moves: false, balance: "required" },
  session_expired: refused(401, "INVALID_SESSION")
}

/** The address of a launch: `…/launch?token={token}&game={game}&mode={mode}` in the provider's settings. */
const serve = ({ method, path, query }: ServerCall, open: (session: Session) => string) => {
  if (method !== "GET" || path !== "/launch") return undefined
  const [token, gameId] = [query.get("token"), query.get("game")]
  if (token === null || gameId === null) return { status: 400, body: "token and game are missing" }
  if (query.get("mode") === "real") open({ token, playerRef: "", currency: query.get("currency") ?? "EUR", gameId })
  return { status: 200, body: "The game is played by the provider simulator.\n", contentType: "text/plain" }
}

const make = ({ key, secret }: typeof Settings.Type): Dialect => {
  const sign = (parts: ReadonlyArray<string>): string =>
    createHmac("sha256", secret).update(parts.join("\n")).digest("hex")

  const writtenOf = (message: Message, session: Session, callId: string) => {
    const names = { ...session, demoToken: session.freePlayToken ?? "" }
    switch (message.kind) {
      case "authenticate":
        return { path: `${base}/authenticate`, fields: { session_token: session.token } }
      case "balance":
        // by one or the other, as it comes
        return {
          path: `${base}/balance`,
          fields: session.playerRef === "" || callId < "8"
            ? { session_token: session.token }
            : { player_ref: session.playerRef }
        }
      case "look_up":
        return { path: `${base}/transactions/${message.id}` }
      default: {
        const own = walletMessageOf(message, session)
        return { path: pathOf(own), fields: bodyOf(own, names) }
      }
    }
  }

  return {
    authenticate: "keeps",
    balance: true,
    winsName: "bet",
    winsPerBet: "many",
    promo: true,
    betWin: true,
    close: true,
    sessions: true,
    malformed: true,
    batch: true,
    lookUp: true,
    isExact: true,
    unansweredBets: "rollback",
    tooFine: ({ coefficient, scale }, minorDigits) => ({
      coefficient: coefficient * 10 ** (minorDigits + 1 - scale) + 1,
      scale: minorDigits + 1
    }),

    request: (message, session, { callId, damage, now }) => {
      const { fields, path } = writtenOf(message, session, callId)
      const method = fields === undefined ? "GET" : "POST"
      const whole = fields === undefined ? "" : JSON.stringify(fields)
      const body = damage === "body" ? whole.slice(0, -3) : whole
      const timestamp = String(Math.floor(now / 1000))
      return {
        method,
        path: path.slice(base.length),
        headers: {
          ...method === "POST" && { "content-type": "application/json" },
          "X-Provider-Key": key,
          "X-Timestamp": timestamp,
          "X-Signature": sign([method, path, timestamp, damage === "signature" ? `${body} ` : body])
        },
        body
      }
    },

    read: (message, session, _callId, answered) => {
      const retry = answered.status >= 500
      const missing = answered.headers !== undefined && answered.headers["x-request-id"] === undefined
      const always = missing ? ["no X-Request-Id"] : []
      if (!isSettling(message)) {
        const reading = readLookUp(message, session, answered)
        return { ...reading, retry, problems: [...always, ...reading.problems], labels: ["looked up"] }
      }
      const answer = read(walletMessageOf(message, session), answered)
      const labels = labelsOf(answer)
      const balance = answer._tag === "Settled" ? answer.results.at(-1)?.balance : undefined
      return {
        code: labels.at(-1) ?? "",
        balance: balance === undefined ? undefined : fromUnits(balance, minorDigits(session.currency)),
        retry,
        problems: [...always, ...retry ? retryProblems(message, answer) : []],
        labels,
        answer
      }
    },

    expect: expecting(expectations, settled),

    expectedState: (session: Session, opening?: Opening) =>
      new WalletState(session, {
        ...emptyWallet,
        known: HashMap.empty(),
        currency: session.currency,
        ...opening ?? { walletSeq: Number.NaN }
      }),

    audit,

    serve: (call, { open }) => serve(call, open)
  }
}

export const pitbossDialect: DialectDefinition<typeof Settings.Type> = { settings: Settings, make }

/** Evolution's side of One Wallet, settlement of each debit on its own. */
import { Schema } from "effect"
import { parseJson, readObject, readText } from "../../../src/protocols/JsonBody.ts"
import type {
  BetMessage,
  Dialect,
  DialectDefinition,
  Expectation,
  Expectations,
  Message,
  ServerCall,
  Session,
  Situations
} from "../Dialect.ts"
import { AnswerReader, decimalText, expecting, finerBy } from "../Reading.ts"

const Settings = Schema.Struct({
  auth_token: Schema.String,
  casino_key: Schema.String,
  api_token: Schema.String
})

const statuses = new Set([
  "OK",
  "BET_ALREADY_EXIST",
  "BET_ALREADY_SETTLED",
  "TEMPORARY_ERROR",
  "OPERATION_IN_PROCESS",
  "BET_DOES_NOT_EXIST",
  "INSUFFICIENT_FUNDS",
  "INSUFFICIENT_FUNDS_TIPS",
  "FINAL_ERROR_ACTION_FAILED",
  "GEOLOCATION_FAIL",
  "BONUS_LIMIT_EXCEEDED",
  "CASINO_LIMIT_EXCEEDED_TURNOVER",
  "CASINO_LIMIT_EXCEEDED_SESSION_TIME",
  "CASINO_LIMIT_EXCEEDED_STAKE",
  "CASINO_LIMIT_EXCEEDED_LOSS",
  "SESSION_ALREADY_CLOSED",
  "SESSION_DOES_NOT_EXIST",
  "UNKNOWN_ERROR",
  "INVALID_PARAMETER",
  "INVALID_SID",
  "INVALID_TOKEN_ID",
  "ACCOUNT_LOCKED",
  "FATAL_ERROR_CLOSE_USER_SESSION"
])

const paths = {
  authenticate: "check",
  balance: "balance",
  bet: "debit",
  win: "credit",
  rollback: "cancel",
  promo: "promo_payout"
} as const

const isCall = (kind: Message["kind"]): kind is keyof typeof paths => kind in paths

const gameOf = (gameId: string, roundId: string | null) => ({
  ...roundId !== null && { id: roundId },
  type: "blackjack",
  details: { table: { id: gameId, vid: null } }
})

/** The debit's own id, which a cancel repeats. */
const debitId = ({ id }: BetMessage): string => `D${id}`

/** A number with its decimals, which JSON of JavaScript would cut off. */
const withAmount = (value: object, amount: string): string =>
  JSON.stringify(value, (name, field: unknown) => name === "amount" ? "\u0001" : field).replace("\"\\u0001\"", amount)

const bodyOf = (message: Message, { currency, gameId, playerRef, token }: Session, uuid: string): string => {
  const caller = { sid: token, userId: playerRef, uuid }
  const money = (bet: BetMessage | null, id: string, roundId: string, game: string, amount: string) =>
    withAmount({
      ...caller,
      currency,
      game: gameOf(game, roundId),
      transaction: { id, refId: bet?.id ?? "", amount: 0 }
    }, amount)
  switch (message.kind) {
    case "authenticate":
      return JSON.stringify({ ...caller, channel: { type: "P" } })
    case "balance":
      return JSON.stringify({ ...caller, currency, game: gameOf(gameId, null) })
    case "bet":
      return money(message, debitId(message), message.roundId, message.gameId, decimalText(message.amount, 6))
    case "win":
      return money(message.bet, `C${message.id}`, message.roundId, message.gameId, decimalText(message.amount, 6))
    case "rollback": {
      const { bet, gameId: table, roundId } = message
      return money(bet, debitId(bet), roundId, table, decimalText(bet.amount, 6))
    }
    case "promo":
      return withAmount({
        ...caller,
        currency,
        game: gameOf(message.gameId, null),
        promoTransaction: { type: "JACKPOT", id: message.id, amount: 0, voucherId: null, remainingRounds: null }
      }, decimalText(message.amount, 6))
    default:
      return ""
  }
}

const done = (code: string, moves: boolean): Expectation => ({ codes: [code], moves, balance: "required" })

const notDone: Situations = {
  malformed: { codes: ["INVALID_PARAMETER"], http: [400], moves: false, balance: "absent" },
  forged: { codes: ["INVALID_TOKEN_ID", "HTTP_401"], http: [401], moves: false, balance: "absent" },
  fractional_amount: { codes: ["INVALID_PARAMETER"], moves: false },
  session_expired: { codes: ["INVALID_SID"], moves: false }
}

const expectations: Expectations = {
  authenticate: { new: { codes: ["OK"], moves: false } },
  balance: { new: done("OK", false) },
  bet: {
    new: done("OK", true),
    duplicate: done("BET_ALREADY_EXIST", false),
    tombstoned: done("FINAL_ERROR_ACTION_FAILED", false),
    rolled_back: done("FINAL_ERROR_ACTION_FAILED", false),
    insufficient_funds: done("INSUFFICIENT_FUNDS", false)
  },
  win: {
    new: done("OK", true),
    duplicate: done("BET_ALREADY_SETTLED", false),
    unknown: done("BET_DOES_NOT_EXIST", false),
    tombstoned: done("BET_DOES_NOT_EXIST", false),
    rolled_back: done("BET_ALREADY_SETTLED", false),
    settled: done("BET_ALREADY_SETTLED", false)
  },
  rollback: {
    new: done("OK", true),
    duplicate: done("BET_ALREADY_SETTLED", false),
    unknown: done("BET_DOES_NOT_EXIST", false),
    tombstoned: done("BET_DOES_NOT_EXIST", false),
    rolled_back: done("BET_ALREADY_SETTLED", false),
    settled: done("BET_ALREADY_SETTLED", false)
  },
  promo: { new: done("OK", true), duplicate: done("OK", false) }
}

const serveLaunch = ({ body }: ServerCall): Session | undefined => {
  const order = parseJson(Buffer.from(body))
  const player = readObject(order?.player)
  const table = readObject(readObject(readObject(order?.config)?.game)?.table)
  const token = readText(readObject(player?.session)?.id, 512)
  const [playerRef, currency, gameId] = [readText(player?.id), readText(player?.currency), readText(table?.id)]
  return token === undefined || playerRef === undefined || currency === undefined || gameId === undefined
    ? undefined
    : { token, playerRef, currency, gameId }
}

const make = (settings: typeof Settings.Type): Dialect => ({
  authenticate: "exchanges",
  balance: true,
  winsName: "bet",
  winsPerBet: "one",
  promo: true,
  betWin: false,
  close: false,
  sessions: true,
  malformed: true,
  tooFine: finerBy(6),

  request: (message, session, { callId, damage }) => {
    const body = bodyOf(message, session, callId)
    const token = damage === "signature" ? `${settings.auth_token}x` : settings.auth_token
    return {
      method: "POST",
      path: `/${isCall(message.kind) ? paths[message.kind] : message.kind}`,
      query: `authToken=${encodeURIComponent(token)}`,
      headers: { "content-type": "application/json" },
      body: damage === "body" ? body.slice(0, -3) : body
    }
  },

  read: (message, _session, callId, answer) => {
    if (answer.status === 401) return { code: "HTTP_401", retry: false, problems: [] }
    const reader = new AnswerReader(answer)
    const code = reader.string("status") ?? "NO_STATUS"
    if (!statuses.has(code)) reader.problems.push(`${code} is no status of theirs`)
    if (answer.status === 200) reader.equals("uuid", callId)
    const isCheck = message.kind === "authenticate"
    const balance = isCheck ? undefined : reader.number("balance", 6, false)
    if (balance !== undefined) reader.number("bonus", 6, true)
    return {
      code,
      balance,
      token: isCheck && code === "OK" ? reader.string("sid") : undefined,
      retry: code === "TEMPORARY_ERROR" || code === "OPERATION_IN_PROCESS",
      problems: reader.problems
    }
  },

  expect: expecting(expectations, notDone),

  serve: (call, providerServer) => {
    if (call.method !== "POST" || call.path !== `/ua/v1/${settings.casino_key}/${settings.api_token}`) return undefined
    const session = serveLaunch(call)
    if (session === undefined) {
      return { status: 400, body: JSON.stringify({ errors: [{ code: "G.1", message: "Incomplete player" }] }) }
    }
    const entry = providerServer.open(session)
    return { status: 200, body: JSON.stringify({ entry, entryEmbedded: `${entry}&embedded` }) }
  }
})

export const evolutionDialect: DialectDefinition<typeof Settings.Type> = { settings: Settings, make }

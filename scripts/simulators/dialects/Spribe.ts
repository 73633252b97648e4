/** Spribe's side of its wallet protocol. */
import { Schema } from "effect"
import * as Crypto from "node:crypto"
import { type Decimal, fromUnits } from "../../../src/protocols/Decimal.ts"
import { type JsonObject, readDecimal, readInteger, readObject } from "../../../src/protocols/JsonBody.ts"
import type {
  Dialect,
  DialectDefinition,
  Expectation,
  Expectations,
  Message,
  ServerCall,
  Session,
  Situations
} from "../Dialect.ts"
import { AnswerReader, expecting, finerBy } from "../Reading.ts"

const Settings = Schema.Struct({
  client_id: Schema.String,
  secret_key: Schema.String,
  operator_key: Schema.String,
  /** The path that is signed. */
  wallet_path: Schema.String
})

const codes = new Set([200, 401, 402, 403, 405, 408, 409, 413, 500])

const paths = {
  authenticate: "/auth",
  balance: "/info",
  bet: "/withdraw",
  win: "/deposit",
  rollback: "/rollback",
  promo: "/deposit"
} as const

const isCall = (kind: Message["kind"]): kind is keyof typeof paths => kind in paths

const amountScale = 3

/** Thousandths. */
const units = ({ coefficient, scale }: Decimal): number => coefficient * 10 ** (amountScale - scale)

/** The game goes on under a session that is theirs; the wallet is told of it by `auth`. */
const sessionToken = ({ token }: Session): string => Crypto.hash("sha256", token, "hex")

/** A free bet's winnings, or a prize: deposits that no withdrawal came before. */
const promoAction = (grant: string | null): string => grant === null ? "challengeprizemoney" : "freebet"

const fieldsOf = (message: Message, session: Session): object => {
  const { currency, playerRef: user_id, token } = session
  const session_token = sessionToken(session)
  const platform = "desktop"
  const provider = "spribe_crypto"
  switch (message.kind) {
    case "authenticate":
      return { user_token: token, session_token, platform, currency }
    case "balance":
      return { user_id, session_token, currency }
    case "bet":
      return {
        user_id,
        currency,
        amount: units(message.amount),
        provider,
        provider_tx_id: message.id,
        game: message.gameId,
        action: "bet",
        action_id: message.roundId,
        session_token,
        platform
      }
    case "win":
      return {
        user_id,
        currency,
        amount: units(message.amount),
        provider,
        provider_tx_id: message.id,
        game: message.gameId,
        action: "win",
        action_id: message.roundId,
        session_token,
        platform,
        withdraw_provider_tx_id: message.bet?.id
      }
    case "promo":
      return {
        user_id,
        currency,
        amount: units(message.amount),
        provider,
        provider_tx_id: message.id,
        game: message.gameId,
        action: promoAction(message.grant),
        action_id: message.id,
        session_token,
        platform
      }
    case "rollback":
      return {
        user_id,
        amount: units(message.bet.amount),
        provider,
        rollback_provider_tx_id: message.bet.id,
        provider_tx_id: message.id,
        game: message.gameId,
        session_token,
        action: "rollback",
        action_id: message.roundId
      }
    default:
      return {}
  }
}

const told = (code: number, moves: boolean): Expectation => ({ codes: [`${code}`], moves, balance: "required" })
const refused = (...words: ReadonlyArray<number>): Expectation => ({ codes: words.map(String), moves: false })

const notDone: Situations = {
  malformed: { ...refused(405), balance: "absent" },
  forged: { ...refused(413), balance: "absent" },
  fractional_amount: refused(405)
}

const expectations: Expectations = {
  authenticate: { new: told(200, false) },
  balance: { new: told(200, false) },
  bet: {
    new: told(200, true),
    duplicate: told(409, false),
    tombstoned: refused(405),
    rolled_back: refused(405),
    insufficient_funds: refused(402)
  },
  win: {
    new: told(200, true),
    duplicate: told(409, false),
    unknown: refused(408),
    tombstoned: refused(408),
    rolled_back: refused(408)
  },
  rollback: {
    new: told(200, true),
    duplicate: told(409, false),
    unknown: refused(408),
    tombstoned: refused(408),
    rolled_back: told(409, false),
    settled: refused(405)
  },
  promo: { new: told(200, true), duplicate: told(409, false) }
}

/** What is told of a transaction: whose it is, and what it has moved. */
const checkSettled = (
  { problems }: AnswerReader,
  data: JsonObject,
  message: Message,
  session: Session,
  code: number
): void => {
  if (typeof data["operator_tx_id"] !== "string") problems.push("operator_tx_id is no text")
  if ("id" in message && data["provider_tx_id"] !== message.id) problems.push(`provider_tx_id is not ${message.id}`)
  if (data["provider"] !== "spribe_crypto") problems.push("provider is not spribe_crypto")
  const [before, after] = [readInteger(data["old_balance"]), readInteger(data["new_balance"])]
  if (before === undefined || after === undefined) {
    problems.push("old_balance and new_balance are not whole numbers")
    return
  }
  const amount = message.kind === "rollback" ? message.bet.amount : "amount" in message ? message.amount : undefined
  const moved = amount === undefined ? 0 : message.kind === "bet" ? -units(amount) : units(amount)
  // less than nothing is shown as nothing
  if (code === 200 && after > 0 && before > 0 && after - before !== moved) {
    problems.push(`from ${before} to ${after} is not ${moved}`)
  }
  if (session.playerRef !== "" && data["user_id"] !== session.playerRef) {
    problems.push(`user_id is not ${session.playerRef}`)
  }
}

const make = (settings: typeof Settings.Type): Dialect => {
  const sign = (text: string): string => Crypto.createHmac("sha256", settings.secret_key).update(text).digest("hex")

  /** A browser that comes to the game. */
  const sessionOf = ({ path, query }: ServerCall): Session | undefined => {
    const [token, playerRef] = [query.get("token"), query.get("user")]
    const [currency, lang] = [query.get("currency"), query.get("lang")]
    if (token === null || playerRef === null || currency === null || lang === null) return undefined
    if (query.get("operator") !== settings.operator_key) return undefined
    return { token, playerRef, currency, gameId: decodeURIComponent(path.slice(1)) }
  }

  return {
    authenticate: "keeps",
    balance: true,
    winsName: "bet",
    winsPerBet: "many",
    promo: true,
    betWin: false,
    close: false,
    sessions: false,
    malformed: true,
    tooFine: finerBy(amountScale),

    request: (message, session, { damage, now }) => {
      const whole = JSON.stringify(fieldsOf(message, session))
      const body = damage === "body" ? whole.slice(0, -3) : whole
      const path = isCall(message.kind) ? paths[message.kind] : `/${message.kind}`
      const ts = `${Math.floor(now / 1000)}`
      return {
        method: "POST",
        path,
        headers: {
          "content-type": "application/json",
          "X-Spribe-Client-ID": settings.client_id,
          "X-Spribe-Client-TS": ts,
          "X-Spribe-Client-Signature": sign(
            `${ts}${settings.wallet_path}${path}${body}${damage === "signature" ? " " : ""}`
          )
        },
        body
      }
    },

    read: (message, session, _callId, answer) => {
      const reader = new AnswerReader(answer)
      const code = readInteger(reader.body?.["code"])
      if (code === undefined || !codes.has(code)) reader.problems.push(`${code ?? "nothing"} is no code of theirs`)
      reader.string("message")
      const data = readObject(reader.body?.["data"])
      const isTold = code === 200 || code === 409
      if (isTold !== (data !== undefined)) reader.problems.push(isTold ? "data is missing" : "data where none belongs")
      const isPlayer = message.kind === "authenticate" || message.kind === "balance"
      if (data !== undefined) {
        if (data["currency"] !== session.currency) reader.problems.push(`currency is not ${session.currency}`)
        if (typeof data["user_id"] !== "string") reader.problems.push("user_id is no text")
        if (isPlayer && typeof data["username"] !== "string") reader.problems.push("username is no text")
        if (!isPlayer) checkSettled(reader, data, message, session, code ?? 0)
      }
      const whole = readDecimal(data?.[isPlayer ? "balance" : "new_balance"])
      if (whole !== undefined && whole.scale > 0) reader.problems.push("a balance is no whole number of thousandths")
      const user = data?.["user_id"]
      return {
        code: String(code ?? "NO_CODE"),
        balance: whole === undefined ? undefined : fromUnits(whole.coefficient, amountScale),
        playerRef: typeof user === "string" ? user : undefined,
        retry: code === 500,
        problems: reader.problems
      }
    },

    expect: expecting(expectations, notDone),

    serve: (call, providerServer) => {
      if (call.method !== "GET") return undefined
      const session = sessionOf(call)
      if (session === undefined || !providerServer.games.some(({ id }) => id === session.gameId)) return undefined
      return { status: 200, contentType: "text/plain", body: `${providerServer.open(session)}\n` }
    }
  }
}

export const spribeDialect: DialectDefinition<typeof Settings.Type> = { settings: Settings, make }

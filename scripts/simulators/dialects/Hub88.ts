/** Hub88's side of its Wallet API, and Caleta's form of it. */
import { Schema } from "effect"
import * as Crypto from "node:crypto"
import { type Decimal, fromUnits } from "../../../src/protocols/Decimal.ts"
import { type JsonObject, parseJson, readInteger, readText } from "../../../src/protocols/JsonBody.ts"
import type {
  BetMessage,
  Dialect,
  DialectDefinition,
  Expectation,
  Expectations,
  Message,
  PlayedTransaction,
  ServerAnswer,
  ServerCall,
  Session,
  Situations,
  ProviderServer,
  WinMessage
} from "../Dialect.ts"
import { takenOnce } from "../Expectations.ts"
import { AnswerReader, expecting, finerBy } from "../Reading.ts"

const Settings = Schema.Struct({
  /** The vendor's own key: what the wallet has the public half of. */
  vendor_private_key: Schema.String,
  /** The operator's: only its public half is used. */
  private_key: Schema.String,
  dialect: Schema.optionalKey(Schema.Literals(["hub88", "caleta"]))
})

/** Statuses of either vendor. */
export const commonStatuses = [
  "RS_OK",
  "RS_ERROR_UNKNOWN",
  "RS_ERROR_INVALID_TOKEN",
  "RS_ERROR_INVALID_GAME",
  "RS_ERROR_WRONG_CURRENCY",
  "RS_ERROR_NOT_ENOUGH_MONEY",
  "RS_ERROR_USER_DISABLED",
  "RS_ERROR_INVALID_SIGNATURE",
  "RS_ERROR_TOKEN_EXPIRED",
  "RS_ERROR_WRONG_SYNTAX",
  "RS_ERROR_WRONG_TYPES",
  "RS_ERROR_DUPLICATE_TRANSACTION",
  "RS_ERROR_TRANSACTION_DOES_NOT_EXIST",
  "RS_ERROR_TRANSACTION_ROLLED_BACK"
] as const

const statuses = new Set<string>(commonStatuses)

const ownStatuses = {
  hub88: new Set(["RS_ERROR_INVALID_PARTNER", "RS_ERROR_LIMIT_REACHED"]),
  caleta: new Set(["RS_ERROR_TIMEOUT", "RS_ERROR_BET_LIMIT_EXCEEDED"])
}

const paths = {
  hub88: {
    authenticate: "/user/info",
    balance: "/user/balance",
    bet: "/transaction/bet",
    win: "/transaction/win",
    rollback: "/transaction/rollback"
  },
  caleta: {
    authenticate: "/wallet/check",
    balance: "/wallet/balance",
    bet: "/wallet/bet",
    win: "/wallet/win",
    rollback: "/wallet/rollback"
  }
} as const

const isCall = (kind: Message["kind"]): kind is keyof typeof paths.hub88 => kind in paths.hub88

const amountScale = 5

/** Hundred-thousandths. */
const units = ({ coefficient, scale }: Decimal): number => coefficient * 10 ** (amountScale - scale)

const transactionOf = (message: BetMessage | WinMessage) => ({
  transaction_uuid: message.id,
  supplier_transaction_id: `s-${message.id}`,
  round: message.roundId,
  round_closed: message.closes === true,
  is_free: message.grant !== null,
  reward_uuid: message.grant,
  game_code: message.gameId,
  amount: units(message.amount),
  meta: {}
})

const fieldsOf = (message: Message, { currency, gameId, playerRef, token }: Session, isCaleta: boolean): object => {
  const player = isCaleta ? { supplier_user: playerRef } : { user: playerRef }
  switch (message.kind) {
    case "authenticate":
      return isCaleta ? { token } : { user: playerRef }
    case "balance":
      return { ...player, token, game_code: gameId }
    case "bet":
      return { ...player, token, currency, bet: "zero", ...transactionOf(message) }
    case "win":
      return { ...player, token, currency, reference_transaction_uuid: message.bet?.id, ...transactionOf(message) }
    case "rollback":
      return {
        ...!isCaleta && player,
        token,
        transaction_uuid: message.id,
        supplier_transaction_id: `s-${message.id}`,
        reference_transaction_uuid: message.bet.id,
        round: message.roundId,
        round_closed: false,
        game_code: message.gameId
      }
    default:
      return {}
  }
}

const ok = (moves: boolean): Expectation => ({ codes: ["RS_OK"], moves, balance: "required" })
const refused = (...words: ReadonlyArray<string>): Expectation => ({
  codes: words.map((word) => `RS_ERROR_${word}`),
  moves: false
})

const notDone: Situations = {
  malformed: refused("WRONG_SYNTAX"),
  forged: refused("INVALID_SIGNATURE"),
  fractional_amount: refused("WRONG_TYPES"),
  session_expired: refused("INVALID_TOKEN", "TOKEN_EXPIRED")
}

const expectations: Expectations = {
  authenticate: { new: { codes: ["RS_OK"], moves: false } },
  balance: { new: ok(false) },
  bet: {
    new: ok(true),
    duplicate: ok(false),
    tombstoned: refused("TRANSACTION_ROLLED_BACK"),
    rolled_back: { codes: ["RS_OK", "RS_ERROR_TRANSACTION_ROLLED_BACK"], moves: false },
    insufficient_funds: { ...refused("NOT_ENOUGH_MONEY"), balance: "required" }
  },
  win: {
    new: ok(true),
    duplicate: ok(false),
    unknown: refused("TRANSACTION_DOES_NOT_EXIST"),
    tombstoned: refused("TRANSACTION_ROLLED_BACK", "TRANSACTION_DOES_NOT_EXIST"),
    rolled_back: refused("TRANSACTION_ROLLED_BACK")
  },
  rollback: takenOnce(ok).rollback
}

const json = (value: unknown, status = 200): ServerAnswer => ({ status, body: JSON.stringify(value) })

const serveUrl = (body: JsonObject, providerServer: ProviderServer): ServerAnswer => {
  const [gameId, currency] = [readText(body["game_code"]), readText(body["currency"])]
  const [token, playerRef] = [readText(body["token"], 255), readText(body["user"])]
  if (gameId === undefined || currency === undefined) return json({ error: "RS_ERROR_WRONG_SYNTAX" }, 400)
  if (currency === "XXX" || currency === "FUN") return json({ url: `${providerServer.url}/play?demo` })
  return token === undefined || token.length < 10 || playerRef === undefined
    ? json({ error: "RS_ERROR_WRONG_SYNTAX" }, 400)
    : json({ url: providerServer.open({ token, playerRef, currency, gameId }) })
}

const gamesOf = ({ games, url }: ProviderServer) =>
  games.map(({ id, name }) => ({
    url_thumb: `${url}/${id}.png`,
    product: "Provider simulator",
    platforms: ["GPL_DESKTOP", "GPL_MOBILE"],
    name,
    game_code: id,
    enabled: true,
    category: "Video Slots",
    rtp: "96.5"
  }))

/** Any number of rounds at any stake. */
const prepaidsOf = ({ games }: ProviderServer, body: JsonObject) =>
  [readText(body["game_code"]) ?? games[0]?.id ?? ""]
    .map((id) => ({ prepaid_uuid: `prepaid-${id}`, game_code: id, currency: "EUR", bet_value: null, bet_count: null }))

const serveReward = (body: JsonObject, providerServer: ProviderServer): ServerAnswer => {
  const [gameId, playerRef] = [readText(body["game_code"]), readText(body["user"])]
  const [rounds, value] = [readInteger(body["bet_count"]), readInteger(body["bet_value"])]
  if (gameId === undefined || playerRef === undefined || rounds === undefined || value === undefined) {
    return json({ error: "RS_ERROR_WRONG_SYNTAX" }, 400)
  }
  const reference = providerServer.newId()
  providerServer.grants.set(reference, {
    reference,
    playerRef,
    gameId,
    currency: readText(body["currency"]) ?? "EUR",
    rounds,
    stake: fromUnits(value, amountScale),
    validUntil: Date.parse(`${readText(body["end_time"]) ?? ""}Z`)
  })
  return json({ reward_uuid: reference, status: "FRS_NEW" })
}

const kinds = { bet: "TK_BET", win: "TK_WIN", rollback: "TK_ROLLBACK" } as const

const lineOf = ({ at, message, session }: PlayedTransaction) => {
  const isFree = message.kind !== "rollback" && message.grant !== null
  return {
    transaction_uuid: message.id,
    transaction_status: "TS_SUCCESS",
    kind: isFree ? kinds[message.kind].replace("TK_", "TK_FREE_") : kinds[message.kind],
    amount: units(message.kind === "rollback" ? message.bet.amount : message.amount),
    currency: session.currency,
    user: session.playerRef,
    round: message.roundId,
    game_code: message.gameId,
    inserted_at: new Date(at).toISOString()
  }
}

const timeOf = (text: string | undefined): number => Date.parse(`${text ?? ""}Z`)

const serveSigned = (path: string, body: JsonObject, providerServer: ProviderServer): ServerAnswer | undefined => {
  switch (path) {
    case "/game/url":
      return serveUrl(body, providerServer)
    case "/game/list":
      return json(gamesOf(providerServer))
    case "/freebet/prepaids/list":
      return json(prepaidsOf(providerServer, body))
    case "/freebet/rewards/create":
      return serveReward(body, providerServer)
    case "/freebet/rewards/cancel":
      return providerServer.grants.delete(readText(body["reward_uuid"]) ?? "")
        ? json({ status: "FRS_CANCELLED" })
        : json({ error: "RS_ERROR_UNKNOWN" }, 404)
    case "/transactions/list":
      return json(
        providerServer.played(timeOf(readText(body["start_time"])), timeOf(readText(body["end_time"]))).map(lineOf)
      )
    default:
      return undefined
  }
}

const prefix = "/operator/generic/v2"

const make = (settings: typeof Settings.Type): Dialect => {
  const name = settings.dialect ?? "hub88"
  const isCaleta = name === "caleta"
  const header = isCaleta ? "X-Auth-Signature" : "X-Hub88-Signature"
  const vendorKey = Crypto.createPrivateKey(settings.vendor_private_key)
  const operatorKey = Crypto.createPublicKey(settings.private_key)

  const serve = (call: ServerCall, providerServer: ProviderServer): ServerAnswer | undefined => {
    if (call.method !== "POST" || !call.path.startsWith(prefix)) return undefined
    const raw = Buffer.from(call.body)
    const body = parseJson(raw)
    const signature = Buffer.from(call.header(header) ?? "", "base64")
    if (body === undefined || !Crypto.verify("sha256", raw, operatorKey, signature)) {
      return json({ error: "RS_ERROR_INVALID_SIGNATURE" }, 403)
    }
    return serveSigned(call.path.slice(prefix.length), body, providerServer)
  }

  return {
    authenticate: isCaleta ? "exchanges" : "keeps",
    balance: true,
    winsName: "bet",
    winsPerBet: "many",
    promo: false,
    betWin: false,
    freeRounds: "bets",
    close: false,
    sessions: true,
    malformed: true,
    tooFine: finerBy(amountScale),

    request: (message, session, { callId, damage }) => {
      const isCheck = isCaleta && message.kind === "authenticate"
      const whole = JSON.stringify({
        ...!isCheck && { request_uuid: callId },
        ...fieldsOf(message, session, isCaleta)
      })
      const body = damage === "body" ? whole.slice(0, -3) : whole
      const signed = damage === "signature" ? `${body} ` : body
      return {
        method: "POST",
        path: isCall(message.kind) ? paths[name][message.kind] : `/${message.kind}`,
        headers: {
          "content-type": "application/json",
          [header]: Crypto.sign("sha256", Buffer.from(signed), vendorKey).toString("base64")
        },
        body
      }
    },

    read: (message, session, callId, answer) => {
      const reader = new AnswerReader(answer)
      const code = reader.string("status") ?? "NO_STATUS"
      if (!statuses.has(code) && !ownStatuses[name].has(code)) reader.problems.push(`${code} is no status of theirs`)
      const isCheck = isCaleta && message.kind === "authenticate"
      const isEchoed = !isCheck && code !== "RS_ERROR_INVALID_SIGNATURE" && code !== "RS_ERROR_WRONG_SYNTAX"
      if (isEchoed) reader.equals("request_uuid", callId)
      const user = reader.string("user", code === "RS_OK")
      if (user !== undefined && session.playerRef !== "" && user !== session.playerRef) {
        reader.problems.push(`user is not ${session.playerRef}`)
      }
      const whole = reader.number("balance", 0, false)
      if (whole !== undefined) reader.equals("currency", session.currency)
      if (message.kind === "authenticate" && code === "RS_OK" && !isCaleta) {
        reader.string("country")
        reader.string("registration_date")
      }
      return {
        code,
        balance: whole === undefined ? undefined : fromUnits(whole.coefficient, amountScale),
        token: message.kind === "authenticate" && isCaleta && code === "RS_OK" ? reader.string("token") : undefined,
        playerRef: user,
        retry: code === "RS_ERROR_UNKNOWN" || code === "RS_ERROR_TIMEOUT",
        problems: reader.problems
      }
    },

    expect: expecting(expectations, notDone),

    serve
  }
}

export const hub88Dialect: DialectDefinition<typeof Settings.Type> = { settings: Settings, make }

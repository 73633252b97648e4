/**
 * Every protocol as seen from outside: its methods, signatures of any bytes, and the form of its answers, for tests that hold for all of them. A
 * protocol is one row.
 */
import { Effect, Option, Schema } from "effect"
import * as Crypto from "node:crypto"
import type { Message, Session } from "../../scripts/simulators/Dialect.ts"
import { makeDialect } from "../../scripts/simulators/Dialects.ts"
import { commonStatuses } from "../../scripts/simulators/dialects/Hub88.ts"
import { protocolOfSample, samples } from "../../scripts/simulators/Samples.ts"
import { sign, signingKey } from "../../src/auth/Signature.ts"
import { type RefusalCode, statusByCode } from "../../src/domain/Refusal.ts"
import { readForm } from "../../src/protocols/FormBody.ts"
import { pragmaticHash } from "../../src/protocols/pragmatic/PragmaticHash.ts"
import type { AnyProtocol } from "../../src/protocols/Protocol.ts"
import { protocols } from "../../src/protocols/Protocols.ts"
import { slotegratorSign } from "../../src/protocols/slotegrator/SlotegratorSign.ts"

interface Answer {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

interface SignedCall {
  readonly query?: string
  readonly headers: { readonly [name: string]: string }
  readonly body: Buffer
}

type Settings = { readonly [name: string]: unknown }

interface Row {
  /** Paths of all methods, below the provider's address. */
  readonly paths: ReadonlyArray<string>
  readonly sign: (settings: Settings, path: string, body: Buffer, nowSeconds: number) => SignedCall
  /** Bodies of answers, by HTTP status. */
  readonly answers: { readonly [status: number]: Schema.Codec<unknown, unknown> }
  /** Answer that the vendor takes for *try again*. */
  readonly tryAgain: { readonly status: number; readonly field: string; readonly value: unknown }
}

const { Literals, Number: Num, String: Text, Struct, Unknown, optionalKey } = Schema

const hmac = (algorithm: string, key: unknown, ...parts: ReadonlyArray<string | Buffer>): string => {
  const digest = Crypto.createHmac(algorithm, String(key))
  for (const part of parts) digest.update(part)
  return digest.digest("hex")
}

const formEntries = (body: Buffer) => readForm(body, { bytes: Infinity, fields: Infinity }) ?? []

const hub88Row = (header: string, paths: ReadonlyArray<string>, limitStatus: string): Row => ({
  paths,
  sign: ({ vendor_private_key: key }, _path, body) => ({
    headers: { [header]: Crypto.sign("sha256", body, String(key)).toString("base64") },
    body
  }),
  answers: {
    200: Struct({
      user: optionalKey(Text),
      status: Literals([...commonStatuses, limitStatus]),
      request_uuid: optionalKey(Text),
      currency: optionalKey(Text),
      balance: optionalKey(Schema.Int),
      token: optionalKey(Text),
      country: optionalKey(Text),
      jurisdiction: optionalKey(Text),
      sub_partner_id: optionalKey(Text),
      birth_date: optionalKey(Schema.NullOr(Text)),
      registration_date: optionalKey(Text),
      tags: optionalKey(Schema.Array(Text))
    })
  },
  tryAgain: { status: 200, field: "status", value: "RS_ERROR_UNKNOWN" }
})

/** Answers of SOFTSWISS' protocols that are not refusals. */
const softswissSuccess = (balance: Schema.Codec<unknown, unknown>) =>
  Struct({
    balance,
    round_id_casino: optionalKey(Text),
    game_id: optionalKey(Text),
    balance_currency: optionalKey(Text),
    transactions: optionalKey(Schema.Array(Unknown))
  })

const signedSoftswiss: Row["sign"] = ({ auth_token: key }, _path, body) => ({
  headers: { "x-request-sign": hmac("sha256", key, body) },
  body
})

const a8rError = Struct({
  code: Literals(["invalid_argument", "already_exists", "permission_denied", "internal"]),
  msg: Text,
  meta: Struct({
    api_code: Literals(["100", "101", "105", "106", "110", "154", "400", "403", "405", "409", "500"]),
    api_message: Text,
    balance: optionalKey(Text)
  })
})

const gcpError = Struct({
  code: Literals([100, 101, 105, 106, 110, 154, 400, 403, 405, 500]),
  message: Text,
  balance: optionalKey(Schema.Int)
})

const evolutionAnswer = Struct({
  status: Literals([
    "OK",
    "BET_ALREADY_EXIST",
    "BET_ALREADY_SETTLED",
    "TEMPORARY_ERROR",
    "BET_DOES_NOT_EXIST",
    "INSUFFICIENT_FUNDS",
    "FINAL_ERROR_ACTION_FAILED",
    "BONUS_LIMIT_EXCEEDED",
    "CASINO_LIMIT_EXCEEDED_TURNOVER",
    "CASINO_LIMIT_EXCEEDED_SESSION_TIME",
    "CASINO_LIMIT_EXCEEDED_STAKE",
    "CASINO_LIMIT_EXCEEDED_LOSS",
    "INVALID_PARAMETER",
    "INVALID_SID",
    "ACCOUNT_LOCKED"
  ]),
  sid: optionalKey(Text),
  balance: optionalKey(Num),
  bonus: optionalKey(Num),
  uuid: optionalKey(Text),
  retransmission: optionalKey(Schema.Boolean)
})

const rows: { readonly [sample: string]: Row } = {
  hub88: hub88Row(
    "x-hub88-signature",
    ["/user/info", "/user/balance", "/transaction/bet", "/transaction/win", "/transaction/rollback"],
    "RS_ERROR_LIMIT_REACHED"
  ),
  caleta: hub88Row(
    "x-auth-signature",
    ["/wallet/check", "/wallet/balance", "/wallet/bet", "/wallet/win", "/wallet/rollback"],
    "RS_ERROR_BET_LIMIT_EXCEEDED"
  ),
  pragmatic: {
    paths: [
      "authenticate",
      "balance",
      "bet",
      "result",
      "bonusWin",
      "jackpotWin",
      "promoWin",
      "endRound",
      "refund",
      "GetBalancePerGame",
      "adjustment",
      "session/expired",
      "roundDetails"
    ].map((method) => `/${method}.html`),
    sign: ({ secret_key: key }, _path, body) => ({
      headers: {},
      body: Buffer.concat([body, Buffer.from(`&hash=${pragmaticHash(String(key), formEntries(body))}`)])
    }),
    answers: {
      200: Struct({
        error: Literals([0, 1, 2, 3, 4, 5, 6, 7, 8, 50, 100, 120]),
        description: Text,
        userId: optionalKey(Text),
        token: optionalKey(Text),
        country: optionalKey(Text),
        transactionId: optionalKey(Text),
        currency: optionalKey(Text),
        cash: optionalKey(Num),
        bonus: optionalKey(Num),
        usedPromo: optionalKey(Num),
        gamesBalances: optionalKey(Schema.Array(Unknown))
      })
    },
    tryAgain: { status: 200, field: "error", value: 100 }
  },
  slotegrator: {
    paths: [""],
    sign: ({ merchant_id: merchantId, merchant_key: key }, _path, body, nowSeconds) => {
      const signed = {
        "X-Merchant-Id": String(merchantId),
        "X-Timestamp": String(nowSeconds),
        "X-Nonce": "e115cf0f66a645aca08225c9c1b20b80"
      }
      const secret = Crypto.createSecretKey(String(key), "utf8")
      return { headers: { ...signed, "X-Sign": slotegratorSign(secret, formEntries(body), signed) }, body }
    },
    answers: {
      200: Schema.Union([
        Struct({ error_code: Literals(["INSUFFICIENT_FUNDS", "INTERNAL_ERROR"]), error_description: Text }),
        Struct({
          balance: Num,
          transaction_id: optionalKey(Text),
          rollback_transactions: optionalKey(Schema.Array(Text))
        })
      ])
    },
    tryAgain: { status: 200, field: "error_code", value: "INTERNAL_ERROR" }
  },
  a8r: {
    paths: ["Player/Balance", "Round/BetWin", "Round/Rollback", "Round/Finish", "Freespins/Finish"].map((method) =>
      `/v2/a8r_casino.${method}`
    ),
    sign: signedSoftswiss,
    answers: { 200: softswissSuccess(Text), 400: a8rError, 500: a8rError },
    tryAgain: { status: 500, field: "code", value: "internal" }
  },
  gcp: {
    paths: ["/play", "/rollback", "/freespins"],
    sign: signedSoftswiss,
    answers: { 200: softswissSuccess(Schema.Int), 403: gcpError, 412: gcpError, 500: gcpError },
    tryAgain: { status: 500, field: "code", value: 500 }
  },
  evolution: {
    paths: ["/check", "/balance", "/debit", "/credit", "/cancel", "/promo_payout"],
    sign: ({ auth_token: token }, _path, body) => ({
      query: `authToken=${encodeURIComponent(String(token))}`,
      headers: {},
      body
    }),
    answers: {
      200: evolutionAnswer,
      400: Struct({ status: Literals(["INVALID_PARAMETER"]) }),
      401: Struct({ status: Literals(["INVALID_TOKEN_ID"]) })
    },
    tryAgain: { status: 200, field: "status", value: "TEMPORARY_ERROR" }
  },
  spribe: {
    paths: ["/auth", "/info", "/withdraw", "/deposit", "/rollback"],
    sign: ({ client_id: clientId, secret_key: key, wallet_path: walletPath }, path, body, nowSeconds) => ({
      headers: {
        "x-spribe-client-id": String(clientId),
        "x-spribe-client-ts": String(nowSeconds),
        "x-spribe-client-signature": hmac("sha256", key, `${nowSeconds}${String(walletPath)}${path}`, body)
      },
      body
    }),
    answers: {
      200: Struct({
        code: Literals([200, 401, 402, 403, 405, 408, 409, 413, 500]),
        message: Text,
        data: optionalKey(Struct({
          user_id: Text,
          username: optionalKey(Text),
          balance: optionalKey(Schema.Int),
          currency: Text,
          operator_tx_id: optionalKey(Text),
          provider: optionalKey(Text),
          provider_tx_id: optionalKey(Text),
          old_balance: optionalKey(Schema.Int),
          new_balance: optionalKey(Schema.Int)
        }))
      })
    },
    tryAgain: { status: 200, field: "code", value: 500 }
  }
}

/** Messages of a round as a vendor sends them. */
const messages: ReadonlyArray<Message> = (() => {
  const about = { roundId: "1", gameId: "table" }
  const bet = {
    ...about,
    kind: "bet",
    id: "17",
    amount: { coefficient: 1050, scale: 2 },
    grant: null
  } as const
  return [
    { kind: "authenticate" },
    { kind: "balance" },
    bet,
    { ...about, kind: "win", id: "18", bet, amount: { coefficient: 5, scale: 0 }, closes: true, grant: null },
    { ...about, kind: "rollback", id: "19", bet },
    { ...about, kind: "promo", id: "20", amount: { coefficient: 5, scale: 0 }, grant: null },
    { ...about, kind: "close" }
  ]
})()

const session: Session = { token: "a-token", playerRef: "1018", currency: "EUR", gameId: "table" }

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A protocol as seen from outside. */
export interface AnswerForm extends Pick<Row, "paths"> {
  readonly name: string
  /** Address below which the calls are. */
  readonly address: string
  readonly protocol: AnyProtocol
  readonly settings: Settings
  /** Genuine bodies, of every kind of message. */
  readonly bodies: ReadonlyArray<Buffer>
  readonly sign: (path: string, body: Buffer, nowSeconds: number) => SignedCall
  /** Whether an answer is one of the protocol. */
  readonly isAnswer: (answer: Answer) => boolean
  readonly isTryAgain: (answer: Answer) => boolean
}

export const answerForms: ReadonlyArray<AnswerForm> = Object.entries(rows).map(([name, row]) => {
  const sample = samples[name]?.("https://vendor.example") ?? { provider: {}, vendor: {} }
  const protocol = protocols.find((known) => known.name === protocolOfSample(name))
  if (protocol === undefined) throw new Error(`no protocol ${name}`)
  const known = { ...sample.provider, ...sample.vendor }
  const dialect = Effect.runSync(makeDialect(protocol.name, known))
  const bodies = messages
    .filter(({ kind }) => dialect.expect(kind, "new").codes.length > 0)
    .map((message) => Buffer.from(dialect.request(message, session, { callId: "call-1", now: 0, damage: "none" }).body))
  const { answers, paths, tryAgain } = row
  return {
    name,
    address: `/api/v1/integrations/${name}`,
    protocol,
    settings: sample.provider,
    paths,
    bodies,
    sign: (path, body, nowSeconds) => row.sign(known, path, body, nowSeconds),
    isAnswer: ({ body, contentType, status }) => {
      const schema = answers[status]
      return schema !== undefined && contentType === "application/json" &&
        Option.isSome(Schema.decodeUnknownOption(schema, { onExcessProperty: "error" })(parsed(body)))
    },
    isTryAgain: ({ body, status }) =>
      status === tryAgain.status && Object(parsed(body))[tryAgain.field] === tryAgain.value
  }
})

/** Keys of providers of Pitboss's own protocol: one that may call from anywhere, and one that may not call from here. */
export const ownKeys = { open: "pbp_open", walled: "pbp_walled" }
export const ownSecret = "secret"

const ownAddress = "/api/v1/provider/wallet"

const ownBet = {
  request_id: "1",
  transaction_id: "17",
  session_token: "a-token",
  game_id: "table",
  round_id: "1",
  amount: 1050,
  currency: "EUR"
}

const ownWin = {
  request_id: "2",
  transaction_id: "18",
  player_ref: "1018",
  game_id: "table",
  round_id: "1",
  bet_transaction_id: "17",
  amount: 500,
  currency: "EUR",
  round_closed: true
}

const ownRollback = { request_id: "3", transaction_id: "19", player_ref: "1018", target_transaction_id: "17" }

const ownBodies: ReadonlyArray<object> = [
  { session_token: "a-token" },
  ownBet,
  ownWin,
  { ...ownBet, win: { transaction_id: "18", amount: 500 } },
  ownRollback,
  {
    actions: [{ action: "bet", ...ownBet }, { action: "win", ...ownWin }, { action: "rollback", ...ownRollback }]
  },
  { player_ref: "1018", game_id: "table", round_id: "1" },
  {
    request_id: "4",
    transaction_id: "20",
    player_ref: "1018",
    amount: 500,
    currency: "EUR",
    kind: "jackpot",
    campaign_id: "c"
  }
]

const isCode = (code: unknown): code is RefusalCode => typeof code === "string" && Object.hasOwn(statusByCode, code)

const retryIn = (body: string): unknown => Object(Object(Object(parsed(body)).error).details).retry

/** Pitboss's own protocol, which has no settings. */
export const ownForm: Omit<AnswerForm, "protocol" | "settings"> = {
  name: "pitboss",
  address: ownAddress,
  paths: [
    "authenticate",
    "balance",
    "bet",
    "win",
    "bet-win",
    "batch",
    "rollback",
    "round/close",
    "promo-win"
  ].map((name) => `/${name}`),
  bodies: ownBodies.map((body) => Buffer.from(JSON.stringify(body))),
  sign: (path, body, nowSeconds) => {
    const timestamp = String(nowSeconds)
    const message = { method: "POST", uri: `${ownAddress}${path}`, timestamp, nonce: undefined, body }
    const signature = sign(signingKey(ownSecret), message)
    return {
      headers: { "x-provider-key": ownKeys.open, "x-timestamp": timestamp, "x-signature": signature },
      body
    }
  },
  isAnswer: ({ body, contentType, status }) => {
    if (contentType !== "application/json") return false
    const { data, error } = Object(parsed(body))
    if (status === 200) return typeof data === "object" && error === undefined
    const { code, details, message } = Object(error)
    const isKnown = isCode(code) && (statusByCode[code] === status || (status === 413 && code === "INVALID_REQUEST"))
    return isKnown && typeof message === "string" && ["never", "same_request", "rollback"].includes(details.retry)
  },
  isTryAgain: ({ body }) => ["same_request", "rollback"].includes(String(retryIn(body)))
}

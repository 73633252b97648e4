/** Slotegrator's side of GIS. */
import { Schema } from "effect"
import * as Crypto from "node:crypto"
import { parseDecimal } from "../../../src/protocols/Decimal.ts"
import type { FormEntries } from "../../../src/protocols/FormBody.ts"
import { slotegratorSign } from "../../../src/protocols/slotegrator/SlotegratorSign.ts"
import type {
  Dialect,
  DialectDefinition,
  Expectation,
  Expectations,
  Message,
  RollbackMessage,
  ServerAnswer,
  ServerCall,
  Session,
  Situations,
  ProviderServer
} from "../Dialect.ts"
import { takenOnce } from "../Expectations.ts"
import { AnswerReader, decimalText, expecting, finerBy, otherSign } from "../Reading.ts"

const Settings = Schema.Struct({ merchant_id: Schema.String, merchant_key: Schema.String })

const zero = { coefficient: 0, scale: 0 }

/** Half of what is taken back is refunded, half is rolled back by a list: which one says its id. */
const isRefund = ({ id }: RollbackMessage): boolean => (id.codePointAt(id.length - 1) ?? 0) % 2 === 0

const fieldsOf = (message: Message, session: Session): FormEntries => {
  const player = [["player_id", session.playerRef], ["currency", session.currency]] as const
  switch (message.kind) {
    case "balance":
      return [["action", "balance"], ...player, ["session_id", session.token]]
    case "bet":
    case "win":
      return [
        ["action", message.kind],
        // the stake of a free spin is nothing
        ["amount", decimalText(message.kind === "bet" && message.grant !== null ? zero : message.amount, 2)],
        ...player,
        ["game_uuid", message.gameId],
        ["transaction_id", message.id],
        ["session_id", session.token],
        ["type", message.grant === null ? message.kind : "freespin"],
        ...message.grant === null ? [] : [["freespin_id", message.grant] as const],
        ["round_id", message.roundId],
        ["finished", message.closes === true ? "1" : "0"]
      ]
    case "rollback":
      return isRefund(message)
        ? [
          ["action", "refund"],
          ["amount", decimalText(message.bet.amount, 2)],
          ...player,
          ["game_uuid", message.gameId],
          ["transaction_id", message.id],
          ["session_id", session.token],
          ["bet_transaction_id", message.bet.id],
          ["round_id", message.roundId]
        ]
        : [
          ["action", "rollback"],
          ...player,
          ["game_uuid", message.gameId],
          ["transaction_id", message.id],
          ["rollback_transactions[0][action]", "bet"],
          ["rollback_transactions[0][amount]", decimalText(message.bet.amount, 2)],
          ["rollback_transactions[0][transaction_id]", message.bet.id],
          ["rollback_transactions[0][type]", "bet"],
          ["session_id", session.token],
          ["type", "rollback"],
          ["provider_round_id", message.roundId],
          ["round_id", message.roundId]
        ]
    case "promo":
      return [
        ["action", "win"],
        ["amount", decimalText(message.amount, 2)],
        ...player,
        ["game_uuid", message.gameId],
        ["transaction_id", message.id],
        ["session_id", session.token],
        ["type", "prize_drop"]
      ]
    default:
      return []
  }
}

const done = (moves: boolean): Expectation => ({ codes: ["OK"], moves, balance: "required" })

const failed = (...codes: ReadonlyArray<string>): Expectation => ({ codes, moves: false, balance: "absent" })

const everywhere: Situations = {
  malformed: failed("INTERNAL_ERROR"),
  forged: failed("INTERNAL_ERROR"),
  fractional_amount: failed("INTERNAL_ERROR"),
  session_expired: failed("INTERNAL_ERROR")
}

const expectations: Expectations = {
  balance: { new: done(false) },
  bet: {
    new: done(true),
    duplicate: done(false),
    tombstoned: failed("INTERNAL_ERROR"),
    rolled_back: { codes: ["OK", "INTERNAL_ERROR"], moves: false },
    insufficient_funds: failed("INSUFFICIENT_FUNDS")
  },
  ...takenOnce(done)
}

const json = (value: unknown, status = 200): ServerAnswer => ({ status, body: JSON.stringify(value) })

const refused = (message: string, status: number): ServerAnswer =>
  json({ name: "Error", message, code: 0, status }, status)

const make = (settings: typeof Settings.Type): Dialect => {
  const key = Crypto.createSecretKey(settings.merchant_key, "utf8")

  const headersAt = (now: number) => ({
    "X-Merchant-Id": settings.merchant_id,
    "X-Timestamp": String(Math.floor(now / 1000)),
    "X-Nonce": Crypto.randomUUID().replaceAll("-", "")
  })

  const isSigned = (call: ServerCall, entries: FormEntries): boolean => {
    const headers = {
      "X-Merchant-Id": call.header("x-merchant-id") ?? "",
      "X-Timestamp": call.header("x-timestamp") ?? "",
      "X-Nonce": call.header("x-nonce") ?? ""
    }
    return headers["X-Merchant-Id"] === settings.merchant_id &&
      Math.abs(call.now / 1000 - Number(headers["X-Timestamp"])) <= 30 &&
      slotegratorSign(key, entries, headers) === call.header("x-sign")
  }

  const serve = (call: ServerCall, providerServer: ProviderServer): ServerAnswer | undefined => {
    const entries = call.method === "GET" ? [...call.query] : [...new URLSearchParams(call.body)]
    const order = new Map(entries)
    const valueOf = (name: string): string => order.get(name) ?? ""
    const known = [
      "/games",
      "/games/init",
      "/games/init-demo",
      "/freespins/bets",
      "/freespins/set",
      "/freespins/cancel"
    ]
    if (!known.includes(call.path)) return undefined
    if (!isSigned(call, entries)) return refused("Invalid sign", 401)
    switch (call.path) {
      case "/games":
        return json({
          items: providerServer.games.map(({ id, name }) => ({
            uuid: id,
            name,
            image: "",
            type: "Slots",
            provider: "Vendor",
            parameters: { rtp: 96.5 }
          })),
          _meta: { totalCount: providerServer.games.length, pageCount: 1, currentPage: 1, perPage: 50 }
        })
      case "/games/init":
        return providerServer.games.some(({ id }) => id === valueOf("game_uuid"))
          ? json({
            url: providerServer.open({
              token: valueOf("session_id"),
              playerRef: valueOf("player_id"),
              currency: valueOf("currency"),
              gameId: valueOf("game_uuid")
            })
          })
          : refused("Game not found", 404)
      case "/games/init-demo":
        return json({ url: `${providerServer.url}/demo` })
      case "/freespins/bets":
        return json({
          denominations: ["0.01"],
          total_bets: ["0.10", "0.20", "0.50", "1.00"].map((amount, place) => ({
            bet_id: place,
            amount: Number(amount)
          }))
        })
      case "/freespins/set":
        providerServer.grants.set(valueOf("freespin_id"), {
          reference: valueOf("freespin_id"),
          playerRef: valueOf("player_id"),
          gameId: valueOf("game_uuid"),
          currency: valueOf("currency"),
          rounds: Number(valueOf("quantity")),
          stake: parseDecimal(["0.10", "0.20", "0.50", "1.00"][Number(valueOf("total_bet_id"))] ?? "") ??
            zero,
          validUntil: Number(valueOf("valid_until")) * 1000
        })
        return { status: 200, body: "" }
      default:
        return providerServer.grants.delete(valueOf("freespin_id"))
          ? { status: 200, body: "" }
          : refused("Not found", 404)
    }
  }

  return {
    authenticate: "none",
    balance: true,
    winsName: "round",
    winsPerBet: "many",
    promo: true,
    betWin: false,
    freeRounds: "bets",
    close: false,
    sessions: true,
    malformed: true,
    tooFine: finerBy(4),

    request: (message, session, { damage, now }) => {
      const entries = fieldsOf(message, session)
      const headers = headersAt(now)
      const sign = slotegratorSign(key, entries, headers)
      const body = new URLSearchParams(Object.fromEntries(entries)).toString()
      return {
        method: "POST",
        path: "",
        headers: {
          ...headers,
          "X-Sign": damage === "signature" ? otherSign(sign) : sign,
          "content-type": "application/x-www-form-urlencoded"
        },
        body: damage === "body" ? body.slice(0, -3) : body
      }
    },

    read: (message, _session, _callId, answer) => {
      const reader = new AnswerReader(answer)
      const error = reader.string("error_code", false)
      if (error !== undefined) {
        reader.string("error_description")
        return { code: error, retry: error === "INTERNAL_ERROR", problems: reader.problems }
      }
      const balance = reader.number("balance", 3, true)
      if (message.kind !== "balance") reader.string("transaction_id")
      if (message.kind === "rollback" && !isRefund(message)) {
        const listed = JSON.stringify(reader.body?.["rollback_transactions"])
        if (listed !== JSON.stringify([message.bet.id])) {
          reader.problems.push("rollback_transactions are not the listed ones")
        }
      }
      return { code: "OK", balance, retry: false, problems: reader.problems }
    },

    expect: expecting(expectations, everywhere),
    serve
  }
}

export const slotegratorDialect: DialectDefinition<typeof Settings.Type> = { settings: Settings, make }

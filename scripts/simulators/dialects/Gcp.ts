/** The side of a game studio that speaks the universal API, version 1. */
import { Schema } from "effect"
import { minorDigits } from "../../../src/domain/Standards.ts"
import { fromUnits, toMinorUnits } from "../../../src/protocols/Decimal.ts"
import { parseJson, readInteger, readList, readObject, readText } from "../../../src/protocols/JsonBody.ts"
import { requestSigner } from "../../../src/protocols/RequestSign.ts"
import type {
  BetMessage,
  Dialect,
  DialectDefinition,
  Expectation,
  Expectations,
  Message,
  ServerAnswer,
  ServerCall,
  Session,
  Situations,
  ProviderServer,
  WinMessage
} from "../Dialect.ts"
import { takenOnce } from "../Expectations.ts"
import { AnswerReader, expecting, otherSign } from "../Reading.ts"

const Settings = Schema.Struct({ auth_token: Schema.String, casino_id: Schema.String })

const actionOf = ({ amount, id, kind }: BetMessage | WinMessage, currency: string) => ({
  action: kind,
  amount: toMinorUnits(amount, minorDigits(currency)),
  action_id: id
})

const valuesOf = (message: Message, { currency, gameId, playerRef }: Session): object => {
  const head = (game: string, roundId: string) => ({
    user_id: playerRef,
    currency,
    game,
    game_id: roundId,
    session_id: "studio-session"
  })
  switch (message.kind) {
    case "bet":
    case "win":
      return {
        ...head(message.gameId, message.roundId),
        finished: message.closes === true,
        actions: [actionOf(message, currency)]
      }
    case "bet_win": {
      const { bet, win } = message
      return {
        ...head(bet.gameId, bet.roundId),
        finished: win.closes,
        actions: [actionOf(bet, currency), actionOf(win, currency)]
      }
    }
    case "rollback":
      return {
        ...head(message.gameId, message.roundId),
        finished: false,
        actions: [{ action: "rollback", action_id: message.id, original_action_id: message.bet.id }]
      }
    case "close":
      return { ...head(message.gameId, message.roundId), finished: true, actions: [] }
    case "promo":
      return {
        issue_id: message.grant,
        status: "played",
        total_amount: toMinorUnits(message.amount, minorDigits(currency))
      }
    default:
      return { user_id: playerRef, currency, game: gameId }
  }
}

const idsOf = (message: Message): ReadonlyArray<string> => {
  switch (message.kind) {
    case "bet_win":
      return [message.bet.id, message.win.id]
    case "bet":
    case "win":
    case "rollback":
      return [message.id]
    default:
      return []
  }
}

const done = (moves: boolean): Expectation => ({ codes: ["OK"], moves, balance: "required" })

const refused = (code: string, http = 412): Expectation => ({ codes: [code], http: [http], moves: false })

const everywhere: Situations = {
  malformed: refused("400"),
  forged: refused("403", 403)
}

const betExpectations: Situations = {
  new: done(true),
  duplicate: done(false),
  tombstoned: refused("400"),
  rolled_back: { codes: ["OK", "400"], http: [200, 412], moves: false },
  insufficient_funds: { ...refused("100"), balance: "required" }
}

const expectations: Expectations = {
  balance: { new: done(false) },
  bet: betExpectations,
  bet_win: betExpectations,
  ...takenOnce(done),
  close: { new: done(false) }
}

const json = (value: object, status = 200): ServerAnswer => ({ status, body: JSON.stringify(value) })

const error = (code: number, message: string): ServerAnswer => json({ code, message }, code === 403 ? 403 : 412)

const make = (settings: typeof Settings.Type): Dialect => {
  const signer = requestSigner(settings.auth_token)

  const serve = (call: ServerCall, providerServer: ProviderServer): ServerAnswer | undefined => {
    const known = ["/sessions", "/demo", "/freespins/issue", "/freespins/cancel", "/freespins/status"]
    if (call.method !== "POST" || !known.includes(call.path)) return undefined
    if (!signer.verify(Buffer.from(call.body), call.header("x-request-sign") ?? "")) return error(403, "Forbidden")
    const order = parseJson(Buffer.from(call.body)) ?? {}
    if (order["casino_id"] !== settings.casino_id) return error(403, "Forbidden")
    const user = readObject(order["user"]) ?? {}
    const issueId = readText(order["issue_id"]) ?? ""
    const gameId = readText(order["game"]) ?? ""
    switch (call.path) {
      case "/sessions":
        return providerServer.games.some(({ id }) => id === gameId)
          ? json({
            launch_options: {
              strategy: "iframe",
              game_url: providerServer.open({
                token: "",
                playerRef: readText(user["id"]) ?? "",
                currency: readText(order["currency"]) ?? "",
                gameId
              })
            }
          })
          : error(405, "Game is not available")
      case "/demo":
        return json({ launch_options: { strategy: "iframe", game_url: `${providerServer.url}/demo-game` } })
      case "/freespins/issue":
        providerServer.grants.set(issueId, {
          reference: issueId,
          playerRef: readText(user["id"]) ?? "",
          gameId: readText(readList(order["games"])?.[0]) ?? "",
          currency: readText(order["currency"]) ?? "",
          rounds: readInteger(order["freespins_quantity"]) ?? 0,
          // the lowest that the studio has
          stake: { coefficient: 1, scale: 1 },
          validUntil: Date.parse(readText(order["valid_until"]) ?? "")
        })
        return { status: 200, body: "" }
      case "/freespins/cancel":
        return providerServer.grants.delete(issueId) ? { status: 200, body: "" } : error(620, "Cannot be cancelled")
      default:
        return providerServer.grants.has(issueId)
          ? json({ issue_id: issueId, status: "active" })
          : error(600, "Not found")
    }
  }

  return {
    authenticate: "none",
    balance: true,
    winsName: "round",
    winsPerBet: "many",
    promo: false,
    betWin: true,
    freeRounds: "total",
    close: true,
    sessions: false,
    malformed: true,
    // amounts are whole numbers of subunits
    tooFine: () => undefined,

    request: (message, session, { damage }) => {
      const text = JSON.stringify(valuesOf(message, session))
      const body = damage === "body" ? text.slice(0, -3) : text
      const sign = signer.sign(body)
      return {
        method: "POST",
        path: message.kind === "rollback" ? "/rollback" : message.kind === "promo" ? "/freespins" : "/play",
        headers: {
          "content-type": "application/json",
          "X-REQUEST-SIGN": damage === "signature" ? otherSign(sign) : sign
        },
        body
      }
    },

    read: (message, { currency }, _callId, answer) => {
      const reader = new AnswerReader(answer)
      const isGood = answer.status === 200
      const units = reader.number("balance", 0, isGood)
      const balance = units && fromUnits(units.coefficient, minorDigits(currency))
      if (!isGood) {
        const code = reader.number("code", 0, true)
        reader.string("message")
        return {
          code: code === undefined ? `HTTP_${answer.status}` : String(code.coefficient),
          balance,
          retry: answer.status >= 500,
          problems: reader.problems
        }
      }
      const ids = idsOf(message)
      if (ids.length > 0) {
        reader.string("game_id")
        const transactions = (readList(reader.body?.["transactions"]) ?? []).map((value) => readObject(value) ?? {})
        if (JSON.stringify(transactions.map((transaction) => transaction["action_id"])) !== JSON.stringify(ids)) {
          reader.problems.push("transactions are not those of the request in their order")
        }
        for (const transaction of transactions) {
          for (const name of ["tx_id", "processed_at"]) {
            if (readText(transaction[name]) === undefined) reader.problems.push(`transactions.${name} is no text`)
          }
          if (readInteger(transaction["bonus_amount"]) === undefined) {
            reader.problems.push("transactions.bonus_amount is no whole number")
          }
        }
      }
      return { code: "OK", balance, retry: false, problems: reader.problems }
    },

    expect: expecting(expectations, everywhere),
    serve
  }
}

export const gcpDialect: DialectDefinition<typeof Settings.Type> = { settings: Settings, make }

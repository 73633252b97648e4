/** The side of 01.tech's aggregator: A8R. */
import { Schema } from "effect"
import { parseDecimal } from "../../../src/protocols/Decimal.ts"
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
import { AnswerReader, decimalText, expecting, finerBy, otherSign } from "../Reading.ts"

const Settings = Schema.Struct({ auth_token: Schema.String, casino_id: Schema.String })

const methods: { readonly [kind in Message["kind"]]?: string } = {
  balance: "Player/Balance",
  bet: "Round/BetWin",
  win: "Round/BetWin",
  bet_win: "Round/BetWin",
  rollback: "Round/Rollback",
  promo: "Freespins/Finish",
  close: "Round/Finish"
}

const transactionOf = ({ amount, id, kind }: BetMessage | WinMessage) => ({
  id,
  type: kind,
  amount: decimalText(amount, 2)
})

const valuesOf = (message: Message, { currency, playerRef }: Session): object => {
  const player = { player_id: playerRef, currency }
  const round = (roundId: string, gameId: string) => ({
    ...player,
    round_id: roundId,
    game_id: gameId,
    provider: "vendor"
  })
  switch (message.kind) {
    case "bet":
    case "win":
      return {
        ...round(message.roundId, message.gameId),
        finished: message.closes === true,
        transactions: [transactionOf(message)]
      }
    case "bet_win": {
      const { bet, win } = message
      return {
        ...round(bet.roundId, bet.gameId),
        finished: win.closes,
        transactions: [transactionOf(bet), { ...transactionOf(win), bet_id: bet.id }]
      }
    }
    case "rollback":
      return {
        ...round(message.roundId, message.gameId),
        finished: false,
        transactions: [{ id: message.id, original_id: message.bet.id }]
      }
    case "promo":
      return { issue_id: message.grant, amount: decimalText(message.amount, 2) }
    case "close":
      return { ...player, round_id: message.roundId }
    default:
      return player
  }
}

const idsOf = (message: Message): ReadonlyArray<string> =>
  message.kind === "bet_win" ? [message.bet.id, message.win.id] : "id" in message ? [message.id] : []

const done = (moves: boolean): Expectation => ({ codes: ["OK"], moves, balance: "required" })

const refused = (code: string, balance?: "required" | "absent"): Expectation => ({
  codes: [code],
  http: [400],
  moves: false,
  ...balance === undefined ? {} : { balance }
})

const everywhere: Situations = {
  malformed: refused("400", "absent"),
  forged: refused("403", "absent"),
  fractional_amount: refused("400", "required")
}

/** A late original of a rollback is answered as good and moves nothing. */
const betExpectations: Situations = {
  new: done(true),
  duplicate: done(false),
  tombstoned: done(false),
  rolled_back: done(false),
  insufficient_funds: refused("100", "required")
}

const expectations: Expectations = {
  balance: { new: done(false) },
  bet: betExpectations,
  bet_win: betExpectations,
  ...takenOnce(done),
  close: { new: done(false) }
}

const json = (value: object, status = 200): ServerAnswer => ({ status, body: JSON.stringify(value) })

const error = (code: string, message: string): ServerAnswer =>
  json({ code: "invalid_argument", msg: message, meta: { api_code: code, api_message: message } }, 400)

const moneyForm = /^\d{1,18}(\.\d{1,12})?$/

const make = (settings: typeof Settings.Type): Dialect => {
  const signer = requestSigner(settings.auth_token)

  const serve = (call: ServerCall, providerServer: ProviderServer): ServerAnswer | undefined => {
    const prefix = "/v2/casino_a8r."
    if (call.method !== "POST" || !call.path.startsWith(prefix)) return undefined
    if (!signer.verify(Buffer.from(call.body), call.header("x-request-sign") ?? "")) return error("403", "Forbidden")
    const order = parseJson(Buffer.from(call.body)) ?? {}
    if (order["casino_id"] !== settings.casino_id) return error("403", "Forbidden")
    const player = readObject(order["player"]) ?? {}
    const gameId = readText(order["game"]) ?? ""
    const isKnown = providerServer.games.some(({ id }) => id === gameId)
    switch (call.path.slice(prefix.length)) {
      case "Game/List":
        return json({
          providers: [{
            name: "vendor",
            image_assets: { base_url: providerServer.url },
            games: providerServer.games.map(({ id, name }) => ({
              id,
              title: name,
              category: "slots",
              live: false,
              released_at: "2020-01-01T00:00:00Z",
              images: { square: "/game.png" }
            }))
          }]
        })
      case "Launcher/Real":
        return isKnown
          ? json({
            launch_url: providerServer.open({
              token: "",
              playerRef: readText(player["id"]) ?? "",
              currency: readText(player["currency"]) ?? "",
              gameId
            })
          })
          : error("405", "Game is not available")
      case "Launcher/Demo":
        return isKnown ? json({ launch_url: `${providerServer.url}/demo` }) : error("405", "Game is not available")
      case "Freespins/Issue": {
        const issueId = readText(order["issue_id"]) ?? ""
        providerServer.grants.set(issueId, {
          reference: issueId,
          playerRef: readText(player["id"]) ?? "",
          gameId: readText(readList(order["games"])?.[0]) ?? "",
          currency: readText(player["currency"]) ?? "",
          rounds: readInteger(order["freespins_quantity"]) ?? 0,
          stake: parseDecimal(readText(order["bet_amount"]) ?? "") ?? { coefficient: 0, scale: 0 },
          validUntil: Date.parse(readText(order["valid_until"]) ?? "")
        })
        return json({})
      }
      case "Freespins/Cancel":
        return providerServer.grants.delete(readText(order["issue_id"]) ?? "")
          ? json({})
          : error("620", "Cannot be cancelled")
      default:
        return undefined
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
    tooFine: finerBy(6),

    request: (message, session, { damage }) => {
      const text = JSON.stringify(valuesOf(message, session))
      const body = damage === "body" ? text.slice(0, -3) : text
      const sign = signer.sign(body)
      return {
        method: "POST",
        path: `/v2/a8r_casino.${methods[message.kind] ?? message.kind}`,
        headers: {
          "content-type": "application/json",
          "X-REQUEST-SIGN": damage === "signature" ? otherSign(sign) : sign
        },
        body
      }
    },

    read: (message, _session, _callId, answer) => {
      const reader = new AnswerReader(answer)
      const money = (value: unknown, necessary: boolean) => {
        if (value === undefined && !necessary) return undefined
        if (typeof value === "string" && moneyForm.test(value)) return parseDecimal(value)
        reader.problems.push("the balance is no text of an amount")
        return undefined
      }
      if (answer.status !== 200) {
        reader.string("code")
        reader.string("msg")
        const meta = readObject(reader.body?.["meta"])
        const code = readText(meta?.["api_code"]) ?? `HTTP_${answer.status}`
        if (code === "500" && answer.status !== 500) reader.problems.push("500 under another HTTP status")
        return {
          code,
          balance: money(meta?.["balance"], false),
          retry: answer.status >= 500,
          problems: reader.problems
        }
      }
      const balance = money(reader.body?.["balance"], true)
      if (!["balance", "promo", "close"].includes(message.kind)) {
        reader.string("round_id_casino")
        const transactions = (readList(reader.body?.["transactions"]) ?? []).map((value) => readObject(value) ?? {})
        const told = transactions.map(({ id }) => id)
        if (JSON.stringify(told) !== JSON.stringify(idsOf(message))) {
          reader.problems.push("transactions are not those of the request in their order")
        }
        for (const transaction of transactions) {
          for (const name of ["id_casino", "processed_at"]) {
            if (readText(transaction[name]) === undefined) reader.problems.push(`transactions.${name} is no text`)
          }
          if (!moneyForm.test(readText(transaction["bonus_amount"]) ?? "")) {
            reader.problems.push("transactions.bonus_amount is no text of an amount")
          }
        }
      }
      return { code: "OK", balance, retry: false, problems: reader.problems }
    },

    expect: expecting(expectations, everywhere),
    serve
  }
}

export const a8rDialect: DialectDefinition<typeof Settings.Type> = { settings: Settings, make }

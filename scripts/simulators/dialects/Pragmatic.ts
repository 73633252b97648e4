/** Pragmatic Play's side of the seamless wallet. */
import { Schema } from "effect"
import * as Crypto from "node:crypto"
import { type Decimal, parseDecimal } from "../../../src/protocols/Decimal.ts"
import type { FormEntries } from "../../../src/protocols/FormBody.ts"
import { pragmaticHash } from "../../../src/protocols/pragmatic/PragmaticHash.ts"
import type {
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
  ProviderServer
} from "../Dialect.ts"
import { addDecimals, AnswerReader, decimalText, expecting, finerBy, otherSign } from "../Reading.ts"

const Settings = Schema.Struct({
  secret_key: Schema.String,
  secure_login: Schema.String,
  provider_id: Schema.String,
  feed_login: Schema.String,
  feed_password: Schema.String
})

const zero: Decimal = { coefficient: 0, scale: 0 }

/** Rounds are numbers: a name becomes one that is its own. */
const roundNumber = (roundId: string): string =>
  BigInt(`0x${Crypto.hash("sha256", roundId, "hex").slice(0, 14)}`).toString()

/** References hold 32 characters. */
const referenceOf = (id: string): string => {
  const plain = id.replaceAll("-", "")
  return plain.length <= 32 ? plain : Crypto.hash("md5", id, "hex")
}

const methods: { readonly [kind in Message["kind"]]?: string } = {
  authenticate: "authenticate",
  balance: "balance",
  bet: "bet",
  win: "result",
  rollback: "refund",
  promo: "promoWin",
  close: "endRound"
}

const fieldsOf = (message: Message, session: Session, now: number): FormEntries => {
  const player = ["userId", session.playerRef] as const
  const timestamp = ["timestamp", String(now)] as const
  switch (message.kind) {
    case "authenticate":
      return [["token", session.token], ["gameId", session.gameId], ["ipAddress", "198.51.100.7"]]
    case "balance":
      return [player, ["token", session.token]]
    case "bet":
    case "win":
      return [
        player,
        ["gameId", message.gameId],
        ["roundId", roundNumber(message.roundId)],
        // the stake of a free round is nothing
        ["amount", decimalText(message.kind === "bet" && message.grant !== null ? zero : message.amount, 2)],
        ["reference", referenceOf(message.id)],
        timestamp,
        ["roundDetails", "spin"],
        ["platform", "WEB"],
        ["bonusCode", message.grant ?? ""],
        ["token", session.token]
      ]
    case "rollback":
      return [
        player,
        ["reference", referenceOf(message.bet.id)],
        ["gameId", message.gameId],
        ["roundId", roundNumber(message.roundId)],
        ["amount", decimalText(message.bet.amount, 2)],
        timestamp,
        ["token", session.token]
      ]
    case "promo":
      return [
        player,
        ["campaignId", "7001"],
        ["campaignType", "T"],
        ["amount", decimalText(message.amount, 2)],
        ["currency", session.currency],
        ["reference", referenceOf(message.id)],
        timestamp
      ]
    case "close":
      return [
        player,
        ["gameId", message.gameId],
        ["roundId", roundNumber(message.roundId)],
        ["win", "0.00"],
        ["token", session.token]
      ]
    default:
      return []
  }
}

const done = (moves: boolean, balance: "required" | "absent" = "required"): Expectation => ({
  codes: ["0"],
  moves,
  balance
})

const notDone = (...codes: ReadonlyArray<string>): Expectation => ({ codes, moves: false, balance: "absent" })

const everywhere: Situations = {
  malformed: notDone("5", "7"),
  forged: notDone("5"),
  fractional_amount: notDone("7"),
  session_expired: notDone("4")
}

const expectations: Expectations = {
  authenticate: { new: done(false) },
  balance: { new: done(false) },
  bet: {
    new: done(true),
    duplicate: done(false),
    tombstoned: notDone("120"),
    rolled_back: notDone("120"),
    insufficient_funds: notDone("1")
  },
  win: {
    new: done(true),
    duplicate: done(false),
    unknown: notDone("100"),
    tombstoned: notDone("100", "120"),
    rolled_back: notDone("120")
  },
  rollback: {
    new: done(true, "absent"),
    duplicate: done(false, "absent"),
    unknown: done(false, "absent"),
    tombstoned: done(false, "absent"),
    rolled_back: done(false, "absent"),
    settled: done(true, "absent")
  },
  promo: { new: done(true), duplicate: done(false) },
  close: { new: done(false) }
}

/** What the good answer to each message has to hold besides `error` and `description`. */
const answered: { readonly [kind in Message["kind"]]?: ReadonlyArray<string> } = {
  authenticate: ["userId", "currency"],
  balance: ["currency"],
  bet: ["transactionId", "currency"],
  win: ["transactionId", "currency"],
  rollback: ["transactionId"],
  promo: ["transactionId", "currency"],
  close: []
}

const service = "/IntegrationService/v3"

const json = (value: object): ServerAnswer => ({ status: 200, body: JSON.stringify(value) })

const good = { error: "0", description: "OK" }

/** `2026-11-22 12:00:00`, in UTC. */
const feedInstant = (milliseconds: number): string =>
  new Date(milliseconds).toISOString().slice(0, 19).replace("T", " ")

interface FeedLine {
  readonly session: Session
  readonly endedAt: number
  readonly bet: Decimal
  readonly win: Decimal
}

const negative = ({ coefficient, scale }: Decimal): Decimal => ({ coefficient: 0 - coefficient, scale })

/** Rounds of what was played, each with its bets and wins. */
const roundsOf = (played: ReadonlyArray<PlayedTransaction>): ReadonlyMap<string, FeedLine> => {
  const rounds = new Map<string, FeedLine>()
  for (const { at, message, session } of played) {
    const round = rounds.get(message.roundId) ?? { session, endedAt: at, bet: zero, win: zero }
    const [bet, win] = message.kind === "bet"
      ? [message.grant === null ? message.amount : zero, zero]
      : message.kind === "win"
      ? [zero, message.amount]
      : [negative(message.bet.amount), zero]
    rounds.set(message.roundId, {
      session,
      endedAt: Math.max(at, round.endedAt),
      bet: addDecimals(round.bet, bet),
      win: addDecimals(round.win, win)
    })
  }
  return rounds
}

const feedColumns = "playerID,extPlayerID,gameID,playSessionID,parentSessionID,startDate,endDate,status,type,bet,win," +
  "currency,jackpot,bonusCode,bonusBet,bonusWin"

const feedText = (providerServer: ProviderServer, from: number, now: number): string => {
  const lines = [...roundsOf(providerServer.played(from, now + 1))].map(([roundId, { bet, endedAt, session, win }]) => {
    const instant = feedInstant(endedAt)
    return [
      "1",
      session.playerRef,
      session.gameId,
      roundNumber(roundId),
      "",
      instant,
      instant,
      "C",
      "R",
      decimalText(bet, 2),
      decimalText(win, 2),
      session.currency,
      "0.00",
      "",
      "0.00",
      "0.00"
    ].join()
  })
  return [`timepoint=${now}`, feedColumns, ...lines].join("\n")
}

const make = (settings: typeof Settings.Type): Dialect => {
  const isSigned = (entries: FormEntries): boolean =>
    pragmaticHash(settings.secret_key, entries) === entries.find(([name]) => name === "hash")?.[1]

  const serve = (call: ServerCall, providerServer: ProviderServer): ServerAnswer | undefined => {
    if (call.path === `${service}/DataFeeds/gamerounds/finished/`) {
      const isKnown = call.query.get("login") === settings.feed_login &&
        call.query.get("password") === settings.feed_password
      return isKnown
        ? {
          status: 200,
          body: feedText(providerServer, Number(call.query.get("timepoint") ?? "0"), call.now),
          contentType: "text/csv"
        }
        : { status: 401, body: "" }
    }
    if (call.method !== "POST" || !call.path.startsWith(`${service}/http/`)) return undefined
    const path = call.path.slice(`${service}/http/`.length)
    const inQuery = path === "FreeRoundsBonusAPI/v2/bonus/player/create/"
    const entries = inQuery ? [...call.query] : [...new URLSearchParams(call.body)]
    const order = new Map(entries)
    const valueOf = (name: string): string => order.get(name) ?? ""
    if (!isSigned(entries) || valueOf("secureLogin") !== settings.secure_login) {
      return json({ error: "2", description: "Invalid hash or login" })
    }
    switch (path) {
      case "CasinoGameAPI/game/url/": {
        if (!providerServer.games.some(({ id }) => id === valueOf("symbol"))) {
          return json({ error: "7", description: "No such game" })
        }
        if (valueOf("playMode") === "DEMO") return json({ ...good, gameURL: `${providerServer.url}/demo` })
        return json({
          ...good,
          gameURL: providerServer.open({
            token: valueOf("token"),
            playerRef: valueOf("externalPlayerId"),
            currency: "EUR",
            gameId: valueOf("symbol")
          })
        })
      }
      case "CasinoGameAPI/getCasinoGames/":
        return json({
          ...good,
          gameList: providerServer.games.map(({ id, name }) => ({
            gameID: id,
            gameName: name,
            gameTypeID: "vs",
            typeDescription: "Video Slots",
            dataType: "RNG"
          }))
        })
      case "FreeRoundsBonusAPI/v2/bonus/player/create/": {
        const stake = /"totalBet":([\d.]+)/.exec(call.body)?.[1] ?? ""
        providerServer.grants.set(valueOf("bonusCode"), {
          reference: valueOf("bonusCode"),
          playerRef: valueOf("playerId"),
          gameId: /"gameId":"([^"]*)"/.exec(call.body)?.[1] ?? "",
          currency: valueOf("currency"),
          rounds: Number(valueOf("rounds")),
          stake: parseDecimal(stake) ?? zero,
          validUntil: Number(valueOf("expirationDate")) * 1000
        })
        return json(good)
      }
      case "FreeRoundsBonusAPI/v2/bonus/cancel/":
        return providerServer.grants.delete(valueOf("bonusCode"))
          ? json(good)
          : json({ error: "4003", description: "No such campaign" })
      default:
        return undefined
    }
  }

  return {
    authenticate: "keeps",
    balance: true,
    winsName: "round",
    winsPerBet: "many",
    promo: true,
    betWin: false,
    freeRounds: "bets",
    close: true,
    sessions: true,
    malformed: true,
    tooFine: finerBy(4),

    request: (message, session, { damage, now }) => {
      const entries: FormEntries = [["providerId", settings.provider_id], ...fieldsOf(message, session, now)]
      const form = new URLSearchParams(Object.fromEntries(entries))
      const hash = pragmaticHash(settings.secret_key, entries)
      form.append("hash", damage === "signature" ? otherSign(hash) : hash)
      const body = form.toString()
      return {
        method: "POST",
        path: `/${methods[message.kind] ?? message.kind}.html`,
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: damage === "body" ? body.slice(0, -3) : body
      }
    },

    read: (message, _session, _callId, answer) => {
      const reader = new AnswerReader(answer)
      const error = reader.number("error", 0, true)
      const code = error === undefined ? "NO_ERROR_FIELD" : String(error.coefficient)
      reader.string("description")
      const isGood = code === "0"
      for (const name of isGood ? answered[message.kind] ?? [] : []) reader.string(name)
      const hasMoney = isGood && message.kind !== "rollback"
      const cash = reader.number("cash", 3, hasMoney)
      const bonus = reader.number("bonus", 3, hasMoney)
      if (isGood && message.kind === "bet") reader.number("usedPromo", 3, true)
      return {
        code,
        balance: cash === undefined || bonus === undefined ? undefined : addDecimals(cash, bonus),
        token: message.kind === "authenticate" ? reader.string("token", false) : undefined,
        playerRef: message.kind === "authenticate" ? reader.string("userId", isGood) : undefined,
        retry: code === "100",
        problems: reader.problems
      }
    },

    expect: expecting(expectations, everywhere),
    serve
  }
}

export const pragmaticDialect: DialectDefinition<typeof Settings.Type> = { settings: Settings, make }

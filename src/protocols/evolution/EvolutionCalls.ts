/** Parser of the calls of Evolution's One Wallet. */
import type { Decimal } from "../Decimal.ts"
import { joinIds } from "../Ids.ts"
import { type JsonObject, readDecimal, readObject, readText } from "../JsonBody.ts"
import type { PromoKind, WalletAction, WalletCall } from "../Protocol.ts"

/** Methods. `sid`, of test environments only, is omitted: sessions come from launches here. */
export const methods = ["check", "balance", "debit", "credit", "cancel", "promo_payout"] as const

export type Method = (typeof methods)[number]

/** Common fields of all calls. */
interface Caller {
  readonly token: string
  readonly userId: string
}

const readCaller = (body: JsonObject): Caller | undefined => {
  const token = readText(body.sid, 512)
  const userId = readText(body.userId)
  return token === undefined || userId === undefined || readText(body.uuid) === undefined
    ? undefined
    : { token, userId }
}

interface Played {
  readonly roundId: string
  readonly tableId: string
}

/** Table of a call, if given. */
export const readTable = (body: JsonObject): string | undefined =>
  readText(readObject(readObject(readObject(body.game)?.details)?.table)?.id)

const readGame = (body: JsonObject): Played | undefined => {
  const roundId = readText(readObject(body.game)?.id)
  const tableId = readTable(body)
  return roundId === undefined || tableId === undefined ? undefined : { roundId, tableId }
}

/** A currency is three letters; the wallet validates which exist. */
const readCurrency = (body: JsonObject): string | undefined => {
  const currency = readText(body.currency)
  return currency !== undefined && /^[A-Z]{3}$/.test(currency) ? currency : undefined
}

const readAmount = (body: JsonObject): Decimal | undefined => {
  const amount = readDecimal(body.amount)
  return amount === undefined || amount.coefficient < 0 ? undefined : amount
}

/**
 * The vendor's ids are unique within a player's round at best, ours within a provider. A debit is identified by its `refId`. Its credit or cancel is
 * identified by the same `refId`, so that the second of them is a duplicate of the first.
 */
const moneyAction = (
  method: "debit" | "credit" | "cancel",
  { userId }: Caller,
  { roundId }: Played,
  transaction: JsonObject
): WalletAction | undefined => {
  const refId = readText(transaction.refId)
  const amount = readAmount(transaction)
  if (refId === undefined || amount === undefined || readText(transaction.id) === undefined) return undefined
  const debitId = joinIds("debit", userId, roundId, refId)
  const settlementId = joinIds("settle", userId, roundId, refId)
  switch (method) {
    case "debit":
      return { action: "bet", transactionId: debitId, amount, closesRound: "when_settled" }
    case "credit":
      return {
        action: "win",
        transactionId: settlementId,
        betTransactionId: debitId,
        amount,
        closesRound: "when_settled"
      }
    case "cancel":
      return {
        action: "rollback",
        transactionId: settlementId,
        targetTransactionId: debitId,
        closesRound: "when_settled"
      }
  }
}

const promoKind = (type: string): PromoKind =>
  type === "JACKPOT" ? "jackpot" : type === "FREE_ROUND_PLAYABLE_SPENT" ? "free_rounds" : "cash_drop"

const promoAction = ({ userId }: Caller, promo: JsonObject): WalletAction | undefined => {
  const type = readText(promo.type)
  const id = readText(promo.id)
  const amount = readAmount(promo)
  return type === undefined || id === undefined || amount === undefined ? undefined : {
    action: "promo_win",
    transactionId: joinIds("promo", userId, id),
    kind: promoKind(type),
    campaignId: readText(promo.voucherId) ?? type,
    amount
  }
}

/** Request of a call to the wallet; undefined when malformed. */
export const readCall = (method: Method, body: JsonObject): WalletCall | undefined => {
  const caller = readCaller(body)
  if (caller === undefined) return undefined
  const player = { ref: caller.userId, token: caller.token, transactionId: null }
  if (method === "check") return { kind: "identify", method, player, exchange: true, gameId: null }
  const currency = readCurrency(body)
  if (currency === undefined) return undefined
  const game = readGame(body)
  switch (method) {
    case "balance":
      return { kind: "balance", method, player, gameId: readTable(body) ?? null, currency }
    case "promo_payout": {
      const action = promoAction(caller, readObject(body.promoTransaction) ?? {})
      return action === undefined ? undefined : {
        kind: "settle",
        method,
        player,
        gameId: readTable(body) ?? null,
        roundId: null,
        currency,
        session: "none",
        actions: [action]
      }
    }
    case "debit":
    case "credit":
    case "cancel": {
      const action = game && moneyAction(method, caller, game, readObject(body.transaction) ?? {})
      return action === undefined ? undefined : {
        kind: "settle",
        method,
        player,
        gameId: game?.tableId ?? null,
        roundId: game?.roundId ?? null,
        currency,
        session: method === "debit" ? "token" : "none",
        actions: [action]
      }
    }
  }
}

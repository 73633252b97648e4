/** Parses Evolution's One Wallet calls into wallet calls. */
import type { Decimal } from "../Decimal.ts"
import { joinIds } from "../Ids.ts"
import { type JsonObject, readDecimal, readObject, readText } from "../JsonBody.ts"
import type { PromoKind, SettleCall, WalletAction, WalletCall } from "../Protocol.ts"

/** Methods. `sid`, of test environments only, is omitted: sessions come from launches here. */
export const methods = ["check", "balance", "debit", "credit", "cancel", "promo_payout"] as const

export type Method = (typeof methods)[number]

type SettlingMethod = Extract<Method, "debit" | "credit" | "cancel">

/** Common fields of all calls. The `uuid` besides is only echoed, and may be missing. */
interface Caller {
  /** Null where none is given, and none is needed: what was played is settled without. */
  readonly token: string | null
  readonly userId: string
}

const readCaller = (method: Method, body: JsonObject): Caller | undefined => {
  const token = readText(body.sid, 512) ?? null
  const userId = readText(body.userId)
  const isAsking = method === "check" || method === "balance" || method === "debit"
  return userId === undefined || (token === null && isAsking) ? undefined : { token, userId }
}

/** Table of a call, if given. */
export const readTable = (body: JsonObject): string | undefined =>
  readText(readObject(readObject(readObject(body.game)?.details)?.table)?.id)

const readRound = (body: JsonObject): string | undefined => readText(readObject(body.game)?.id)

/** A currency is three letters; the wallet validates which exist. */
const readCurrency = (body: JsonObject): string | undefined => {
  const currency = readText(body.currency)
  return currency !== undefined && /^[A-Z]{3}$/.test(currency) ? currency : undefined
}

const readAmount = (body: JsonObject): Decimal | undefined => {
  const amount = readDecimal(body.amount)
  return amount === undefined || amount.coefficient < 0 ? undefined : amount
}

interface Money {
  readonly refId: string
  readonly amount: Decimal
}

/** The message's own `id` identifies nothing. A cancel returns what its debit took, whatever amount it names. */
const readMoney = (method: SettlingMethod, body: JsonObject): Money | undefined => {
  const transaction = readObject(body.transaction) ?? {}
  const refId = readText(transaction.refId)
  const amount = method === "cancel" ? { coefficient: 0, scale: 0 } : readAmount(transaction)
  return refId === undefined || amount === undefined ? undefined : { refId, amount }
}

/**
 * The vendor's ids are unique within a player's round at best, ours within a provider. A debit is identified by its `refId`. Its credit or cancel is
 * identified by the same `refId`, so that the second of them is a duplicate of the first.
 */
const moneyAction = (
  method: SettlingMethod,
  { userId }: Caller,
  roundId: string,
  { amount, refId }: Money
): WalletAction => {
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
        ofBet: true,
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
  const type = readText(promo.type) ?? "promo"
  const id = readText(promo.id)
  const amount = readAmount(promo)
  return id === undefined || amount === undefined ? undefined : {
    action: "promo_win",
    transactionId: joinIds("promo", userId, id),
    kind: promoKind(type),
    campaignId: readText(promo.voucherId) ?? type,
    amount
  }
}

/** Request of a call to the wallet; undefined when malformed. */
export const readCall = (method: Method, body: JsonObject): WalletCall | undefined => {
  const caller = readCaller(method, body)
  if (caller === undefined) return undefined
  const player = { ref: caller.userId, token: caller.token, transactionId: null }
  if (method === "check") return { kind: "identify", method, player, exchange: true, gameId: null }
  const currency = readCurrency(body)
  if (currency === undefined) return undefined
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
      const money = readMoney(method, body)
      const tableId = readTable(body)
      const round = readRound(body)
      if (money === undefined || (method === "debit" && (tableId === undefined || round === undefined))) {
        return undefined
      }
      const inRound = (roundId: string): SettleCall => ({
        kind: "settle",
        method,
        player,
        gameId: tableId ?? null,
        roundId,
        currency,
        session: method === "debit" ? "token" : "none",
        actions: [moneyAction(method, caller, roundId, money)],
        ...method !== "debit" && { inRound }
      })
      return inRound(round ?? "")
    }
  }
}

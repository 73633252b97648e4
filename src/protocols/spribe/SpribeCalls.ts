/** Parses Spribe's calls into wallet calls. */
import type { Decimal } from "../Decimal.ts"
import { joinIds } from "../Ids.ts"
import { type JsonObject, readInteger, readText, readUnits } from "../JsonBody.ts"
import type { PromoKind, WalletAction, WalletCall } from "../Protocol.ts"

export const methods = ["auth", "info", "withdraw", "deposit", "rollback"] as const

export type Method = (typeof methods)[number]

/** Fields of the call repeated in its answer. */
export interface Echo {
  readonly provider: string | null
  readonly transactionId: string | null
}

/** Parsed call with the fields needed for its answer. */
export interface Asked {
  readonly call: WalletCall
  readonly echo: Echo
}

/** Amounts are integers in thousandths of the currency's unit. */
export const amountScale = 3

/** Ids are strings in one description and numbers in another. */
const readId = (body: JsonObject, name: string): string | undefined => {
  const number = readInteger(body[name])
  return number === undefined ? readText(body[name]) : String(number)
}

const readCurrency = (body: JsonObject): string | undefined => {
  const currency = readText(body.currency)
  return currency !== undefined && /^[A-Z]{3}$/.test(currency) ? currency : undefined
}

/** Our id of a withdrawal or a deposit: one namespace, since a duplicate is identified by `provider_tx_id` alone. */
const transactionIdOf = (providerTxId: string): string => joinIds("tx", providerTxId)

/** Our id of a rollback is derived from its target: the same when sent again under another `provider_tx_id`. */
const rollbackIdOf = (target: string): string => joinIds("rollback", target)

/** Kinds of deposits without a withdrawal, by `action`. */
const promoKinds: ReadonlyMap<string, PromoKind> = new Map([
  ["freebet", "free_rounds"],
  ["rainfreebet", "free_rounds"],
  ["promofreebet", "free_rounds"],
  ["challengefreebet", "free_rounds"],
  ["challengeprizemoney", "tournament"]
])

interface Money {
  readonly action: WalletAction
  readonly roundId: string | null
}

const depositOf = (body: JsonObject, transactionId: string, amount: Decimal): Money | undefined => {
  const campaignId = readText(body.action) ?? ""
  const kind = promoKinds.get(campaignId)
  if (kind !== undefined) {
    return { roundId: null, action: { action: "promo_win", transactionId, kind, campaignId, amount } }
  }
  const bet = readId(body, "withdraw_provider_tx_id")
  if (bet === undefined) return undefined
  return {
    roundId: bet,
    action: {
      action: "win",
      transactionId,
      betTransactionId: transactionIdOf(bet),
      amount,
      closesRound: "when_settled"
    }
  }
}

/**
 * Money movement of a call. Each bet is a round of its own: its settlement names it by id, and nothing in the descriptions groups several. Lost bets
 * are not reported, so their rounds stay open.
 */
const moneyOf = (method: "withdraw" | "deposit" | "rollback", body: JsonObject): Money | undefined => {
  if (method === "rollback") {
    const target = readId(body, "rollback_provider_tx_id")
    // the amount is not required: the rollback returns what was moved
    return target === undefined ? undefined : {
      roundId: null,
      action: {
        action: "rollback",
        transactionId: rollbackIdOf(target),
        targetTransactionId: transactionIdOf(target),
        closesRound: "when_settled"
      }
    }
  }
  const providerTxId = readId(body, "provider_tx_id")
  const amount = readUnits(body.amount, amountScale)
  if (providerTxId === undefined || amount === undefined) return undefined
  const transactionId = transactionIdOf(providerTxId)
  return method === "deposit"
    ? depositOf(body, transactionId, amount)
    : { roundId: providerTxId, action: { action: "bet", transactionId, amount, closesRound: false } }
}

const authOf = (body: JsonObject): WalletCall | undefined => {
  const token = readText(body.user_token, 512)
  return token === undefined ? undefined : {
    kind: "identify",
    method: "auth",
    player: { ref: null, token, transactionId: null },
    // they continue under a session token of their own, and may repeat the call after a lost answer
    exchange: false,
    gameId: null
  }
}

/** Request of a call to the wallet; undefined when malformed. */
export const readCall = (method: Method, body: JsonObject): Asked | undefined => {
  const echo = { provider: readText(body.provider) ?? null, transactionId: readId(body, "provider_tx_id") ?? null }
  if (method === "auth") {
    const call = authOf(body)
    return call && { call, echo }
  }
  const ref = readId(body, "user_id")
  if (ref === undefined) return undefined
  const player = { ref, token: null, transactionId: null }
  const currency = readCurrency(body)
  if (method === "info") {
    return { echo, call: { kind: "balance", method, player, gameId: null, currency: currency ?? null } }
  }
  const money = moneyOf(method, body)
  const gameId = readText(body.game)
  // a rollback needs nothing but its target transaction
  if (money === undefined || method !== "rollback" && (currency === undefined || gameId === undefined)) return undefined
  return {
    echo,
    call: {
      kind: "settle",
      method,
      player,
      gameId: gameId ?? null,
      roundId: money.roundId,
      currency: currency ?? null,
      session: "none",
      actions: [money.action]
    }
  }
}

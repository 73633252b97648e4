/** Calls from Pragmatic Play: parses each into a wallet call, and renders the fields of the successful answer. */
import type { Settlement } from "../../domain/settlement/Settlement.ts"
import { toMajorText } from "../Decimal.ts"
import type { FormFields } from "../FormFields.ts"
import {
  fundsIn,
  type Granted,
  type PlayerName,
  type PromoKind,
  type WalletAction,
  type WalletCall
} from "../Protocol.ts"
import { shownFunds } from "../ShownFunds.ts"
import { balanceFields, moneyFields } from "./PragmaticAnswers.ts"

/** Parsed call and the fields of its successful answer. Without `call` the wallet is not called. */
interface PragmaticCall {
  readonly call?: WalletCall
  readonly fieldsOf: (outcome: Granted) => string
}

/** Settings that the calls depend on. */
interface PragmaticTerms {
  /** Whether `bonusWin` pays, or reports the total of wins paid individually. */
  readonly paysFreeRounds: boolean
}

type Read = (form: FormFields, terms: PragmaticTerms) => PragmaticCall

/** Maximum games in one balance query. */
const maxGames = 500

/** Wallet ids: the kind prefixes the reference, since a refund has none of its own. Stored permanently; never change them. */
const idOf = {
  bet: (reference: string) => `bet:${reference}`,
  win: (reference: string) => `win:${reference}`,
  refund: (reference: string) => `refund:${reference}`,
  bonus: (reference: string) => `bonus:${reference}`,
  jackpot: (reference: string) => `jackpot:${reference}`,
  promo: (reference: string) => `promo:${reference}`,
  adjustment: (reference: string) => `adjustment:${reference}`
}

/** The player by reference. A token beside it is validated for bets only: wins arrive long after sessions have ended. */
const playerOf = (form: FormFields, token: string | null = null): PlayerName => ({
  ref: form.text("userId", 100),
  token,
  transactionId: null
})

const moneyOf = (outcome: Granted): string => {
  const funds = fundsIn(outcome)
  return funds === null ? "" : moneyFields(funds)
}

const balanceOf = (outcome: Granted): string => {
  const funds = fundsIn(outcome)
  return funds === null ? "" : balanceFields(funds)
}

const transactionField = (id: string): string => `"transactionId":${JSON.stringify(id)},`

/** Answer to any money movement: the wallet's own id, the same on every repeat, and the current balances. */
const transactionOf = (id: string) => (outcome: Granted): string => transactionField(id) + balanceOf(outcome)

const firstSettlement = (outcome: Granted): Settlement | undefined =>
  outcome._tag === "Settled" ? outcome.settlements[0] : undefined

const authenticate: Read = (form) => ({
  call: {
    kind: "identify",
    method: "authenticate",
    player: { ref: null, token: form.text("token", 2_000), transactionId: null },
    exchange: false,
    gameId: form.optional("gameId", 32)
  },
  fieldsOf: (outcome) => {
    if (outcome._tag !== "Identified") return ""
    const { country, playerRef, token } = outcome.player
    return `"userId":${JSON.stringify(playerRef)},${balanceFields(outcome.funds)}` +
      `"token":${JSON.stringify(token ?? "")},"country":${JSON.stringify(country)},`
  }
})

const balance: Read = (form) => ({
  call: { kind: "balance", method: "balance", player: playerOf(form), gameId: null, currency: null },
  fieldsOf: balanceOf
})

const bet: Read = (form) => {
  const token = form.optional("token", 2_000)
  const id = idOf.bet(form.text("reference", 32))
  form.digits("timestamp")
  form.sent("roundDetails")
  return {
    call: {
      kind: "settle",
      method: "bet",
      player: playerOf(form, token),
      gameId: form.text("gameId", 32),
      roundId: form.digits("roundId"),
      currency: null,
      session: token === null ? "none" : "token",
      actions: [{ action: "bet", transactionId: id, amount: form.amount("amount"), closesRound: false }]
    },
    fieldsOf: (outcome) => {
      if (outcome._tag !== "Settled") return ""
      const used = Math.abs(firstSettlement(outcome)?.bonusAmount ?? 0)
      return `${transactionOf(id)(outcome)}"usedPromo":${toMajorText(used, outcome.funds.currency)},`
    }
  }
}

/** Campaign types: tournaments, community jackpots; others are cash drops. */
const campaignKind = (type: string | null): PromoKind =>
  type === "T" ? "tournament" : type === "CJP" ? "jackpot" : "cash_drop"

/** Prize attached to a result: a separate credit under its own reference. */
const prizeOf = (form: FormFields): ReadonlyArray<WalletAction> => {
  const amount = form.optionalAmount("promoWinAmount")
  if (amount === null || amount.coefficient === 0) return []
  const reference = form.text("promoWinReference", 32)
  return [{
    action: "promo_win",
    transactionId: idOf.promo(reference),
    kind: campaignKind(form.optional("promoCampaignType", 32)),
    campaignId: form.optional("promoCampaignID", 128) ?? reference,
    amount
  }]
}

const result: Read = (form) => {
  const id = idOf.win(form.text("reference", 32))
  form.digits("timestamp")
  form.sent("roundDetails")
  return {
    call: {
      kind: "settle",
      method: "result",
      player: playerOf(form),
      gameId: form.text("gameId", 32),
      roundId: form.digits("roundId"),
      currency: null,
      session: "none",
      actions: [
        {
          action: "win",
          transactionId: id,
          betTransactionId: null,
          amount: form.amount("amount"),
          closesRound: false
        },
        ...prizeOf(form)
      ]
    },
    fieldsOf: transactionOf(id)
  }
}

const bonusWin: Read = (form, { paysFreeRounds }) => {
  const id = idOf.bonus(form.text("reference", 32))
  const code = form.text("bonusCode", 128)
  const amount = form.amount("amount")
  form.digits("timestamp")
  return {
    call: {
      kind: "settle",
      method: "bonusWin",
      player: playerOf(form),
      gameId: form.optional("gameId", 32),
      roundId: null,
      currency: null,
      session: "none",
      actions: paysFreeRounds
        ? [{ action: "promo_win", transactionId: id, kind: "free_rounds", campaignId: code, amount }]
        : [],
      grant: { reference: code, mustExist: false, finishes: true, won: amount }
    },
    fieldsOf: transactionOf(id)
  }
}

const jackpotWin: Read = (form) => {
  const id = idOf.jackpot(form.text("reference", 32))
  form.digits("timestamp")
  form.digits("roundId")
  return {
    call: {
      kind: "settle",
      method: "jackpotWin",
      player: playerOf(form),
      gameId: form.text("gameId", 32),
      roundId: null,
      currency: null,
      session: "none",
      actions: [{
        action: "promo_win",
        transactionId: id,
        kind: "jackpot",
        campaignId: form.text("jackpotId", 128),
        amount: form.amount("amount")
      }]
    },
    fieldsOf: transactionOf(id)
  }
}

const promoWin: Read = (form) => {
  const id = idOf.promo(form.text("reference", 32))
  form.digits("timestamp")
  return {
    call: {
      kind: "settle",
      method: "promoWin",
      player: playerOf(form),
      gameId: form.optional("gameId", 32),
      roundId: null,
      currency: form.text("currency", 16),
      session: "none",
      actions: [{
        action: "promo_win",
        transactionId: id,
        kind: campaignKind(form.text("campaignType", 32)),
        campaignId: form.text("campaignId", 128),
        amount: form.amount("amount")
      }]
    },
    fieldsOf: transactionOf(id)
  }
}

const endRound: Read = (form) => ({
  call: {
    kind: "settle",
    method: "endRound",
    player: playerOf(form),
    gameId: form.text("gameId", 32),
    roundId: form.digits("roundId"),
    currency: null,
    session: "none",
    actions: [{ action: "close_round" }]
  },
  fieldsOf: moneyOf
})

const refund: Read = (form) => {
  const reference = form.text("reference", 32)
  const id = idOf.refund(reference)
  return {
    call: {
      kind: "settle",
      method: "refund",
      player: playerOf(form),
      gameId: null,
      roundId: null,
      currency: null,
      session: "none",
      actions: [{
        action: "rollback",
        transactionId: id,
        targetTransactionId: idOf.bet(reference),
        closesRound: false
      }]
    },
    fieldsOf: () => transactionField(id)
  }
}

const balancePerGame: Read = (form) => {
  const gameIds = form.text("gameIdList", 33 * maxGames).split(",").filter((id) => id !== "")
  if (gameIds.length > maxGames || gameIds.some((id) => id.length > 32)) form.refuse("gameIdList")
  return {
    call: { kind: "balances", method: "GetBalancePerGame", player: playerOf(form), gameIds },
    fieldsOf: (outcome) => {
      if (outcome._tag !== "Balances") return ""
      const balances = outcome.funds.map((funds, index) => {
        const { bonus, cash } = shownFunds(funds)
        return `{"gameID":${JSON.stringify(gameIds[index] ?? "")},"cash":${toMajorText(cash, funds.currency)},` +
          `"bonus":${toMajorText(bonus, funds.currency)}}`
      })
      return `"gamesBalances":[${balances.join()}],`
    }
  }
}

const adjustment: Read = (form) => {
  const id = idOf.adjustment(form.text("reference", 32))
  const amount = form.signedAmount("amount")
  form.amount("validBetAmount")
  form.digits("timestamp")
  return {
    call: {
      kind: "settle",
      method: "adjustment",
      player: playerOf(form),
      gameId: form.text("gameId", 32),
      roundId: form.digits("roundId"),
      currency: null,
      session: "none",
      actions: amount.coefficient === 0 ? [] : [{ action: "adjust", transactionId: id, amount }]
    },
    fieldsOf: transactionOf(id)
  }
}

const sessionExpired: Read = (form) => {
  form.text("sessionId", 256)
  form.text("playerId", 100)
  return { fieldsOf: () => "" }
}

const roundDetails: Read = (form) => {
  form.text("userId", 100)
  form.digits("roundId")
  form.sent("smResult")
  form.sent("gameCategory")
  form.sent("betMultiplier")
  return { fieldsOf: () => "" }
}

/** By path, without the suffix `.html` that all have. */
export const pragmaticCalls: ReadonlyMap<string, Read> = new Map([
  ["/authenticate", authenticate],
  ["/balance", balance],
  ["/bet", bet],
  ["/result", result],
  ["/bonusWin", bonusWin],
  ["/jackpotWin", jackpotWin],
  ["/promoWin", promoWin],
  ["/endRound", endRound],
  ["/refund", refund],
  ["/GetBalancePerGame", balancePerGame],
  ["/adjustment", adjustment],
  ["/session/expired", sessionExpired],
  ["/roundDetails", roundDetails]
])

/** Parses bodies of Pitboss's own protocol into wallet calls (`src/contract/settlement`). */
import type * as Wire from "../../contract/settlement/Api.ts"
import type { ActionSubject, PlayerName, WalletAction, WalletCall } from "../Protocol.ts"

/** Messages as providers send them; `game_id` is the provider's own id, money is minor units. */
type Bet = Omit<typeof Wire.Bet.Type, "request_id">
type BetWin = Omit<typeof Wire.BetWin.Type, "request_id">
type Win = Omit<typeof Wire.Win.Type, "request_id">
type Rollback = Omit<typeof Wire.Rollback.Type, "request_id">
type PromoWin = Omit<typeof Wire.PromoWin.Type, "request_id">

const underToken = (token: string): PlayerName => ({ ref: null, token, transactionId: null })

const byRef = (ref: string): PlayerName => ({ ref, token: null, transactionId: null })

const subjectOf = (
  player: PlayerName,
  { currency, game_id: gameId, round_id: roundId }: Pick<Bet, "currency" | "game_id" | "round_id">
): ActionSubject => ({ player, gameId, roundId, currency, session: "token" })

const subjectOfRollback = ({ player_ref: ref }: Rollback): ActionSubject => ({
  player: byRef(ref),
  gameId: null,
  roundId: null,
  currency: null,
  session: "none"
})

const betAction = (
  { amount, is_free: isFree, transaction_id: transactionId }: Bet,
  closesRound: boolean
): WalletAction => ({
  action: "bet",
  transactionId,
  amount: { minor: amount },
  ...isFree === true && { isFree: "without_stake" },
  closesRound
})

const winAction = (
  { amount, round_closed: closesRound = false, transaction_id: transactionId }: Pick<
    Win,
    "amount" | "round_closed" | "transaction_id"
  >,
  betTransactionId: string
): WalletAction => ({ action: "win", transactionId, betTransactionId, amount: { minor: amount }, closesRound })

const rollbackAction = (
  { target_transaction_id: targetTransactionId, transaction_id: transactionId }: Rollback
): WalletAction => ({ action: "rollback", transactionId, targetTransactionId, closesRound: false })

export const authenticateCall = ({ session_token: token }: typeof Wire.Authenticate.Type): WalletCall => ({
  kind: "session",
  method: "authenticate",
  player: underToken(token)
})

/** Given both, the session decides. */
export const balanceCall = (
  { player_ref: ref = "", session_token: token }: typeof Wire.BalanceOf.Type
): WalletCall => ({
  kind: "balance",
  method: "balance",
  player: token === undefined ? byRef(ref) : underToken(token),
  gameId: null,
  currency: null,
  ofWallets: true
})

export const betCall = (body: Bet): WalletCall => ({
  kind: "settle",
  method: "bet",
  ...subjectOf(underToken(body.session_token), body),
  actions: [betAction(body, body.round_closed ?? false)]
})

export const winCall = (body: Win): WalletCall => ({
  kind: "settle",
  method: "win",
  ...subjectOf(byRef(body.player_ref), body),
  actions: [winAction(body, body.bet_transaction_id)]
})

export const betWinCall = (body: BetWin): WalletCall => {
  const { round_closed: closes = false, transaction_id: betTransactionId, win } = body
  return {
    kind: "settle",
    method: "bet-win",
    ...subjectOf(underToken(body.session_token), body),
    actions: [betAction(body, false), winAction({ ...win, round_closed: closes }, betTransactionId)],
    isOne: true
  }
}

export const rollbackCall = (body: Rollback): WalletCall => ({
  kind: "settle",
  method: "rollback",
  ...subjectOfRollback(body),
  actions: [rollbackAction(body)]
})

type BatchEntry = Extract<WalletCall, { readonly kind: "batch" }>["entries"][number]

const batchEntry = (body: typeof Wire.BatchAction.Type): BatchEntry => {
  switch (body.action) {
    case "bet":
      return {
        ...subjectOf(underToken(body.session_token), body),
        action: betAction(body, body.round_closed ?? false)
      }
    case "win":
      return { ...subjectOf(byRef(body.player_ref), body), action: winAction(body, body.bet_transaction_id) }
    case "rollback":
      return { ...subjectOfRollback(body), action: rollbackAction(body) }
  }
}

export const batchCall = ({ actions }: Pick<typeof Wire.Batch.Type, "actions">): WalletCall => ({
  kind: "batch",
  method: "batch",
  entries: actions.map(batchEntry)
})

export const closeRoundCall = (
  { game_id: gameId, player_ref: ref, round_id: roundId }: typeof Wire.CloseRound.Type
): WalletCall => ({
  kind: "settle",
  method: "round/close",
  player: byRef(ref),
  gameId,
  roundId,
  currency: null,
  session: "none",
  actions: [{ action: "close_round" }]
})

export const promoWinCall = (
  { amount, campaign_id: campaignId, currency, kind, player_ref: ref, transaction_id: transactionId }: PromoWin
): WalletCall => ({
  kind: "settle",
  method: "promo-win",
  player: byRef(ref),
  gameId: null,
  roundId: null,
  currency,
  session: "none",
  actions: [{ action: "promo_win", transactionId, kind, campaignId, amount: { minor: amount } }]
})

export const statusCall = (transactionId: string): WalletCall => ({
  kind: "status",
  method: "transactions",
  player: { ref: null, token: null, transactionId },
  transactionId
})

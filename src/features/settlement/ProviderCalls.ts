/** The money calls of the provider wallet API: from a decoded body to what is answered. The handlers and the express lane share them. */
import { Effect, Exit } from "effect"
import type { Batch, BatchAction, Bet, BetWin, CloseRound, PromoWin, Rollback, Win } from "./Api.ts"
import type { Provider } from "../../domain/Operator.ts"
import type { Settlement } from "../../domain/settlement/Settlement.ts"
import type {
  ActionMessage,
  BetMessage,
  BetWinMessage,
  ProviderWallet,
  RollbackMessage,
  WinMessage
} from "./ProviderWallet.ts"

type Wallet = ProviderWallet["Service"]

const settlementFields = (requestId: string | undefined, settlement: Settlement) => ({
  request_id: requestId ?? null,
  transaction_id: settlement.transactionId,
  status: settlement.status,
  wallet_transaction_ids: settlement.entryIds,
  real_amount: settlement.realAmount,
  bonus_amount: settlement.bonusAmount,
  balance: settlement.balance,
  bonus_balance: settlement.bonusBalance,
  currency: settlement.currency,
  wallet_seq: settlement.walletSeq,
  round_state: settlement.roundState
})

const toBet = (body: Omit<typeof Bet.Type, "request_id">): BetMessage => ({
  transactionId: body.transaction_id,
  sessionToken: body.session_token,
  gameId: body.game_id,
  roundId: body.round_id,
  amount: body.amount,
  currency: body.currency,
  closesRound: body.round_closed ?? false
})

const toWin = (body: Omit<typeof Win.Type, "request_id">): WinMessage => ({
  transactionId: body.transaction_id,
  playerRef: body.player_ref,
  gameId: body.game_id,
  roundId: body.round_id,
  betTransactionId: body.bet_transaction_id,
  amount: body.amount,
  currency: body.currency,
  closesRound: body.round_closed ?? false
})

const toRollback = (body: Omit<typeof Rollback.Type, "request_id">): RollbackMessage => ({
  transactionId: body.transaction_id,
  playerRef: body.player_ref,
  targetTransactionId: body.target_transaction_id
})

const toAction = (action: typeof BatchAction.Type): ActionMessage => {
  switch (action.action) {
    case "bet":
      return { action: "bet", ...toBet(action) }
    case "win":
      return { action: "win", ...toWin(action) }
    case "rollback":
      return { action: "rollback", ...toRollback(action) }
  }
}

const answered = <E>(requestId: string | undefined, settled: Effect.Effect<Settlement, E>) =>
  Effect.map(settled, (settlement) => ({ data: settlementFields(requestId, settlement) }))

type Answer = ReturnType<typeof settlementFields>

/** The same call without a fiber, for the express lane. */
const starting = <Body, Message, E>(
  start: (provider: Provider, message: Message, done: (exit: Exit.Exit<Settlement, E>) => void) => boolean,
  toMessage: (body: Body) => Message
) =>
(
  provider: Provider,
  body: Body & { readonly request_id: string },
  done: (exit: Exit.Exit<{ readonly data: Answer }, E>) => void
): boolean =>
  start(
    provider,
    toMessage(body),
    (exit) => done(Exit.map(exit, (settlement) => ({ data: settlementFields(body.request_id, settlement) })))
  )

export const bet = (wallet: Wallet, provider: Provider, body: typeof Bet.Type) =>
  answered(body.request_id, wallet.bet(provider, toBet(body)))

export const win = (wallet: Wallet, provider: Provider, body: typeof Win.Type) =>
  answered(body.request_id, wallet.win(provider, toWin(body)))

const toBetWin = (body: typeof BetWin.Type): BetWinMessage => ({
  ...toBet(body),
  win: { transactionId: body.win.transaction_id, amount: body.win.amount }
})

export const betWin = (wallet: Wallet, provider: Provider, body: typeof BetWin.Type) =>
  answered(body.request_id, wallet.betWin(provider, toBetWin(body)))

export const batch = (wallet: Wallet, provider: Provider, body: typeof Batch.Type) =>
  Effect.map(wallet.batch(provider, body.actions.map(toAction)), (settlements) => ({
    data: {
      request_id: body.request_id ?? null,
      results: settlements.map((settlement, index) =>
        settlementFields(body.actions[index]?.request_id ?? body.request_id, settlement)
      )
    }
  }))

export const rollback = (wallet: Wallet, provider: Provider, body: typeof Rollback.Type) =>
  answered(body.request_id, wallet.rollback(provider, toRollback(body)))

export const closeRound = (wallet: Wallet, provider: Provider, body: typeof CloseRound.Type) =>
  answered(
    body.request_id,
    wallet.closeRound(provider, { playerRef: body.player_ref, gameId: body.game_id, roundId: body.round_id })
  )

export const promoWin = (wallet: Wallet, provider: Provider, body: typeof PromoWin.Type) =>
  answered(
    body.request_id,
    wallet.promoWin(provider, {
      transactionId: body.transaction_id,
      playerRef: body.player_ref,
      amount: body.amount,
      currency: body.currency,
      kind: body.kind,
      campaignId: body.campaign_id
    })
  )

export const startBet = (wallet: Wallet) => starting(wallet.start.bet, toBet)

export const startWin = (wallet: Wallet) => starting(wallet.start.win, toWin)

export const startBetWin = (wallet: Wallet) => starting(wallet.start.betWin, toBetWin)

export const startRollback = (wallet: Wallet) => starting(wallet.start.rollback, toRollback)

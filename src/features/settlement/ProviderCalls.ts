/** Money calls of the provider wallet API, from decoded body to answer; shared by handlers and express lane. */
import { Effect, Exit } from "effect"
import type { Batch, Bet, BetWin, CloseRound, PromoWin, Rollback, Win } from "./Api.ts"
import type { Provider } from "../../domain/Operator.ts"
import type { Settlement } from "../../domain/settlement/Settlement.ts"
import type { ProviderWallet } from "./ProviderWallet.ts"

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

const answered = <E>(requestId: string | undefined, settled: Effect.Effect<Settlement, E>) =>
  Effect.map(settled, (settlement) => ({ data: settlementFields(requestId, settlement) }))

type Answer = ReturnType<typeof settlementFields>

/** The same call without a fiber, for the express lane. */
const starting = <Message, E>(
  start: (provider: Provider, message: Message, done: (exit: Exit.Exit<Settlement, E>) => void) => boolean
) =>
(
  provider: Provider,
  body: Message & { readonly request_id: string },
  done: (exit: Exit.Exit<{ readonly data: Answer }, E>) => void
): boolean =>
  start(
    provider,
    body,
    (exit) => done(Exit.map(exit, (settlement) => ({ data: settlementFields(body.request_id, settlement) })))
  )

export const bet = (wallet: Wallet, provider: Provider, body: typeof Bet.Type) =>
  answered(body.request_id, wallet.bet(provider, body))

export const win = (wallet: Wallet, provider: Provider, body: typeof Win.Type) =>
  answered(body.request_id, wallet.win(provider, body))

export const betWin = (wallet: Wallet, provider: Provider, body: typeof BetWin.Type) =>
  answered(body.request_id, wallet.betWin(provider, body))

export const batch = (wallet: Wallet, provider: Provider, body: typeof Batch.Type) =>
  Effect.map(wallet.batch(provider, body.actions), (settlements) => ({
    data: {
      request_id: body.request_id ?? null,
      results: settlements.map((settlement, index) =>
        settlementFields(body.actions[index]?.request_id ?? body.request_id, settlement)
      )
    }
  }))

export const rollback = (wallet: Wallet, provider: Provider, body: typeof Rollback.Type) =>
  answered(body.request_id, wallet.rollback(provider, body))

export const closeRound = (wallet: Wallet, provider: Provider, body: typeof CloseRound.Type) =>
  answered(body.request_id, wallet.closeRound(provider, body))

export const promoWin = (wallet: Wallet, provider: Provider, body: typeof PromoWin.Type) =>
  answered(body.request_id, wallet.promoWin(provider, body))

export const startBet = (wallet: Wallet) => starting(wallet.start.bet)

export const startWin = (wallet: Wallet) => starting(wallet.start.win)

export const startBetWin = (wallet: Wallet) => starting(wallet.start.betWin)

export const startRollback = (wallet: Wallet) => starting(wallet.start.rollback)

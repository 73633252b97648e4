/** Calls of the provider wallet API, from decoded body to answer; shared by handlers and express lane. */
import { Effect, Exit } from "effect"
import type {
  Authenticate,
  BalanceOf,
  Batch,
  Bet,
  BetWin,
  CloseRound,
  PromoWin,
  Rollback,
  Win
} from "../../contract/settlement/Api.ts"
import type { Provider } from "../../domain/state/Operator.ts"
import type { Settlement } from "../../domain/settlement/Settlement.ts"
import { iso } from "../../platform/Time.ts"
import type { Authenticated, Balances } from "./PlayerBalances.ts"
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

type Start<Message, Settled, E> = (
  provider: Provider,
  message: Message,
  done: (exit: Exit.Exit<Settled, E>) => void
) => boolean

/** The same call without a fiber, for the express lane. */
const starting = <Body, Message, Settled, E, A>(
  start: Start<Message, Settled, E>,
  toMessage: (body: Body) => Message,
  toAnswer: (body: Body, settled: Settled) => A
): Start<Body, A, E> =>
(provider, body, done) =>
  start(provider, toMessage(body), (exit) => done(Exit.map(exit, (settled) => toAnswer(body, settled))))

const startingOne = <Message, E>(start: Start<Message, Settlement, E>) =>
  starting(
    start,
    (body: Message & { readonly request_id: string }) => body,
    (body, settlement) => ({ data: settlementFields(body.request_id, settlement) })
  )

/** A call answered from memory, for the express lane. */
const answeringNow = <Body, Found, A>(
  peek: (provider: Provider, body: Body) => Found | undefined,
  toAnswer: (found: Found) => A
): Start<Body, A, never> =>
(provider, body, done) => {
  const found = peek(provider, body)
  if (found === undefined) return false
  done(Exit.succeed(toAnswer(found)))
  return true
}

const authenticated = (session: Authenticated) => ({
  data: {
    player_ref: session.playerRef,
    currency: session.currency,
    country: session.country,
    language: session.language,
    balance: session.balance,
    bonus_balance: session.bonusBalance,
    session_expires_at: iso(session.sessionExpiresAt)
  }
})

const balances = ({ balance, bonusBalance, currency }: Balances) => ({
  data: { balance, bonus_balance: bonusBalance, currency }
})

const byOf = (body: typeof BalanceOf.Type) =>
  body.session_token !== undefined ? { sessionToken: body.session_token } : { playerRef: body.player_ref ?? "" }

export const authenticate = (wallet: Wallet, provider: Provider, body: typeof Authenticate.Type) =>
  Effect.map(wallet.authenticate(provider, body.session_token), authenticated)

export const balance = (wallet: Wallet, provider: Provider, body: typeof BalanceOf.Type) =>
  Effect.map(wallet.balance(provider, byOf(body)), balances)

export const bet = (wallet: Wallet, provider: Provider, body: typeof Bet.Type) =>
  answered(body.request_id, wallet.bet(provider, body))

export const win = (wallet: Wallet, provider: Provider, body: typeof Win.Type) =>
  answered(body.request_id, wallet.win(provider, body))

export const betWin = (wallet: Wallet, provider: Provider, body: typeof BetWin.Type) =>
  answered(body.request_id, wallet.betWin(provider, body))

const results = (body: typeof Batch.Type, settlements: ReadonlyArray<Settlement>) => ({
  data: {
    request_id: body.request_id ?? null,
    results: settlements.map((settlement, index) =>
      settlementFields(body.actions[index]?.request_id ?? body.request_id, settlement)
    )
  }
})

export const batch = (wallet: Wallet, provider: Provider, body: typeof Batch.Type) =>
  Effect.map(wallet.batch(provider, body.actions), (settlements) => results(body, settlements))

export const rollback = (wallet: Wallet, provider: Provider, body: typeof Rollback.Type) =>
  answered(body.request_id, wallet.rollback(provider, body))

export const closeRound = (wallet: Wallet, provider: Provider, body: typeof CloseRound.Type) =>
  answered(body.request_id, wallet.closeRound(provider, body))

export const promoWin = (wallet: Wallet, provider: Provider, body: typeof PromoWin.Type) =>
  answered(body.request_id, wallet.promoWin(provider, body))

/** These calls without a fiber, for the express lane. */
export const startsOf = ({ peek, start }: Wallet) => ({
  authenticate: answeringNow(
    (provider, body: typeof Authenticate.Type) => peek.authenticate(provider, body.session_token),
    authenticated
  ),
  balance: answeringNow((provider, body: typeof BalanceOf.Type) => peek.balance(provider, byOf(body)), balances),
  bet: startingOne(start.bet),
  win: startingOne(start.win),
  betWin: startingOne(start.betWin),
  rollback: startingOne(start.rollback),
  batch: starting(start.batch, ({ actions }: typeof Batch.Type) => actions, results)
})

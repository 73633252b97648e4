/** A player's balances and ledger, for operators. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { CurrentOperator } from "../../api/Middleware.ts"
import type { Entry } from "../../domain/Change.ts"
import { iso, parseIso } from "../../platform/Time.ts"
import { Ledger } from "../../wallet/Ledger.ts"
import { Wallet, type WalletView } from "../../wallet/Wallet.ts"
import { paginated } from "./Page.ts"

const walletFields = ({ player, unverifiedWithdrawalAllowance }: WalletView) => ({
  player_id: player.id,
  currency: player.currency,
  balance: player.real,
  bonus_balance: player.bonus,
  unverified_withdrawal_allowance: unverifiedWithdrawalAllowance,
  wallets: [
    {
      type: "real" as const,
      balance: player.real,
      currency: player.currency,
      updated_at: iso(player.realUpdatedAt)
    },
    {
      type: "bonus" as const,
      balance: player.bonus,
      currency: player.currency,
      updated_at: iso(player.bonusUpdatedAt)
    }
  ]
})

/** A ledger entry as it is shown (SPEC section 2.4). */
export const entryFields = (entry: Entry) => ({
  id: entry.id,
  player_id: entry.playerId,
  wallet: entry.wallet,
  type: entry.type,
  amount: entry.amount,
  balance_after: entry.balanceAfter,
  currency: entry.currency,
  payment_request_id: entry.paymentRequestId,
  game_id: entry.gameId,
  game_round_id: entry.gameRoundId,
  player_bonus_id: entry.playerBonusId,
  created_at: iso(entry.createdAt)
})

export const WalletHandlers = HttpApiBuilder.group(
  Api,
  "wallet",
  Effect.fnUntraced(function*(handlers) {
    const wallet = yield* Wallet
    const ledger = yield* Ledger
    return handlers
      .handle("get", ({ params }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          return { data: walletFields(yield* wallet.view(operator, params.player)) }
        }))
      .handle("transactions", ({ params, query }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          const { items, total } = yield* ledger.list(operator.id, params.player, {
            page: query.page,
            perPage: query.per_page,
            type: query.type,
            wallet: query.wallet,
            createdFrom: query.created_from === undefined ? undefined : parseIso(query.created_from),
            createdTo: query.created_to === undefined ? undefined : parseIso(query.created_to)
          })
          return yield* paginated(query, total, items.map(entryFields))
        }))
  })
)

/** Converts ledger entries to the fields of API responses. */
import type { Transaction } from "../../contract/ledger/TransactionResource.ts"
import type { Entry } from "../../domain/state/Change.ts"
import { iso } from "../../platform/Time.ts"

/** Response fields of a ledger entry (SPEC section 2.4). */
export const entryFields = (entry: Entry): typeof Transaction.Type => ({
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

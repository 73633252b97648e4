/** Wire schema of ledger entries (SPEC section 2.4). */
import { Schema } from "effect"
import { entryTypes, walletKinds } from "../../domain/state/Change.ts"
import { currencyCode, id, money, timestamp } from "../common/Resource.ts"

/** An entry, for examples. */
export const transactionExample = {
  id: 90211,
  player_id: 48213,
  wallet: "real",
  type: "casino_bet",
  amount: -250,
  balance_after: 4750,
  currency: "EUR",
  payment_request_id: null,
  game_id: 311,
  game_round_id: "round-77",
  player_bonus_id: null,
  created_at: "2026-11-20T12:05:00.000Z"
} as const

/** Credits are positive, debits negative. */
export const Transaction = Schema.Struct({
  id,
  player_id: id,
  wallet: Schema.Literals(walletKinds),
  type: Schema.Literals(entryTypes),
  amount: money,
  balance_after: money,
  currency: currencyCode,
  payment_request_id: Schema.NullOr(id),
  game_id: Schema.NullOr(id),
  game_round_id: Schema.NullOr(Schema.String),
  player_bonus_id: Schema.NullOr(id),
  created_at: timestamp
}).annotate({
  identifier: "Transaction",
  examples: [transactionExample]
})

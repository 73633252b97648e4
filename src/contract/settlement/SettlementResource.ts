/** Response schemas of the wallet API for game providers. */
import { Schema } from "effect"
import { currencyCode, id, money, timestamp } from "../common/Resource.ts"

/** Result of a money call. Amounts are signed; balances are current. */
export const Settlement = Schema.Struct({
  request_id: Schema.NullOr(Schema.String),
  transaction_id: Schema.NullOr(Schema.String),
  status: Schema.Literals(["processed", "replayed", "ignored"]),
  wallet_transaction_ids: Schema.Array(id),
  real_amount: money,
  bonus_amount: money,
  balance: money,
  bonus_balance: money,
  currency: currencyCode,
  wallet_seq: Schema.Int.annotate({ description: "Rises by one with every action that moves the player's money." }),
  round_state: Schema.Literals(["open", "closed"])
}).annotate({
  identifier: "Settlement",
  examples: [{
    request_id: "1",
    transaction_id: "bet-1041",
    status: "processed",
    wallet_transaction_ids: [90211],
    real_amount: -250,
    bonus_amount: 0,
    balance: 4750,
    bonus_balance: 0,
    currency: "EUR",
    wallet_seq: 2,
    round_state: "open"
  }]
})

export const SettledBatch = Schema.Struct({
  request_id: Schema.NullOr(Schema.String),
  results: Schema.Array(Settlement)
}).annotate({ identifier: "SettledBatch" })

export const WalletSession = Schema.Struct({
  player_ref: Schema.String,
  currency: currencyCode,
  country: Schema.String,
  language: Schema.String,
  balance: money,
  bonus_balance: money,
  session_expires_at: timestamp
}).annotate({
  identifier: "WalletSession",
  examples: [{
    player_ref: "p7Xk2hT9",
    currency: "EUR",
    country: "DE",
    language: "de",
    balance: 5000,
    bonus_balance: 0,
    session_expires_at: "2026-11-21T00:05:00.000Z"
  }]
})

export const ProviderBalance = Schema.Struct({
  balance: money,
  bonus_balance: money,
  currency: currencyCode
}).annotate({ identifier: "ProviderBalance", examples: [{ balance: 4750, bonus_balance: 0, currency: "EUR" }] })

export const ProviderTransactionStatus = Schema.Struct({
  transaction_id: Schema.String,
  status: Schema.Literals(["unknown", "processed", "rolled_back", "tombstone"])
}).annotate({
  identifier: "ProviderTransactionStatus",
  examples: [{ transaction_id: "bet-1041", status: "processed" }]
})

/** Wire schema of dormant accounts with their balances. */
import { Schema } from "effect"
import { currencyCode, id, money, timestamp } from "../common/Resource.ts"

export const DormantAccount = Schema.Struct({
  player_id: id,
  operator_id: id,
  currency: currencyCode,
  balance: money,
  bonus_balance: money,
  dormant_since: timestamp,
  last_login_at: Schema.NullOr(timestamp)
}).annotate({
  identifier: "DormantAccount",
  examples: [{
    player_id: 48213,
    operator_id: 7,
    currency: "EUR",
    balance: 4750,
    bonus_balance: 0,
    dormant_since: "2026-11-20T12:00:00.000Z",
    last_login_at: "2025-11-20T11:58:00.000Z"
  }]
})

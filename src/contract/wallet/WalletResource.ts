/** Wire schemas of balances, in the operator API and in the player API. */
import { Schema } from "effect"
import { walletKinds } from "../../domain/state/Change.ts"
import { currencyCode, id, money, timestamp } from "../common/Resource.ts"

const balances = {
  player_id: id,
  currency: currencyCode,
  balance: money,
  bonus_balance: money
}

const wallets = Schema.Array(Schema.Struct({
  type: Schema.Literals(walletKinds),
  balance: money,
  currency: currencyCode,
  updated_at: timestamp
}))

const exampleBalances = { player_id: 48213, currency: "EUR", balance: 4750, bonus_balance: 1000 }

const exampleWallets = [
  { type: "real", balance: 4750, currency: "EUR", updated_at: "2026-11-20T12:05:00.000Z" },
  { type: "bonus", balance: 1000, currency: "EUR", updated_at: "2026-11-20T12:01:00.000Z" }
] as const

/** A player's wallets in the operator API (SPEC section 2.3). */
export const Wallet = Schema.Struct({
  ...balances,
  unverified_withdrawal_allowance: Schema.NullOr(money).annotate({
    description: "What can still be withdrawn without verification, in minor units; null means no limit."
  }),
  wallets
}).annotate({
  identifier: "Wallet",
  examples: [{ ...exampleBalances, unverified_withdrawal_allowance: 200_000, wallets: exampleWallets }]
})

/** A player's wallets at a past instant, without the withdrawable amount, which is only known for now. */
export const WalletAtMoment = Schema.Struct({ ...balances, at: timestamp, wallets }).annotate({
  identifier: "WalletAtMoment",
  examples: [{ ...exampleBalances, at: "2026-11-20T12:06:00.000Z", wallets: exampleWallets }]
})

/** A player's wallets in the player API (SPEC section 4.9). */
export const PlayerWallet = Schema.Struct(balances).annotate({
  identifier: "PlayerWallet",
  examples: [exampleBalances]
})

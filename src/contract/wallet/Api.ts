/** Operator API endpoints for balances and the ledger. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { entryTypes, walletKinds } from "../../domain/state/Change.ts"
import { about, RequiredFeature, RequiredScope } from "../common/Annotations.ts"
import { instant, oneOf, pathId } from "../common/Fields.ts"
import { recipe, RoundProof } from "../originals/OriginalResource.ts"
import { pageOrWalk, single, walkQuery } from "../common/Pagination.ts"
import { Transaction } from "../ledger/TransactionResource.ts"
import { Wallet, WalletAtMoment } from "./WalletResource.ts"

/** A player's ledger entries, filtered (SPEC section 4.3). */
export const TransactionsQuery = Schema.Struct({
  ...walkQuery,
  type: Schema.optionalKey(oneOf(entryTypes)),
  wallet: Schema.optionalKey(oneOf(walletKinds)),
  created_from: Schema.optionalKey(instant),
  created_to: Schema.optionalKey(instant)
})

export const WalletGroup = HttpApiGroup.make("wallet")
  .add(
    HttpApiEndpoint.get("get", "/players/:player/wallet", {
      params: { player: pathId },
      query: Schema.Struct({
        at: Schema.optionalKey(instant.annotate({ description: "A moment of the past: what the balances were then." }))
      }),
      success: single(Schema.Union([Wallet, WalletAtMoment]))
    })
      .annotate(RequiredScope, "wallet:read")
      .annotateMerge(about(
        "A player's balances, now or at a moment",
        "The real and the bonus wallet as of the last committed action, or with `at` as they stood at that moment."
      )),
    HttpApiEndpoint.get("transactions", "/players/:player/transactions", {
      params: { player: pathId },
      query: TransactionsQuery,
      success: pageOrWalk(Transaction)
    })
      .annotate(RequiredScope, "wallet:read")
      .annotateMerge(about(
        "A player's ledger, newest first",
        "Every movement of money, never changed and never removed. Credits are positive, debits negative; `balance_after` is the balance " +
          "of the entry's own wallet."
      )),
    HttpApiEndpoint.get("round", "/players/:player/rounds/:round", {
      params: { player: pathId, round: pathId },
      success: single(RoundProof)
    })
      .annotate(RequiredScope, "wallet:read")
      .annotateMerge(about("A player's round of an original with its proof", recipe))
  )
  .annotate(RequiredFeature, "players")
  .annotateMerge(OpenApi.annotations({
    title: "Wallet",
    description: "Balances and the ledger, which is never changed, only added to."
  }))

/** Reads that settlements make outside a player's actor, over the client that serves them. */
import { Context, Effect, Layer, Schema } from "effect"
import type { Refusal } from "../../domain/Refusal.ts"
import type { CreditTerms } from "../../domain/wallet/LargeCredits.ts"
import { ServingClient } from "../../platform/Database.ts"
import { isRolledBack } from "../../store/RollbacksInEffect.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { makeCreditTerms } from "../compliance/CreditTerms.ts"

const StoredTransaction = Schema.Struct({
  playerId: Schema.Number,
  kind: Schema.String,
  rolledBack: Schema.Boolean
})

const storedTransactions = rowsOf(StoredTransaction)

export class ProviderTransactions extends Context.Service<ProviderTransactions, {
  /** The message that a provider sent with this id. */
  readonly find: (
    providerId: number,
    transactionId: string
  ) => Effect.Effect<typeof StoredTransaction.Type | undefined, Refusal<"TRY_AGAIN">>
  /** From which amount on a credit to this player raises an alert; null: never. */
  readonly creditTerms: (playerId: number) => Effect.Effect<CreditTerms | null, Refusal<"TRY_AGAIN">>
}>()("pitboss/settlement/ProviderTransactions") {
  static readonly layer = Layer.effect(
    ProviderTransactions,
    Effect.map(ServingClient, (sql) =>
      ProviderTransactions.of({
        find: (providerId, transactionId) =>
          orTryAgain(
            oneOf(
              storedTransactions(
                sql`SELECT t.player_id AS "playerId", t.kind, ${sql.literal(isRolledBack("t"))} AS "rolledBack"
            FROM provider_transactions t
            WHERE t.provider_id = ${providerId}::float8::bigint AND t.transaction_id = ${transactionId}`
              )
            )
          ),
        creditTerms: makeCreditTerms(sql)
      }))
  )
}

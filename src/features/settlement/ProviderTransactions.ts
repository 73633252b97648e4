/** Database reads of settlements outside a player's actor: a stored transaction, the rounds of a bet, and the alert terms for credits. */
import { Context, Effect, Layer, Schema } from "effect"
import type { Refusal } from "../../domain/Refusal.ts"
import type { CreditTerms } from "../../domain/wallet/LargeCredits.ts"
import { texts } from "../../platform/ArrayParameters.ts"
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
const storedRounds = rowsOf(Schema.Struct({ roundId: Schema.String }))
const storedGames = rowsOf(Schema.Struct({ gameId: Schema.Number }))
const storedIds = rowsOf(Schema.Struct({ id: Schema.String }))

/** Rounds of a player that are looked through for a bet whose round was named wrong. */
const latestRounds = 500

export type StoredTransaction = typeof StoredTransaction.Type

export class ProviderTransactions extends Context.Service<ProviderTransactions, {
  /** The message that a provider sent with this id. */
  readonly find: (
    providerId: number,
    transactionId: string
  ) => Effect.Effect<StoredTransaction | undefined, Refusal<"TRY_AGAIN">>
  /** Rounds of a player in which a bet stands under the id that it would have there. */
  readonly findRounds: (
    providerId: number,
    playerId: number,
    betIdIn: (roundId: string) => string
  ) => Effect.Effect<ReadonlyArray<string>, Refusal<"TRY_AGAIN">>
  /** Games of a provider in which a player has an open round under this id; of more than two, two. */
  readonly findGames: (
    providerId: number,
    playerId: number,
    roundId: string
  ) => Effect.Effect<ReadonlyArray<number>, Refusal<"TRY_AGAIN">>
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
        findRounds: Effect.fnUntraced(function*(providerId, playerId, betIdIn) {
          const latest = yield* orTryAgain(storedRounds(
            sql`SELECT round_id AS "roundId" FROM rounds WHERE player_id = ${playerId}::float8::bigint
            ORDER BY opened_at DESC LIMIT ${latestRounds}::float8::bigint`
          ))
          const roundOf = new Map(latest.map(({ roundId }) => [betIdIn(roundId), roundId]))
          const found = yield* orTryAgain(storedIds(
            sql`SELECT transaction_id AS id FROM provider_transactions WHERE provider_id = ${providerId}::float8::bigint
            AND transaction_id = ANY(${texts([...roundOf.keys()])}) AND kind = 'bet'`
          ))
          return found.flatMap(({ id }) => roundOf.get(id) ?? [])
        }),
        findGames: (providerId, playerId, roundId) =>
          Effect.map(
            orTryAgain(storedGames(
              sql`SELECT r.game_id AS "gameId" FROM rounds r JOIN games g ON g.id = r.game_id
              WHERE r.player_id = ${playerId}::float8::bigint AND r.round_id = ${roundId} AND NOT r.closed
              AND g.provider_id = ${providerId}::float8::bigint LIMIT 2`
            )),
            (rows) => rows.map(({ gameId }) => gameId)
          ),
        creditTerms: makeCreditTerms(sql)
      }))
  )
}

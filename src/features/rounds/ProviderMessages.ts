/** Messages of providers by the ids that people know of them: a provider's transaction or round, or an entry of the ledger. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { oneOf, rowsOf } from "../../store/Rows.ts"
import { idIn } from "../../office/References.ts"
import { type Scope, within } from "../../store/OperatorScope.ts"

/** A provider and a game as they are named. */
const GameRow = Schema.Struct({ id: Schema.Number, external_id: Schema.String, name: Schema.String })
const ProviderRow = Schema.Struct({ id: Schema.Number, slug: Schema.String, name: Schema.String })

const gameRows = rowsOf(GameRow)
const providerRows = rowsOf(ProviderRow)

/** Where a message or an entry belongs. */
const LocationRow = Schema.Struct({
  playerId: Schema.Number,
  gameId: Schema.NullOr(Schema.Number),
  roundId: Schema.NullOr(Schema.String),
  entryIds: Schema.Array(Schema.Number),
  at: Schema.Date
})
export type MessageLocation = typeof LocationRow.Type
const locationRows = rowsOf(LocationRow)

export const makeProviderMessages = Effect.map(SqlClient.SqlClient, (sql) => {
  /** By id or slug. */
  const provider = (reference: string) => {
    const id = idIn(reference)
    return oneOf(providerRows(
      sql`SELECT id, slug, name FROM providers WHERE ${id === undefined ? sql`slug = ${reference}` : sql`id = ${id}`}`
    ))
  }

  /** A game of a provider, by the provider's own id or by ours. */
  const game = (providerId: number, reference: string) =>
    oneOf(gameRows(
      sql`SELECT id, external_id, name FROM games
        WHERE provider_id = ${providerId} AND (external_id = ${reference} OR id = ${
        idIn(reference) ?? 0
      }::float8::bigint)
        ORDER BY external_id = ${reference} DESC LIMIT 1`
    ))

  /** The message of a provider with an id of the provider's. */
  const message = (scope: Scope, providerId: number, transactionId: string) =>
    oneOf(locationRows(
      sql`SELECT t.player_id AS "playerId", t.game_id AS "gameId", t.round_id AS "roundId", t.entry_ids AS "entryIds",
          t.created_at AS at
        FROM provider_transactions t JOIN players p ON p.id = t.player_id
        WHERE ${
        sql.and([
          sql`t.provider_id = ${providerId}::float8::bigint AND t.transaction_id = ${transactionId}`,
          ...within(sql, scope, "p.operator_id")
        ])
      }`
    ))

  /** The entry of the ledger with an id. */
  const entry = (scope: Scope, entryId: number) =>
    oneOf(locationRows(
      sql`SELECT player_id AS "playerId", game_id AS "gameId", game_round_id AS "roundId", ARRAY[id]::float8[] AS "entryIds",
          created_at AS at
        FROM ledger_entries WHERE ${sql.and([sql`id = ${entryId}::float8::bigint`, ...within(sql, scope)])}`
    ))

  return { provider, game, message, entry }
})

/** Finds provider messages by the ids that staff have at hand: the provider's transaction or round id, or a ledger entry's id. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { numbers } from "../../platform/ArrayParameters.ts"
import { refuseFields } from "../../domain/Refusal.ts"
import { oneOf, rowsOf } from "../../store/Rows.ts"
import { idIn } from "../../office/References.ts"
import { type Scope, within } from "../../store/OperatorScope.ts"

/** A provider and a game as they are named. */
const GameRow = Schema.Struct({ id: Schema.Number, external_id: Schema.String, name: Schema.String })
const ProviderRow = Schema.Struct({ id: Schema.Number, slug: Schema.String, name: Schema.String })

const gameRows = rowsOf(GameRow)
const providerRows = rowsOf(ProviderRow)
const rankedRows = rowsOf(Schema.Struct({ id: Schema.Number, rank: Schema.Number }))

/** Where a message or an entry belongs. */
const LocationRow = Schema.Struct({
  playerId: Schema.Number,
  gameId: Schema.NullOr(Schema.Number),
  roundId: Schema.NullOr(Schema.String),
  entryIds: Schema.Array(Schema.Number),
  at: Schema.Date
})
const locationRows = rowsOf(LocationRow)

export const needsProvider = refuseFields({ provider: ["must be given: two providers have a message with this id"] })

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

  /** Games by our id, else by the provider's id or the name, in any case: of one provider, which has its own ids first, or of all. */
  const games = Effect.fnUntraced(function*(providerId: number | undefined, reference: string) {
    const ours = idIn(reference) ?? 0
    const rows = yield* rankedRows(
      sql`SELECT id, CASE WHEN id = ${ours}::float8::bigint THEN 1 WHEN external_id = ${reference} THEN ${
        providerId === undefined ? 2 : 0
      }::int ELSE 3 END AS rank
        FROM games WHERE (id = ${ours}::float8::bigint OR external_id = ${reference} OR lower(name) = lower(${reference}))
          AND ${providerId === undefined ? sql`true` : sql`provider_id = ${providerId}::float8::bigint`}`
    )
    const best = Math.min(...rows.map(({ rank }) => rank))
    return rows.flatMap(({ id, rank }) => rank === best ? [id] : [])
  })

  /** Messages with an id of their provider's, of any provider or of one. */
  const messages = (scope: Scope, transactionId: string, providerId: number | undefined) =>
    locationRows(
      sql`SELECT t.player_id AS "playerId", t.game_id AS "gameId", t.round_id AS "roundId", t.entry_ids AS "entryIds",
          t.created_at AS at
        FROM providers v JOIN provider_transactions t ON t.provider_id = v.id AND t.transaction_id = ${transactionId}
        JOIN players p ON p.id = t.player_id
        WHERE ${
        sql.and([
          providerId === undefined ? sql`true` : sql`v.id = ${providerId}::float8::bigint`,
          ...within(sql, scope, "p.operator_id")
        ])
      }`
    )

  /** The entry of the ledger with an id. */
  const entry = (scope: Scope, entryId: number) =>
    oneOf(locationRows(
      sql`SELECT player_id AS "playerId", game_id AS "gameId", game_round_id AS "roundId", ARRAY[id]::float8[] AS "entryIds",
          created_at AS at
        FROM ledger_entries WHERE ${sql.and([sql`id = ${entryId}::float8::bigint`, ...within(sql, scope)])}`
    ))

  /** Slugs of providers by their ids. */
  const slugs = (ids: ReadonlyArray<number>) =>
    ids.length === 0
      ? Effect.succeed(new Map<number, string>())
      : Effect.map(
        providerRows(sql`SELECT id, slug, name FROM providers WHERE id = ANY(${numbers(ids)}::float8[]::bigint[])`),
        (rows) => new Map(rows.map(({ id, slug }) => [id, slug]))
      )

  return { provider, slugs, game, games, messages, entry }
})

/** SQL reads of one provider message: the message, related messages in both directions, its round and its ledger entries. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Instant } from "../../../domain/Instant.ts"
import { numbers } from "../../../platform/ArrayParameters.ts"
import { iso, toDate } from "../../../platform/Time.ts"
import { makeByIndex } from "../../../store/ByIndex.ts"
import { oneOf, rowsOf } from "../../../store/Rows.ts"
import { type Scope, within } from "../../../store/OperatorScope.ts"
import { Transaction } from "../../../contract/ledger/TransactionResource.ts"
import { MessagePlayer, MessageRound, RoundMessage } from "../../../contract/rounds/StaffApi.ts"
import { messageColumns } from "./RoundParts.ts"

type Message = typeof RoundMessage.Type

const Row = Schema.Struct({ ...RoundMessage.fields, at: Instant })
const messageRows = rowsOf(Row)
const placedRows = rowsOf(Schema.Struct({
  ...Row.fields,
  gameId: Schema.NullOr(Schema.Number),
  roundId: Schema.NullOr(Schema.String)
}))
const playerRows = rowsOf(MessagePlayer)
const roundRows = rowsOf(Schema.Struct({ ...MessageRound.fields, opened_at: Instant }))
const gameRows = rowsOf(Schema.Struct({ id: Schema.Number, external_id: Schema.String, name: Schema.String }))
const entryRows = rowsOf(Schema.Struct({ ...Transaction.fields, created_at: Instant }))
const idRows = rowsOf(Schema.Struct({ id: Schema.String }))

const shown = (row: typeof Row.Type): Message => ({ ...row, at: iso(row.at) })

export const makeMessageParts = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const byIndex = yield* makeByIndex
  const columns = sql.literal(messageColumns)

  /** A message by its id, with its game, its round and its instant in epoch milliseconds. */
  const message = (scope: Scope, providerId: number, transactionId: string) =>
    Effect.map(
      oneOf(placedRows(
        sql`SELECT ${columns}, t.game_id AS "gameId", t.round_id AS "roundId"
          FROM provider_transactions t JOIN players p ON p.id = t.player_id
          WHERE ${
          sql.and([
            sql`t.provider_id = ${providerId}::float8::bigint AND t.transaction_id = ${transactionId}`,
            ...within(sql, scope, "p.operator_id")
          ])
        }`
      )),
      (row) => {
        if (row === undefined) return undefined
        const { gameId, roundId, ...found } = row
        return { message: shown(found), at: row.at, gameId, roundId }
      }
    )

  /** Id of the message that posted an entry of a player. */
  const messageOfEntry = (providerId: number, playerId: number, entryId: number, at: Date) =>
    Effect.map(
      byIndex(oneOf(idRows(
        sql`SELECT t.transaction_id AS id FROM provider_transactions t
          WHERE t.created_at = ${at} AND t.player_id = ${playerId}::float8::bigint
            AND t.provider_id = ${providerId}::float8::bigint AND ${entryId}::float8::bigint = ANY(t.entry_ids)`
      ))),
      (row) => row?.id
    )

  /** Rollbacks of a message, and what it names: the bet of a win, the target of a rollback. Oldest first. */
  const related = Effect.fnUntraced(function*(providerId: number, of: Message, at: number) {
    const { kind, player_id: playerId, target_transaction_id: target, transaction_id: id } = of
    const rollbacks = yield* messageRows(
      sql`SELECT ${columns} FROM provider_transactions t
        WHERE t.provider_id = ${providerId}::float8::bigint AND t.target_transaction_id = ${id} AND t.kind = 'rollback'
          AND t.status = 'processed' AND t.player_id = ${playerId}::float8::bigint`
    )
    // a tombstone is written in the commit of its rollback
    const leaving = kind !== "tombstone" ? [] : yield* byIndex(messageRows(
      sql`SELECT ${columns} FROM provider_transactions t
        WHERE t.created_at = ${toDate(at)} AND t.provider_id = ${providerId}::float8::bigint AND t.kind = 'rollback'
          AND t.target_transaction_id = ${id} AND t.player_id = ${playerId}::float8::bigint`
    ))
    const named = target === null ? [] : yield* messageRows(
      sql`SELECT ${columns} FROM provider_transactions t
        WHERE t.provider_id = ${providerId}::float8::bigint AND t.transaction_id = ${target}
          AND t.player_id = ${playerId}::float8::bigint`
    )
    const all = new Map([...named, ...leaving, ...rollbacks].map((row) => [row.transaction_id, row]))
    return [...all.values()].filter((row) => row.transaction_id !== id).toSorted((one, other) => one.at - other.at)
      .map(shown)
  })

  const player = (scope: Scope, playerId: number) =>
    oneOf(playerRows(
      sql`SELECT id, operator_id, username, currency FROM players
        WHERE ${sql.and([sql`id = ${playerId}::float8::bigint`, ...within(sql, scope)])}`
    ))

  const game = (gameId: number) =>
    oneOf(gameRows(sql`SELECT id, external_id, name FROM games WHERE id = ${gameId}::float8::bigint`))

  /** A player's part in a round. */
  const round = (playerId: number, gameId: number, roundId: string) =>
    Effect.map(
      oneOf(roundRows(
        sql`SELECT CASE WHEN closed THEN 'closed' ELSE 'open' END AS state, real_stake, bonus_stake, paid_wins, taken_back,
            won::float8 AS wins, opened_at
          FROM rounds WHERE player_id = ${playerId}::float8::bigint AND game_id = ${gameId}::float8::bigint
            AND round_id = ${roundId}`
      )),
      (row) => row === undefined ? null : { ...row, opened_at: iso(row.opened_at) }
    )

  /** Entries that a message posted. */
  const entries = Effect.fnUntraced(function*({ entry_ids: ids, player_id: playerId }: Message, at: number) {
    if (ids.length === 0) return []
    const rows = yield* entryRows(
      sql`SELECT e.id, e.player_id, e.wallet, e.type, e.amount, e.balance_after, p.currency, e.payment_request_id, e.game_id,
          e.game_round_id, e.player_bonus_id, e.created_at
        FROM ledger_entries e JOIN players p ON p.id = e.player_id
        WHERE e.player_id = ${playerId}::float8::bigint AND e.created_at >= ${toDate(at)}
          AND e.created_at < ${toDate(at + 1)} AND e.id = ANY(${numbers(ids)}::float8[]::bigint[])
        ORDER BY e.seq`
    )
    return rows.map((row) => ({ ...row, created_at: iso(row.created_at) }))
  })

  return { message, messageOfEntry, related, player, game, round, entries }
})

/** SQL reads of one round: its messages, players and ledger entries. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { numbers } from "../../../platform/ArrayParameters.ts"
import { Instant } from "../../../domain/Instant.ts"
import { iso, parseIso, toDate } from "../../../platform/Time.ts"
import { makeByIndex } from "../../../store/ByIndex.ts"
import { rollbacksInEffect } from "../../../store/RollbacksInEffect.ts"
import { oneOf, rowsOf } from "../../../store/Rows.ts"
import { idIn } from "../../../office/References.ts"
import { type Scope, within } from "../../../store/OperatorScope.ts"
import { Transaction } from "../../../contract/ledger/TransactionResource.ts"
import { PlayerRound, type RoundDetails, RoundMessage } from "../../../contract/rounds/StaffApi.ts"

/** Messages of a round that are shown: a live game's round has some of each of its players. */
const maxMessages = 500

interface OneRound {
  readonly scope: Scope
  readonly providerId: number
  readonly gameId: number
  /** The provider's. */
  readonly roundId: string
  readonly playerId: number | undefined
}

type Message = typeof RoundMessage.Type
type RoundPlayer = (typeof RoundDetails.Type)["players"][number]

const messageRows = rowsOf(Schema.Struct({ ...RoundMessage.fields, at: Instant }))
const playerRows = rowsOf(Schema.Struct({ ...PlayerRound.fields, opened_at: Instant }))
const originalRows = rowsOf(Schema.Struct({ ...PlayerRound.fields, opened_at: Instant, wins: Schema.Number }))
const entryRows = rowsOf(Schema.Struct({ ...Transaction.fields, created_at: Instant }))

/** Wins net of rollbacks and corrections, minor units of both wallets. */
const winsOf = (messages: ReadonlyArray<Message>): number =>
  messages.reduce(
    (sum, { bonus_amount: bonus, kind, real_amount: real, rolled_back_by: taken }) =>
      (kind === "win" || kind === "adjustment") && taken === null ? sum + real + bonus : sum,
    0
  )

/** Columns of a message `t`. */
export const messageColumns =
  `t.transaction_id, t.player_id, t.kind, t.status, t.amount, t.real_amount, t.bonus_amount, t.target_transaction_id,
    (SELECT r.transaction_id ${rollbacksInEffect("t")} ORDER BY r.wagered DESC LIMIT 1) AS rolled_back_by,
    t.detail, t.entry_ids, t.created_at AS at`

export const makeRoundParts = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const byIndex = yield* makeByIndex
  const columns = sql.literal(messageColumns)

  const ofPlayer = ({ playerId }: OneRound) =>
    playerId === undefined ? [] : [sql`t.player_id = ${playerId}::float8::bigint`]

  /**
   * Messages of a round, oldest first. A rollback belongs to the round of its target. A rollback that arrived before its bet has no target; it is
   * found by the round that the provider names, with its tombstone.
   */
  const messages = Effect.fnUntraced(function*(round: OneRound) {
    const { gameId, providerId, roundId, scope } = round
    const found = yield* byIndex(messageRows(
      sql`SELECT ${columns} FROM provider_transactions t JOIN players p ON p.id = t.player_id
        WHERE ${
        sql.and([
          sql`t.round_id = ${roundId} AND t.provider_id = ${providerId}::float8::bigint
            AND t.game_id = ${gameId}::float8::bigint`,
          ...ofPlayer(round),
          ...within(sql, scope, "p.operator_id")
        ])
      } ORDER BY t.created_at, t.transaction_id LIMIT ${maxMessages + 1}`
    ))
    const targets = found.flatMap(({ target_transaction_id: target }) => target ?? [])
    const names = JSON.stringify([...new Set([roundId, ...targets])])
    const tombstones = yield* messageRows(
      sql`SELECT ${columns} FROM provider_transactions t JOIN players p ON p.id = t.player_id
        WHERE ${
        sql.and([
          sql`t.provider_id = ${providerId}::float8::bigint AND t.kind = 'tombstone'
            AND t.transaction_id IN (SELECT jsonb_array_elements_text(${names}::text::jsonb))`,
          ...ofPlayer(round),
          ...within(sql, scope, "p.operator_id")
        ])
      } ORDER BY t.created_at LIMIT ${maxMessages}`
    )
    // a tombstone is written in the commit of its rollback
    const leaving = yield* Effect.forEach(tombstones, ({ at, transaction_id: target }) =>
      messageRows(
        sql`SELECT ${columns} FROM provider_transactions t
          WHERE t.created_at = ${toDate(at)} AND t.provider_id = ${providerId}::float8::bigint AND t.kind = 'rollback'
            AND t.target_transaction_id = ${target} AND t.player_id IN (
              SELECT player_id FROM provider_transactions
              WHERE provider_id = ${providerId}::float8::bigint AND transaction_id = ${target})`
      ))
    const all = new Map([...found.slice(0, maxMessages), ...tombstones, ...leaving.flat()].map((message) => [
      message.transaction_id,
      message
    ]))
    return {
      isCut: found.length > maxMessages,
      messages: [...all.values()].toSorted((one, other) => one.at - other.at)
        .map((message): Message => ({ ...message, at: iso(message.at) }))
    }
  })

  /** Players of the messages, with the round's state for each. */
  const players = Effect.fnUntraced(function*(round: OneRound, all: ReadonlyArray<Message>) {
    const ids = [...new Set(all.map(({ player_id: id }) => id))]
    if (ids.length === 0) return []
    const rows = yield* playerRows(
      sql`SELECT p.operator_id, r.player_id, p.username, p.currency,
          CASE WHEN r.closed THEN 'closed' ELSE 'open' END AS state, r.real_stake, r.bonus_stake, r.paid_wins, r.taken_back,
          r.opened_at
        FROM rounds r JOIN players p ON p.id = r.player_id
        WHERE r.player_id = ANY(${numbers(ids)}::float8[]::bigint[]) AND r.game_id = ${round.gameId}::float8::bigint
          AND r.round_id = ${round.roundId} ORDER BY r.opened_at, r.player_id`
    )
    return rows.map((row): RoundPlayer => {
      const own = all.filter(({ player_id: id }) => id === row.player_id)
      return {
        ...row,
        opened_at: iso(row.opened_at),
        wins: winsOf(own),
        last_message_at: own.at(-1)?.at ?? iso(row.opened_at)
      }
    })
  })

  /** A round of an original, by our id. */
  const original = Effect.fnUntraced(function*({ gameId, playerId, roundId, scope }: OneRound) {
    const id = idIn(roundId)
    if (id === undefined) return undefined
    const row = yield* oneOf(originalRows(
      sql`SELECT o.operator_id, o.player_id, p.username, p.currency, 'closed' AS state,
          -coalesce(sum(e.amount) FILTER (WHERE e.wallet = 'real' AND e.type = 'casino_bet'), 0)::float8 AS real_stake,
          -coalesce(sum(e.amount) FILTER (WHERE e.wallet = 'bonus' AND e.type = 'casino_bet'), 0)::float8 AS bonus_stake,
          (o.payout > 0)::int AS paid_wins, 0 AS taken_back, o.created_at AS opened_at, o.payout AS wins
        FROM original_rounds o JOIN players p ON p.id = o.player_id
        LEFT JOIN ledger_entries e ON e.player_id = o.player_id AND e.created_at = o.created_at AND e.game_round_id = o.id::text
        WHERE ${
        sql.and([
          sql`o.id = ${id}::float8::bigint AND o.game_id = ${gameId}::float8::bigint`,
          ...(playerId === undefined ? [] : [sql`o.player_id = ${playerId}::float8::bigint`]),
          ...within(sql, scope, "o.operator_id")
        ])
      } GROUP BY o.id, p.id`
    ))
    return row === undefined
      ? undefined
      : { ...row, opened_at: iso(row.opened_at), last_message_at: iso(row.opened_at) } satisfies RoundPlayer
  })

  /** The entries of a round: those that its messages posted, at the time of these. */
  const entries = Effect.fnUntraced(
    function*(round: OneRound, of: ReadonlyArray<RoundPlayer>, all: ReadonlyArray<Message>) {
      if (of.length === 0) return []
      const times = [...of.map(({ opened_at: at }) => at), ...all.map(({ at }) => at)].map((at) => parseIso(at) ?? 0)
      const rows = yield* entryRows(
        sql`SELECT e.id, e.player_id, e.wallet, e.type, e.amount, e.balance_after, p.currency, e.payment_request_id, e.game_id,
            e.game_round_id, e.player_bonus_id, e.created_at
          FROM ledger_entries e JOIN players p ON p.id = e.player_id
          WHERE e.player_id = ANY(${numbers(of.map(({ player_id: id }) => id))}::float8[]::bigint[])
            AND e.created_at >= ${toDate(Math.min(...times))} AND e.created_at < ${toDate(Math.max(...times) + 1)}
            AND e.game_id = ${round.gameId}::float8::bigint AND e.game_round_id = ${round.roundId}
          ORDER BY e.created_at, e.player_id, e.seq LIMIT ${2 * maxMessages}`
      )
      return rows.map((row) => ({ ...row, created_at: iso(row.created_at) }))
    }
  )

  return { messages, players, original, entries }
})

/** Lists ledger entries across players, newest first, for staff. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { numbers } from "../../platform/ArrayParameters.ts"
import type { EntryType, WalletKind } from "../../domain/state/Change.ts"
import { Instant } from "../../domain/Instant.ts"
import { needsCurrency } from "../../domain/CurrencyConversion.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { iso, toDate } from "../../platform/Time.ts"
import { behind, cursorsOfShape, mapPart, moment, type Part, type PartQuery } from "../../store/Cursors.ts"
import { makeByIndex } from "../../store/ByIndex.ts"
import { orTryAgain, rowsOf } from "../../store/Rows.ts"
import { readSlices, untilOf } from "../../store/Slices.ts"
import { idIn } from "../../office/References.ts"
import { makeProviderMessages, needsProvider } from "../rounds/ProviderMessages.ts"
import { OperatorClocks } from "../../store/OperatorClocks.ts"
import { type Scope, within } from "../../store/OperatorScope.ts"
import { StaffEntry } from "../../contract/ledger/StaffApi.ts"

/** Absent means any. */
export interface EntryQuery extends PartQuery {
  readonly scope: Scope
  readonly playerId?: number | undefined
  readonly wallet?: WalletKind | undefined
  readonly type?: EntryType | undefined
  /** The provider's id, with a provider, or the id of an entry. */
  readonly transaction?: string | undefined
  /** Id or slug. */
  readonly provider?: string | undefined
  /** The provider's id of a round. */
  readonly round?: string | undefined
  /** ISO 4217; required for bounds of the amounts of several players. */
  readonly currency?: string | undefined
  /** Bounds of the amount, whichever its sign: minor units, both included. */
  readonly minAmount?: number | undefined
  readonly maxAmount?: number | undefined
  /** Epoch milliseconds, both included. */
  readonly from?: number | undefined
  readonly to?: number | undefined
}

type Entry = typeof StaffEntry.Type

/** Time, id and number of an entry: lists of one player go by the number, the others by time and id. */
const Position = Schema.Tuple([moment, Schema.Int, Schema.Int])
const cursors = cursorsOfShape(Position)

/** By how much the clock of a node may be ahead. */
const skewMs = 60_000

/** Entries of one player that are scanned for a page, where a filter may find few among them. */
const maxOfPlayer = 5000

/** Entries of one round that are scanned. */
const maxOfRound = 2000

const Keys = Schema.Struct({
  seen: Schema.Number,
  players: Schema.Array(Schema.Number),
  seqs: Schema.Array(Schema.Number)
})
const keyRows = rowsOf(Keys)
const playerRows = rowsOf(Schema.Struct({
  ...Keys.fields,
  lowest: Schema.NullOr(Schema.Number),
  oldest: Schema.NullOr(Instant)
}))
const entryRows = rowsOf(Schema.Struct({ ...StaffEntry.fields, created_at: Instant, seq: Schema.Number }))
const partRows = rowsOf(Schema.Struct({
  players: Schema.Array(Schema.Number),
  first: Schema.NullOr(Instant),
  last: Schema.NullOr(Instant)
}))

const noProvider = refuse("NOT_FOUND", "There is no such provider.")

interface Key {
  readonly player: number
  readonly seq: number
}

export class LedgerEntries extends Context.Service<LedgerEntries, {
  /**
   * Entries, newest first. Those of a player are read by their numbers; those of a message by its id, those of a round by its messages; all
   * others are looked for back in time, a bounded number of them for a page, which may be short therefore.
   */
  readonly list: (
    query: EntryQuery
  ) => Effect.Effect<Part<Entry>, Refusal<"NOT_FOUND" | "VALIDATION_FAILED" | "TRY_AGAIN">>
}>()("pitboss/ledger/LedgerEntries") {
  static readonly layer = Layer.effect(
    LedgerEntries,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const clocks = yield* OperatorClocks
      const byIndex = yield* makeByIndex
      const messages = yield* makeProviderMessages

      const filtersOf = (query: EntryQuery): ReadonlyArray<Statement.Fragment> => [
        ...within(sql, query.scope, "e.operator_id"),
        ...(query.playerId === undefined ? [] : [sql`e.player_id = ${query.playerId}::float8::bigint`]),
        ...(query.wallet === undefined ? [] : [sql`e.wallet = ${query.wallet}`]),
        ...(query.type === undefined ? [] : [sql`e.type = ${query.type}`]),
        ...(query.round === undefined ? [] : [sql`e.game_round_id = ${query.round}`]),
        ...(query.currency === undefined
          ? []
          : [sql`(SELECT currency FROM players WHERE id = e.player_id) = ${query.currency}`]),
        ...(query.minAmount === undefined ? [] : [sql`abs(e.amount) >= ${query.minAmount}::float8::bigint`]),
        ...(query.maxAmount === undefined ? [] : [sql`abs(e.amount) <= ${query.maxAmount}::float8::bigint`]),
        ...(query.from === undefined ? [] : [sql`e.created_at >= ${toDate(query.from)}`]),
        ...(query.to === undefined ? [] : [sql`e.created_at <= ${toDate(query.to)}`])
      ]

      /** The entries of keys, in their order. */
      const entriesOf = (keys: ReadonlyArray<Key>) =>
        keys.length === 0 ? Effect.succeed([]) : entryRows(
          sql`SELECT e.operator_id, e.id, e.player_id, e.wallet, e.type, e.amount, e.balance_after, p.currency,
              e.payment_request_id, e.game_id, e.game_round_id, e.player_bonus_id, e.created_at, p.username, pr.slug AS provider,
              g.name AS game, g.external_id AS game_external_id, e.seq
            FROM unnest(${numbers(keys.map(({ player }) => player))}::float8[], ${
            numbers(keys.map(({ seq }) => seq))
          }::float8[])
              WITH ORDINALITY AS k (player, seq, place)
            JOIN ledger_entries e ON e.player_id = k.player::bigint AND e.seq = k.seq::bigint
            JOIN players p ON p.id = e.player_id
            LEFT JOIN games g ON g.id = e.game_id LEFT JOIN providers pr ON pr.id = g.provider_id ORDER BY k.place`
        )

      const nothing = { items: [], next: null }

      /** A page of the keys that were found; `rest`: from where on there may be more. */
      const pageOf = Effect.fnUntraced(function*(
        keys: ReadonlyArray<Key>,
        limit: number,
        rest: typeof Position.Type | undefined
      ) {
        return mapPart(
          cursors.part(yield* entriesOf(keys), limit, ({ created_at: at, id, seq }) => [at, id, seq], rest),
          ({ seq: _, ...row }): Entry => ({ ...row, created_at: iso(row.created_at) })
        )
      })

      const selectKeys = sql.literal(
        "coalesce(array_agg(player_id::float8), '{}') AS players, coalesce(array_agg(seq::float8), '{}') AS seqs"
      )
      const toKeys = (
        { players, seqs }: { readonly players: ReadonlyArray<number>; readonly seqs: ReadonlyArray<number> }
      ) => players.map((player, index): Key => ({ player, seq: seqs[index] ?? 0 }))

      /** Those of one player, by their numbers. */
      const ofPlayer = Effect.fnUntraced(function*(query: EntryQuery, playerId: number) {
        const { limit } = query
        const position = yield* cursors.read(query.cursor)
        const isFiltered = filtersOf({ ...query, playerId: undefined, scope: null }).length > 0
        const max = isFiltered ? maxOfPlayer : limit + 1
        const [row] = yield* playerRows(
          sql`WITH looked AS MATERIALIZED (SELECT * FROM ledger_entries e WHERE ${
            sql.and([
              sql`e.player_id = ${playerId}::float8::bigint`,
              sql`e.seq < ${position?.[2] ?? Number.MAX_SAFE_INTEGER}::float8::bigint`,
              ...within(sql, query.scope, "e.operator_id")
            ])
          } ORDER BY e.seq DESC LIMIT ${max})
            SELECT (SELECT count(*) FROM looked)::float8 AS seen, (SELECT min(seq) FROM looked)::float8 AS lowest,
              (SELECT min(created_at) FROM looked) AS oldest, ${selectKeys}
            FROM (SELECT e.player_id, e.seq FROM looked e WHERE ${sql.and(filtersOf(query))}
              ORDER BY e.seq DESC LIMIT ${limit + 1}) found`
        )
        if (row === undefined) return nothing
        const isEnd = row.seen < max || (query.from !== undefined && row.oldest !== null && row.oldest < query.from)
        return yield* pageOf(toKeys(row), limit, isEnd ? undefined : [0, 0, row.lowest ?? 0])
      })

      const below = (position: typeof Position.Type | undefined) =>
        behind(sql, position && { at: position[0], id: position[1] }, "e.created_at", "e.id")

      /** Those that the messages of a round posted, or one message or entry. */
      const ofFound = Effect.fnUntraced(
        function*(
          query: EntryQuery,
          { entryIds, first, last, players }: {
            readonly players: ReadonlyArray<number>
            readonly first: number
            readonly last: number
            readonly entryIds?: ReadonlyArray<number>
          }
        ) {
          const position = yield* cursors.read(query.cursor)
          const where = sql.and([
            sql`e.player_id = ANY(${numbers(players)}::float8[]::bigint[])
              AND e.created_at >= ${toDate(first)} AND e.created_at < ${toDate(last + 1)}`,
            ...(entryIds === undefined ? [] : [sql`e.id = ANY(${numbers(entryIds)}::float8[]::bigint[])`]),
            ...filtersOf(query),
            ...below(position)
          ])
          const [row] = yield* keyRows(
            sql`SELECT 0 AS seen, ${selectKeys} FROM (SELECT e.player_id, e.seq FROM ledger_entries e WHERE ${where}
              ORDER BY e.created_at DESC, e.id DESC LIMIT ${query.limit + 1}) found`
          )
          return yield* pageOf(row === undefined ? [] : toKeys(row), query.limit, undefined)
        }
      )

      const ofTransaction = Effect.fnUntraced(function*(query: EntryQuery, transaction: string) {
        const provider = query.provider === undefined ? undefined : yield* messages.provider(query.provider)
        if (query.provider !== undefined && provider === undefined) return yield* Effect.fail(noProvider)
        const entryId = provider === undefined ? idIn(transaction) : undefined
        let found = entryId === undefined ? undefined : yield* messages.entry(query.scope, entryId)
        if (found === undefined) {
          const sent = yield* messages.messages(query.scope, transaction, provider?.id)
          if (sent.length > 1) return yield* Effect.fail(needsProvider)
          found = sent[0]
        }
        if (found === undefined || found.entryIds.length === 0) return nothing
        const at = found.at.getTime()
        return yield* ofFound(query, { players: [found.playerId], first: at, last: at, entryIds: found.entryIds })
      })

      const ofRound = Effect.fnUntraced(function*(query: EntryQuery, round: string) {
        const provider = query.provider === undefined ? undefined : yield* messages.provider(query.provider)
        if (query.provider !== undefined && provider === undefined) return yield* Effect.fail(noProvider)
        const [part] = yield* byIndex(partRows(
          sql`SELECT coalesce(array_agg(DISTINCT player_id::float8), '{}') AS players, min(created_at) AS first, max(created_at) AS last
            FROM (SELECT t.player_id, t.created_at FROM provider_transactions t JOIN players p ON p.id = t.player_id
              WHERE ${
            sql.and([
              sql`t.round_id = ${round}`,
              ...(provider === undefined ? [] : [sql`t.provider_id = ${provider.id}::float8::bigint`]),
              ...within(sql, query.scope, "p.operator_id")
            ])
          } LIMIT ${maxOfRound}) t`
        ))
        if (part === undefined || part.first === null || part.last === null) return nothing
        return yield* ofFound(query, { players: part.players, first: part.first, last: part.last })
      })

      const overPlayers = Effect.fnUntraced(function*(query: EntryQuery) {
        const { limit, to = Number.MAX_SAFE_INTEGER } = query
        const position = yield* cursors.read(query.cursor)
        const provider = query.provider === undefined ? undefined : yield* messages.provider(query.provider)
        if (query.provider !== undefined && provider === undefined) return yield* Effect.fail(noProvider)
        const where = sql.and([
          sql`true`,
          ...filtersOf(query),
          ...(provider === undefined
            ? []
            : [sql`e.game_id IN (SELECT g.id FROM games g WHERE g.provider_id = ${provider.id}::float8::bigint)`]),
          ...below(position)
        ])
        const newest = clocks.latest(query.scope, yield* Clock.currentTimeMillis) + skewMs
        const { rest, rows } = yield* byIndex(readSlices(
          {
            // id 0: where a page ended that had scanned its maximum
            until: untilOf(Math.min(to, newest), position && { at: position[0], isDone: position[1] === 0 }),
            floor: query.from ?? 0,
            wanted: limit + 1
          },
          ({ from, max, until }) =>
            Effect.map(
              keyRows(
                sql`WITH slice AS MATERIALIZED (SELECT * FROM ledger_entries e
                    WHERE e.created_at >= ${toDate(from)} AND e.created_at < ${toDate(until)}
                    ${max === undefined ? sql`` : sql`LIMIT ${max + 1}`})
                  SELECT (SELECT count(*) FROM slice)::float8 AS seen, ${selectKeys} FROM (
                    SELECT e.player_id, e.seq FROM slice e WHERE ${where}
                    ORDER BY e.created_at DESC, e.id DESC LIMIT ${limit + 1}) found`
              ),
              ([row]) => row === undefined ? { seen: 0, rows: [] } : { seen: row.seen, rows: toKeys(row) }
            )
        ))
        return yield* pageOf(rows, limit, rest === undefined ? undefined : [rest, 0, 0])
      })

      const list: LedgerEntries["Service"]["list"] = Effect.fn("LedgerEntries.list")(
        (query: EntryQuery) =>
          query.transaction !== undefined
            ? ofTransaction(query, query.transaction)
            : query.playerId !== undefined
            ? ofPlayer(query, query.playerId)
            : query.currency === undefined && (query.minAmount !== undefined || query.maxAmount !== undefined)
            ? Effect.fail(needsCurrency)
            : query.round !== undefined
            ? ofRound(query, query.round)
            : overPlayers(query),
        orTryAgain
      )

      return LedgerEntries.of({ list })
    })
  )
}

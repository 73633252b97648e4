/**
 * Finds the position and number of the entries of a long ledger that match a filter, without reading the whole ledger.
 *
 * Block summaries (`ledger_blocks`) hold the number of entries by wallet and type, and their first and last time. A block entirely within the
 * requested period is counted by its summary; in blocks partly within it, and among the newest entries, which do not yet fill a block, entries are
 * counted one by one. Entries need not be ordered by time.
 */
import { Effect, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { EntryType, WalletKind } from "../../../domain/state/Change.ts"
import { toDate } from "../../../platform/Time.ts"
import { rowsOf } from "../../../store/Rows.ts"

/** Filters; an absent one matches all. */
export interface LedgerFilters {
  readonly type?: EntryType | undefined
  readonly wallet?: WalletKind | undefined
  /** Epoch milliseconds, inclusive. */
  readonly createdFrom?: number | undefined
  readonly createdTo?: number | undefined
}

/** Entries per block. */
const blockSize = 256

/** Minimum number of full blocks; shorter ledgers are read directly. */
const blocksWorthIt = 4

/** Maximum blocks summarised per statement: a hundred thousand entries take some tenths of a second. */
const blocksAtOnce = 400

/** `next` is the first block without a summary; the other fields are the found blocks, newest first. */
const summaries = rowsOf(Schema.Struct({
  next: Schema.Number,
  blocks: Schema.NullOr(Schema.Array(Schema.Number)),
  entries: Schema.NullOr(Schema.Array(Schema.Number)),
  whole: Schema.NullOr(Schema.Array(Schema.Boolean))
}))
const counted = rowsOf(Schema.Struct({ block: Schema.Number, entries: Schema.Number }))

/** Number of full blocks of a ledger; undefined below {@link blocksWorthIt}. */
export const fullBlocks = (entrySeq: number): number | undefined => {
  const full = Math.floor(entrySeq / blockSize)
  return full < blocksWorthIt ? undefined : full
}

export const makeLedgerBlocks = (sql: SqlClient.SqlClient) => {
  const bigint = (value: number) => sql`${value}::float8::bigint`

  /** Summarises the blocks from `next` to before `full`. */
  const summarize = Effect.fnUntraced(function*(playerId: number, next: number, full: number) {
    // oldest first, so that the summarised blocks are always a prefix
    for (let from = next; from < full; from += blocksAtOnce) {
      const to = Math.min(full, from + blocksAtOnce)
      yield* sql`INSERT INTO ledger_blocks (player_id, block, wallet, type, entries, first_at, last_at)
        SELECT player_id, ((seq - 1) / ${
        bigint(blockSize)
      })::integer, wallet, type, count(*), min(created_at), max(created_at)
        FROM ledger_entries
        WHERE player_id = ${bigint(playerId)} AND seq > ${bigint(from * blockSize)} AND seq <= ${bigint(to * blockSize)}
        GROUP BY 1, 2, 3, 4 ON CONFLICT DO NOTHING`
    }
  })

  /** Blocks below `full` that may have entries matching the filters, newest first. */
  const find = (playerId: number, full: number, filters: LedgerFilters) => {
    const { createdFrom, createdTo, type, wallet } = filters
    const conditions: Array<Statement.Fragment> = [
      sql`player_id = ${bigint(playerId)}`,
      sql`block < ${bigint(full)}`,
      ...(type === undefined ? [] : [sql`type = ${type}`]),
      ...(wallet === undefined ? [] : [sql`wallet = ${wallet}`]),
      ...(createdFrom === undefined ? [] : [sql`last_at >= ${toDate(createdFrom)}`]),
      ...(createdTo === undefined ? [] : [sql`first_at <= ${toDate(createdTo)}`])
    ]
    const within = sql.and([
      sql`true`,
      ...(createdFrom === undefined ? [] : [sql`first_at >= ${toDate(createdFrom)}`]),
      ...(createdTo === undefined ? [] : [sql`last_at <= ${toDate(createdTo)}`])
    ])
    return summaries(
      sql`SELECT array_agg(block::float8) AS blocks, array_agg(entries) AS entries, array_agg(whole) AS whole,
        (SELECT coalesce(max(block) + 1, 0)::float8 FROM ledger_blocks WHERE player_id = ${bigint(playerId)}) AS next
      FROM (SELECT block, sum(entries)::float8 AS entries, bool_and(${within}) AS whole
        FROM ledger_blocks WHERE ${sql.and(conditions)} GROUP BY block ORDER BY block DESC) found`
    )
  }

  /** As {@link find}, after summarising the blocks that have no summary yet. */
  const findAll = Effect.fnUntraced(function*(playerId: number, full: number, filters: LedgerFilters) {
    const [seen] = yield* find(playerId, full, filters)
    const next = seen?.next ?? 0
    if (next < full) yield* summarize(playerId, next, full)
    const [found] = next < full ? yield* find(playerId, full, filters) : [seen]
    const { blocks, entries, whole } = found ?? { blocks: null, entries: null, whole: null }
    return (blocks ?? []).map((block, index) => ({
      block,
      entries: entries?.[index] ?? 0,
      whole: whole?.[index] ?? false
    }))
  })

  /**
   * Entries of the given blocks; block number `full` holds the entries after all full ones. Block by block: the `OFFSET 0` keeps the planner,
   * which knows only the mean length of ledgers, from reading the whole ledger and looking up the block of each entry.
   */
  const among = (playerId: number, blocks: ReadonlyArray<number>) =>
    sql`(SELECT e.*, b.block FROM unnest(${`{${blocks.join(",")}}`}::text::bigint[]) AS b (block) CROSS JOIN LATERAL (
        SELECT * FROM ledger_entries WHERE player_id = ${bigint(playerId)}
          AND seq > b.block * ${bigint(blockSize)} AND seq <= (b.block + 1) * ${bigint(blockSize)} OFFSET 0
      ) AS e) AS e`

  /** Blocks of a list with their matching entries counted. `where`: the list's condition on entries. */
  const count = Effect.fnUntraced(
    function*(playerId: number, full: number, filters: LedgerFilters, where: Statement.Fragment) {
      const found = yield* findAll(playerId, full, filters)
      const uncertain = [full, ...found.filter(({ whole }) => !whole).map(({ block }) => block)]
      const exact = new Map(
        (yield* counted(
          sql`SELECT block, count(*) AS entries FROM ${among(playerId, uncertain)}
          WHERE ${where} GROUP BY block`
        )).map(({ block, entries }) => [block, entries])
      )
      return [
        { block: full, entries: exact.get(full) ?? 0 },
        ...found.map(({ block, entries, whole }) => ({ block, entries: whole ? entries : exact.get(block) ?? 0 }))
      ]
    }
  )

  /**
   * Blocks from the one of entry `below` − 1 on, newest first, that hold at least `needed` entries of a list, or all blocks.
   */
  const findFrom = Effect.fnUntraced(
    function*(playerId: number, full: number, filters: LedgerFilters, below: number, needed: number) {
      const newest = Math.min(full, Math.floor((below - 2) / blockSize))
      const blocks = [newest]
      let sure = 0
      for (const { block, entries, whole } of yield* findAll(playerId, newest, filters)) {
        if (sure >= needed) break
        blocks.push(block)
        if (whole) sure += entries
      }
      return blocks
    }
  )

  /** Numbers between which all matching entries of a ledger of `entrySeq` entries lie, both included; `last` is before `first` when there are none. */
  const range = Effect.fnUntraced(function*(playerId: number, entrySeq: number, filters: LedgerFilters) {
    const full = fullBlocks(entrySeq)
    if (full === undefined) return { first: 1, last: entrySeq }
    const found = yield* findAll(playerId, full, filters)
    const newest = found[0]?.block ?? -1
    const oldest = found.at(-1)?.block ?? full
    const { createdFrom = 0, createdTo } = filters
    const [behind] = yield* counted(
      sql`SELECT ${full}::float8 AS block, count(*) AS entries FROM ledger_entries
        WHERE player_id = ${bigint(playerId)} AND seq > ${bigint(full * blockSize)} AND created_at >= ${
        toDate(createdFrom)
      }
          AND ${createdTo === undefined ? sql`true` : sql`created_at <= ${toDate(createdTo)}`}`
    )
    const isBehind = (behind?.entries ?? 0) > 0
    return { first: oldest * blockSize + 1, last: isBehind ? entrySeq : (newest + 1) * blockSize }
  })

  return { among, count, findFrom, range }
}

/** Counted blocks that hold the entries from `offset` on, and the number of entries of the first one before `offset`. */
export const stretchesFrom = (
  stretches: ReadonlyArray<{ readonly block: number; readonly entries: number }>,
  offset: number,
  limit: number
): { readonly blocks: ReadonlyArray<number>; readonly skip: number } => {
  const blocks: Array<number> = []
  let before = 0
  let skip = 0
  for (const { block, entries } of stretches) {
    if (before >= offset + limit) break
    if (before + entries > offset) {
      if (blocks.length === 0) skip = offset - before
      blocks.push(block)
    }
    before += entries
  }
  return { blocks, skip }
}

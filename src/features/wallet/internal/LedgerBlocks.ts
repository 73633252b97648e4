/**
 * Where in a long ledger the entries are that a filter asks for, and how many, without reading all of it.
 *
 * Entries are summed up in blocks (migration `reading_at_size`): how many of which wallet and type, and from when to when. A block that lies
 * within the asked time as a whole is counted by its summary; of the few that it only touches, and of the newest entries, which fill no
 * block yet, the entries themselves are counted. Nothing here assumes that time goes with the numbers of entries.
 */
import { Effect, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { EntryType, WalletKind } from "../../../domain/Change.ts"
import { toDate } from "../../../platform/Time.ts"
import { rowsOf } from "../../../store/Rows.ts"

/** Absent means any. */
export interface LedgerFilters {
  readonly type?: EntryType | undefined
  readonly wallet?: WalletKind | undefined
  /** Epoch milliseconds, both included. */
  readonly createdFrom?: number | undefined
  readonly createdTo?: number | undefined
}

/** Entries in a block. */
const blockSize = 256

/** A ledger of fewer blocks is read as it is. */
const blocksWorthIt = 4

/** Blocks that one statement sums up at most: a hundred thousand entries take some tenths of a second. */
const blocksAtOnce = 400

/** `next` is the first block without a summary; the others are the blocks found, newest first. */
const summaries = rowsOf(Schema.Struct({
  next: Schema.Number,
  blocks: Schema.NullOr(Schema.Array(Schema.Number)),
  entries: Schema.NullOr(Schema.Array(Schema.Number)),
  whole: Schema.NullOr(Schema.Array(Schema.Boolean))
}))
const counted = rowsOf(Schema.Struct({ block: Schema.Number, entries: Schema.Number }))

/** How many full blocks a ledger has; undefined when it is too short for them. */
export const fullBlocks = (entrySeq: number): number | undefined => {
  const full = Math.floor(entrySeq / blockSize)
  return full < blocksWorthIt ? undefined : full
}

export const makeLedgerBlocks = (sql: SqlClient.SqlClient) => {
  const bigint = (value: number) => sql`${value}::float8::bigint`

  /** Sums up the blocks from `next` to before `full`. */
  const summarize = Effect.fnUntraced(function*(playerId: number, next: number, full: number) {
    // from the oldest on, so that those that are there are always the first
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

  /** The blocks below `full` that have entries of the filters, newest first. */
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
   * The entries of some blocks; block number `full` is what comes after all full ones. Block by block: the `OFFSET 0` keeps the planner,
   * which knows only how long ledgers are in the mean, from reading all of this one and looking for the block of each entry.
   */
  const among = (playerId: number, blocks: ReadonlyArray<number>) =>
    sql`(SELECT e.*, b.block FROM unnest(${`{${blocks.join(",")}}`}::text::bigint[]) AS b (block) CROSS JOIN LATERAL (
        SELECT * FROM ledger_entries WHERE player_id = ${bigint(playerId)}
          AND seq > b.block * ${bigint(blockSize)} AND seq <= (b.block + 1) * ${bigint(blockSize)} OFFSET 0
      ) AS e) AS e`

  /** The stretches of a list, with all of their entries counted. `where` is the list's condition on entries. */
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
   * The blocks from the one of entry `below` − 1 on, newest first, that surely hold `needed` entries of a list, or all there are.
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

  return { count, findFrom, among }
}

/** Of counted stretches those that hold the entries from `offset` on, and how many entries of the first of them come before. */
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

/** Reads a player's ledger: entries, newest first, and past balances. */
import { Clock, Context, Effect, Exit, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { applyDueBonusesStep } from "../../domain/bonus/BonusGrants.ts"
import { Entry } from "../../domain/state/Change.ts"
import type { Player } from "../../domain/state/Player.ts"
import { type Refusal, refuseFields } from "../../domain/Refusal.ts"
import { numbers } from "../../platform/ArrayParameters.ts"
import { ServingClient } from "../../platform/Database.ts"
import { type Period, toDate } from "../../platform/Time.ts"
import { isLacking, planned } from "../../store/Planned.ts"
import { type ActorRefusal, PlayerActors } from "../../store/PlayerActors.ts"
import { type KnownPlayer, lackingPlayer, noPlayer } from "../../store/PlayerPlans.ts"
import { mapPart, numberCursors, type Part, type PartQuery } from "../../store/Cursors.ts"
import { makeReadBatches } from "../../store/ReadBatches.ts"
import { columnsOf, offsetOf, oneOf, orTryAgain, type Page, type PageQuery, rowsOf } from "../../store/Rows.ts"
import { fullBlocks, type LedgerFilters, makeLedgerBlocks, stretchesFrom } from "./internal/LedgerBlocks.ts"
import { BalancesAtRow, type PastBalances, selectBalancesAt } from "./PastBalances.ts"

export type { LedgerFilters }

export interface LedgerQuery extends LedgerFilters, PageQuery {}

/** An entry without the currency of its player. The time of many rows is read as it comes. */
const EntryRow = Schema.Struct({ ...Struct.omit(Entry.fields, ["currency"]), createdAt: Schema.Date })

const entries = rowsOf(EntryRow)

/** Consecutive entries of a player: those numbered up to `newest`, after `after`. */
interface Stretch {
  readonly operatorId: number
  readonly playerId: number
  readonly newest: number
  readonly after: number
}

/** Stretches read by one statement at most, such statements at the same time (one of pages that are not in memory is slow), and stretches that may wait. */
const maxStretches = 16
const maxStatements = 2
const maxWaiting = 1000

/** Entries of several stretches, numbered from 1 in `stretch`. */
const stretchRows = rowsOf(Schema.Struct({ ...EntryRow.fields, stretch: Schema.Number }))

const columns = columnsOf(EntryRow, "e")

const stretchesText = `SELECT stretch, ${columns}
  FROM unnest($1::float8[]::bigint[], $2::float8[]::bigint[], $3::float8[]::bigint[], $4::float8[]::bigint[])
    WITH ORDINALITY AS asked (player_id, operator_id, newest, after, stretch)
  JOIN ledger_entries AS e ON e.player_id = asked.player_id AND e.operator_id = asked.operator_id
    AND e.seq <= asked.newest AND e.seq > asked.after
  ORDER BY stretch, e.seq DESC`

const counts = rowsOf(Schema.Struct({ total: Schema.Number }))
const pastBalances = rowsOf(BalancesAtRow)

const inTheFuture = refuseFields({ at: ["must not be in the future"] })

export class Ledger extends Context.Service<Ledger, {
  /**
   * A page of a player's entries. The cost of an unfiltered page does not depend on its position or the length of the ledger; that of a filtered one
   * hardly (see LedgerBlocks.ts).
   */
  readonly list: (
    operatorId: number,
    playerId: number,
    query: LedgerQuery
  ) => Effect.Effect<Page<Entry>, ActorRefusal>
  /**
   * As `list` of an unfiltered page, without a fiber: starts the read. `done` is called once, later. Undefined when the player is not in memory or not
   * the operator's.
   */
  readonly startList: (
    operatorId: number,
    playerId: number,
    query: PageQuery
  ) => ((done: (exit: Exit.Exit<Page<Entry>, Refusal<"TRY_AGAIN">>) => void) => void) | undefined
  /** As `list`, by cursor, without a count. */
  readonly walk: (
    operatorId: number,
    playerId: number,
    query: LedgerFilters & PartQuery
  ) => Effect.Effect<Part<Entry>, Refusal<"VALIDATION_FAILED"> | ActorRefusal>
  /** Numbers between which all entries of any player within a period lie, both included; none where `last` is before `first`. */
  readonly numbersWithin: (
    playerId: number,
    period: Period
  ) => Effect.Effect<{ readonly first: number; readonly last: number }, Refusal<"TRY_AGAIN">>
  /**
   * A player's balances at an instant (epoch milliseconds), which must not be in the future. The cost does not depend on the length of
   * the ledger; the answer for an instant never changes.
   */
  readonly balancesAt: (
    operatorId: number,
    playerId: number,
    at: number
  ) => Effect.Effect<PastBalances, Refusal<"VALIDATION_FAILED"> | ActorRefusal>
}>()("pitboss/wallet/Ledger") {
  static readonly layer = Layer.effect(
    Ledger,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actors = yield* PlayerActors
      const serving = yield* ServingClient
      const blocks = makeLedgerBlocks(sql)
      const selected = sql.literal(columns)

      // Qualified: a bare `seq` would be the output column, a float without an index.
      const filtersOf = (query: LedgerFilters) =>
        [
          query.type === undefined ? undefined : sql`type = ${query.type}`,
          query.wallet === undefined ? undefined : sql`wallet = ${query.wallet}`,
          query.createdFrom === undefined ? undefined : sql`created_at >= ${toDate(query.createdFrom)}`,
          query.createdTo === undefined ? undefined : sql`created_at <= ${toDate(query.createdTo)}`
        ].filter((filter) => filter !== undefined)

      const ownedBy = (operatorId: number, playerId: number) =>
        sql`player_id = ${playerId}::float8::bigint AND operator_id = ${operatorId}::float8::bigint`

      const toEntry = (currency: string) => (row: typeof EntryRow.Type): Entry => ({
        ...row,
        currency,
        createdAt: row.createdAt.getTime()
      })

      const stretches = yield* makeReadBatches<Stretch, ReadonlyArray<typeof EntryRow.Type>>({
        maxBatch: maxStretches,
        maxRunning: maxStatements,
        maxWaiting,
        read: (batch) =>
          stretchRows(serving.unsafe(stretchesText, [
            numbers(batch.map(({ playerId }) => playerId)),
            numbers(batch.map(({ operatorId }) => operatorId)),
            numbers(batch.map(({ newest }) => newest)),
            numbers(batch.map(({ after }) => after))
          ])).pipe(
            Effect.map((rows) => {
              const byStretch = Map.groupBy(rows, ({ stretch }) => stretch)
              return batch.map((_, index) => Exit.succeed(byStretch.get(index + 1) ?? []))
            })
          )
      })

      /** Entries are numbered without gaps: a page is a range of numbers. */
      const stretchOf = (player: Player, query: PageQuery): Stretch => {
        const newest = Math.max(player.entrySeq - offsetOf(query), 0)
        return { operatorId: player.operatorId, playerId: player.id, newest, after: newest - query.perPage }
      }

      const pageOf = (
        { currency, entrySeq }: Player,
        rows: ReadonlyArray<typeof EntryRow.Type>,
        total = entrySeq
      ): Page<Entry> => ({ total, items: rows.map(toEntry(currency)) })

      /** Plans an unfiltered page: what starts its reading. */
      const planPage = (operatorId: number, playerId: number, query: PageQuery, known: KnownPlayer) => {
        const player = actors.peek(operatorId, playerId) ?? known.player
        return player === undefined
          ? lackingPlayer(actors, operatorId, playerId)
          : (done: (exit: Exit.Exit<Page<Entry>, Refusal<"TRY_AGAIN">>) => void) =>
            stretches.post(stretchOf(player, query), (exit) => done(Exit.map(exit, (rows) => pageOf(player, rows))))
      }

      const startList: Ledger["Service"]["startList"] = (operatorId, playerId, query) => {
        const start = planPage(operatorId, playerId, query, noPlayer)
        return isLacking(start) ? undefined : start
      }

      const list = Effect.fn("Ledger.list")(
        function*(operatorId: number, playerId: number, query: LedgerQuery) {
          const filters = filtersOf(query)
          if (filters.length === 0) {
            const start = yield* planned(noPlayer, (known) => planPage(operatorId, playerId, query, known))
            return yield* Effect.callback<Page<Entry>, Refusal<"TRY_AGAIN">>((resume) => start(resume))
          }
          const player = yield* actors.read(operatorId, playerId)
          const { entrySeq } = player
          const offset = offsetOf(query)
          const where = sql.and([ownedBy(operatorId, playerId), sql`seq <= ${entrySeq}::float8::bigint`, ...filters])
          const full = fullBlocks(entrySeq)
          if (full !== undefined) {
            const counted = yield* blocks.count(playerId, full, query, where)
            const total = counted.reduce((sum, { entries }) => sum + entries, 0)
            const { blocks: chosen, skip } = stretchesFrom(counted, offset, query.perPage)
            if (chosen.length === 0) return pageOf(player, [], total)
            const rows = yield* entries(sql`SELECT ${selected} FROM ${blocks.among(playerId, chosen)} WHERE ${where}
              ORDER BY e.seq DESC LIMIT ${query.perPage}::float8::bigint OFFSET ${skip}::float8::bigint`)
            return pageOf(player, rows, total)
          }
          const [counted, rows] = yield* Effect.all([
            counts(sql`SELECT count(*) AS total FROM ledger_entries WHERE ${where}`),
            entries(sql`SELECT ${selected} FROM ledger_entries AS e WHERE ${where}
              ORDER BY e.seq DESC LIMIT ${query.perPage}::float8::bigint OFFSET ${offset}::float8::bigint`)
          ], { concurrency: 2 })
          return pageOf(player, rows, counted[0]?.total ?? 0)
        },
        orTryAgain
      )

      const walk = Effect.fn("Ledger.walk")(
        function*(operatorId: number, playerId: number, query: LedgerFilters & PartQuery) {
          const position = yield* numberCursors.read(query.cursor)
          const { currency, entrySeq } = yield* actors.read(operatorId, playerId)
          const wanted = query.limit + 1
          const below = Math.min(position ?? Number.MAX_SAFE_INTEGER, entrySeq + 1)
          const filters = filtersOf(query)
          const where = sql.and([
            ownedBy(operatorId, playerId),
            sql`seq < ${below}::float8::bigint`,
            // numbered without gaps: lowest number that the page can reach
            ...(filters.length === 0 ? [sql`seq >= ${below - wanted}::float8::bigint`] : filters)
          ])
          const full = filters.length === 0 ? undefined : fullBlocks(entrySeq)
          const source = full === undefined
            ? sql`ledger_entries AS e`
            : blocks.among(playerId, yield* blocks.findFrom(playerId, full, query, below, wanted))
          const rows = yield* entries(sql`SELECT ${selected} FROM ${source} WHERE ${where}
            ORDER BY e.seq DESC LIMIT ${wanted}::float8::bigint`)
          return mapPart(numberCursors.part(rows, query.limit, ({ seq }) => seq), toEntry(currency))
        },
        orTryAgain
      )

      const numbersWithin = Effect.fn("Ledger.numbersWithin")(
        function*(playerId: number, { from, to }: Period) {
          const [ledger] = yield* counts(
            sql`SELECT coalesce(max(seq), 0) AS total FROM ledger_entries WHERE player_id = ${playerId}::float8::bigint`
          )
          return yield* blocks.range(playerId, ledger?.total ?? 0, { createdFrom: from, createdTo: to })
        },
        orTryAgain
      )

      const balancesAt = Effect.fn("Ledger.balancesAt")(
        function*(operatorId: number, playerId: number, at: number) {
          const now = yield* Clock.currentTimeMillis
          // through the actor: earlier decisions and due changes are then in the tables
          const player = yield* actors.ask<Player, never>(operatorId, playerId, applyDueBonusesStep)
          if (at > now) return yield* Effect.fail(inTheFuture)
          const row = yield* oneOf(pastBalances(selectBalancesAt(sql, operatorId, playerId, at)))
          if (row === undefined) return yield* Effect.die("a ledger has a gap")
          const openedAt = row.openedAt.getTime()
          return {
            playerId,
            currency: player.currency,
            at,
            real: row.real,
            bonus: row.bonus,
            realUpdatedAt: row.realUpdatedAt?.getTime() ?? openedAt,
            bonusUpdatedAt: row.bonusUpdatedAt?.getTime() ?? openedAt
          } satisfies PastBalances
        },
        orTryAgain
      )

      return Ledger.of({ list, startList, walk, numbersWithin, balancesAt })
    })
  )
}

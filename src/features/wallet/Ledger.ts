/** Reads of a player's ledger: entries, newest first, and past balances. */
import { PgTypes } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { applyDueBonusesStep } from "../../domain/bonus/BonusGrants.ts"
import { type Entry, entryTypes } from "../../domain/Change.ts"
import type { Player } from "../../domain/player/Player.ts"
import { type Refusal, refuseFields } from "../../domain/Refusal.ts"
import { toDate } from "../../platform/Time.ts"
import { type ActorRefusal, PlayerActors } from "../../store/PlayerActors.ts"
import { mapPart, numberCursors, type Part, type PartQuery } from "../../store/Cursors.ts"
import { offsetOf, oneOf, orTryAgain, type Page, type PageQuery, rowsOf } from "../../store/Rows.ts"
import { fullBlocks, type LedgerFilters, makeLedgerBlocks, stretchesFrom } from "./internal/LedgerBlocks.ts"
import { BalancesAtRow, balancesAtText, type PastBalances } from "./PastBalances.ts"

export type { LedgerFilters }

export interface LedgerQuery extends LedgerFilters, PageQuery {}

const EntryRow = Schema.Struct({
  id: Schema.Number,
  playerId: Schema.Number,
  operatorId: Schema.Number,
  seq: Schema.Number,
  wallet: Schema.Literals(["real", "bonus"]),
  type: Schema.Literals(entryTypes),
  amount: Schema.Number,
  balanceAfter: Schema.Number,
  paymentRequestId: Schema.NullOr(Schema.Number),
  gameId: Schema.NullOr(Schema.Number),
  gameRoundId: Schema.NullOr(Schema.String),
  playerBonusId: Schema.NullOr(Schema.Number),
  createdAt: Schema.Date
})

const entries = rowsOf(EntryRow)
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
  /** As `list`, by cursor, without a count. */
  readonly walk: (
    operatorId: number,
    playerId: number,
    query: LedgerFilters & PartQuery
  ) => Effect.Effect<Part<Entry>, Refusal<"VALIDATION_FAILED"> | ActorRefusal>
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
      const blocks = makeLedgerBlocks(sql)

      const columns = sql.literal(
        `id, player_id AS "playerId", operator_id AS "operatorId",
        seq, wallet, type, amount, balance_after AS "balanceAfter",
        payment_request_id AS "paymentRequestId", game_id AS "gameId", game_round_id AS "gameRoundId",
        player_bonus_id AS "playerBonusId", created_at AS "createdAt"`
      )

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

      const list = Effect.fn("Ledger.list")(
        function*(operatorId: number, playerId: number, query: LedgerQuery) {
          const { currency, entrySeq } = yield* actors.read(operatorId, playerId)
          const offset = offsetOf(query)
          const filters = filtersOf(query)
          const mine = ownedBy(operatorId, playerId)
          const page = (rows: ReadonlyArray<typeof EntryRow.Type>, total: number): Page<Entry> => ({
            total,
            items: rows.map(toEntry(currency))
          })
          if (filters.length === 0) {
            // entries are numbered without gaps: a page is a range of numbers and the last number is the count
            const newest = Math.max(entrySeq - offset, 0)
            const rows = yield* entries(sql`SELECT ${columns} FROM ledger_entries WHERE ${mine}
              AND seq <= ${newest}::float8::bigint AND seq > ${
              newest - query.perPage
            }::float8::bigint ORDER BY ledger_entries.seq DESC`)
            return page(rows, entrySeq)
          }
          const where = sql.and([mine, sql`seq <= ${entrySeq}::float8::bigint`, ...filters])
          const full = fullBlocks(entrySeq)
          if (full !== undefined) {
            const stretches = yield* blocks.count(playerId, full, query, where)
            const total = stretches.reduce((sum, stretch) => sum + stretch.entries, 0)
            const { blocks: chosen, skip } = stretchesFrom(stretches, offset, query.perPage)
            if (chosen.length === 0) return page([], total)
            const rows = yield* entries(sql`SELECT ${columns} FROM ${blocks.among(playerId, chosen)} WHERE ${where}
              ORDER BY e.seq DESC LIMIT ${query.perPage}::float8::bigint OFFSET ${skip}::float8::bigint`)
            return page(rows, total)
          }
          const [counted, rows] = yield* Effect.all([
            counts(sql`SELECT count(*) AS total FROM ledger_entries WHERE ${where}`),
            entries(sql`SELECT ${columns} FROM ledger_entries WHERE ${where}
              ORDER BY ledger_entries.seq DESC LIMIT ${query.perPage}::float8::bigint OFFSET ${offset}::float8::bigint`)
          ], { concurrency: 2 })
          return page(rows, counted[0]?.total ?? 0)
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
          const rows = yield* entries(sql`SELECT ${columns} FROM ${source} WHERE ${where}
            ORDER BY e.seq DESC LIMIT ${wanted}::float8::bigint`)
          return mapPart(numberCursors.part(rows, query.limit, ({ seq }) => seq), toEntry(currency))
        },
        orTryAgain
      )

      const balancesAt = Effect.fn("Ledger.balancesAt")(
        function*(operatorId: number, playerId: number, at: number) {
          const now = yield* Clock.currentTimeMillis
          // through the actor: earlier decisions and due changes are then in the tables
          const player = yield* actors.ask<Player, never>(operatorId, playerId, applyDueBonusesStep)
          if (at > now) return yield* Effect.fail(inTheFuture)
          const row = yield* oneOf(pastBalances(sql.unsafe(balancesAtText, [
            PgTypes.float8(playerId),
            PgTypes.float8(operatorId),
            toDate(at)
          ])))
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

      return Ledger.of({ list, walk, balancesAt })
    })
  )
}

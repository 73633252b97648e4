/**
 * Sums of play by game, computed from the ledger by a job, since commits maintain sums by provider only (`docs/decisions/0058-figures-by-game.md`).
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { stepMs } from "../../domain/Figures.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import { ReportClient } from "../../platform/Database.ts"
import { ReportConcurrency } from "../../platform/ReportConcurrency.ts"
import type { JobResult } from "../../platform/Scheduler.ts"
import { iso, toDate, utcDay } from "../../platform/Time.ts"
import { makeByIndex } from "../../store/ByIndex.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import type { Days } from "./Days.ts"
import { addSlice, sumsByGame } from "./internal/GameQuery.ts"
import { GroupSums } from "./GgrReport.ts"
import { tooManyReports } from "./Reports.ts"

const dayMs = stepMs.day

/**
 * How old an entry is at least when it is added up. A commit is given up after seconds, and clocks of nodes differ by less than a minute: what comes
 * later than this would be missed.
 */
const settledMs = 10 * 60_000

/** Days that are kept: every range of a report that ends today, and some. */
const keptDays = 400

/** Entries that a slice of time is to hold, by the mean of its day, and its bounds. */
const entriesPerSlice = 50_000
const shortestMs = 60_000

const slicesPerRun = 40

const walkRows = rowsOf(Schema.Struct({ since: Schema.String, until: Schema.Date, entries: Schema.Number }))
const addedRows = rowsOf(Schema.Struct({ rows: Schema.Number }))
const gameRows = rowsOf(Schema.Struct({
  key: Schema.String,
  name: Schema.String,
  provider: Schema.NullOr(Schema.String),
  ...GroupSums.fields,
  unconverted: Schema.Array(Schema.String)
}))

/** Sums by game, and until when (ISO 8601) play is in them; null before the first run of the job. */
export interface SumsOfGames {
  readonly rows: Effect.Success<ReturnType<typeof gameRows>>
  readonly asOf: string | null
}

export class GameSums extends Context.Service<GameSums, {
  /**
   * Adds up what was played up to ten minutes ago, in slices of time, and deletes sums after 400 days. A slice that is cut off is not added; of two at
   * once one is.
   */
  readonly addUp: Effect.Effect<JobResult, Refusal<"TRY_AGAIN">>
  /**
   * Sums of an operator in a range of days, in its currency, the game with the most bets first; games after the first thousand are one row. A report
   * waits for its turn up to ten seconds, then it fails with `TRY_AGAIN`.
   */
  readonly report: (operatorId: number, days: Days) => Effect.Effect<SumsOfGames, Refusal<"TRY_AGAIN">>
}>()("pitboss/reports/GameSums") {
  static readonly layer = Layer.effect(
    GameSums,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const reporting = yield* ReportClient
      const limitConcurrency = yield* ReportConcurrency
      // sessions of low priority
      const byIndex = yield* Effect.provideService(makeByIndex, SqlClient.SqlClient, reporting)

      /** Where the sums end, and how many entries the sums of that day hold. */
      const walk = oneOf(walkRows(
        sql`SELECT w.since::text AS since, w.until, (SELECT coalesce(sum(s.entries), 0) FROM operators o
            JOIN daily_sums s ON s.operator_id = o.id AND s.day = (w.until AT TIME ZONE 'UTC')::date
              AND s.provider_id <> 0)::float8 AS entries
          FROM game_sums_walk w`
      ))

      /** Begins on the first day with sums, or today. */
      const begin = (now: number) =>
        sql`INSERT INTO game_sums_walk (name, since, until)
          SELECT 'game_sums', d.since, d.since::timestamp AT TIME ZONE 'UTC'
          FROM (SELECT greatest(coalesce(min(day), ${utcDay(now)}::date), ${utcDay(now - keptDays * dayMs)}::date)
            AS since FROM daily_sums) d ON CONFLICT DO NOTHING`

      /** Adds a slice within one day, unless another process has: the row of the walk is its turn. */
      const add = (from: number, until: number) =>
        byIndex(oneOf(addedRows(
          reporting.unsafe(addSlice, [toDate(from), toDate(until), utcDay(from)])
        ))).pipe(limitConcurrency(tooManyReports))

      const forget = Effect.fnUntraced(function*(now: number) {
        const first = utcDay(now - keptDays * dayMs)
        yield* sql`UPDATE game_sums_walk SET since = ${first}::date WHERE since < ${first}::date`
        yield* sql`DELETE FROM game_sums WHERE operator_id IN (SELECT id FROM operators) AND day < ${first}::date`
      })

      const addUp = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const end = now - settledMs
        let done = 0
        for (let slices = 0; slices < slicesPerRun; slices++) {
          const place = yield* walk
          if (place === undefined) {
            yield* begin(now)
            continue
          }
          const from = place.until.getTime()
          if (from >= end) {
            yield* forget(now)
            return { done, hasMore: false }
          }
          const day = Math.floor(from / dayMs) * dayMs
          const passed = Math.min(dayMs, now - day)
          const wanted = Math.floor(passed * entriesPerSlice / Math.max(1, place.entries))
          done += (yield* add(from, Math.min(end, day + dayMs, from + Math.max(shortestMs, wanted))))?.rows ?? 0
        }
        return { done, hasMore: true }
      }).pipe(orTryAgain, Effect.withSpan("GameSums.addUp"))

      const report = Effect.fn("GameSums.report")(function*(operatorId: number, days: Days) {
        // before the sums, which may hold more by then
        const place = yield* walk
        const rows = yield* gameRows(
          reporting.unsafe(sumsByGame, [String(operatorId), days.from, days.to, days.includeTestPlayers])
        ).pipe(limitConcurrency(tooManyReports))
        return { rows, asOf: place === undefined ? null : iso(place.until.getTime()) }
      }, orTryAgain)

      return GameSums.of({ addUp, report })
    })
  )
}

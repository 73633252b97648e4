/**
 * Player account statements: balances, totals and all entries of a range of days.
 *
 * The head of a statement is read in one snapshot, and fixes the numbers of the first and the last entry. Entries never change and are numbered
 * without gaps, so the entries between these numbers belong to that snapshot even when read later, part by part: a slow reader holds no database
 * connection, and later commits do not get in.
 */
import { Clock, Context, Effect, Layer, Option, Schema, Stream, Struct } from "effect"
import { SqlClient } from "effect/sql"
import type { Statement as Resource } from "../../contract/statements/StatementResource.ts"
import { applyDueBonusesStep } from "../../domain/bonus/BonusGrants.ts"
import { type Refusal, refuse, refuseFields, temporarilyUnavailable } from "../../domain/Refusal.ts"
import { Entry, entryTypes } from "../../domain/state/Change.ts"
import { breakMs } from "../../domain/state/Limits.ts"
import type { Player } from "../../domain/state/Player.ts"
import { maxStatementDays, maxStatementEntries, totalsOf } from "../../domain/wallet/Statement.ts"
import { makeConcurrencyLimit } from "../../platform/ConcurrencyLimit.ts"
import { inTransaction } from "../../platform/InTransaction.ts"
import { iso, parseIso, toDate } from "../../platform/Time.ts"
import { PlayerActors } from "../../store/PlayerActors.ts"
import { RemoteCommands } from "../../store/RemoteCommands.ts"
import { columnsOf, oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { BalancesAtRow, selectBalancesAt } from "../wallet/PastBalances.ts"

const dayMs = 86_400_000

/** Entries that one part has: some hundred kilobytes, read in some milliseconds. */
const perPart = 1000

/** First and last day, `YYYY-MM-DD`, UTC, both included. */
export interface StatementPeriod {
  readonly from: string
  readonly to: string
}

export interface Statement {
  readonly head: Omit<typeof Resource.Type, "entries">
  /** Names of the player and the operator. */
  readonly names: { readonly player: string; readonly operator: string }
  /** Oldest first, in parts that are read when they are asked for; fails where the database does not answer. */
  readonly entries: Stream.Stream<ReadonlyArray<Entry>, Refusal<"TRY_AGAIN">>
}

/** The time of many rows is read as it comes. */
const EntryRow = Schema.Struct({ ...Struct.omit(Entry.fields, ["currency"]), createdAt: Schema.Date })
const entryRows = rowsOf(EntryRow)
const entryColumns = columnsOf(EntryRow)

const balanceRows = rowsOf(BalancesAtRow)
const accountRows = rowsOf(Schema.Struct({ currency: Schema.String, player: Schema.String, operator: Schema.String }))
const sumRows = rowsOf(Schema.Struct({ type: Schema.Literals(entryTypes), amount: Schema.Number }))
const lifetimeRows = rowsOf(Schema.Struct({ amount: Schema.Number }))
const sessionRows = rowsOf(Schema.Struct({ count: Schema.Number, seconds: Schema.Number }))

const notFound = refuse("NOT_FOUND", "There is no such player.")
const tooMany = refuse("TRY_AGAIN", "Too many statements are being made. Send the same request again.", {
  retry: "same_request"
})

/** Instants of a period, epoch milliseconds: its beginning, and that of the day after it. */
const instantsOf = (
  { from, to }: StatementPeriod
): Effect.Effect<{ readonly begin: number; readonly end: number }, Refusal<"VALIDATION_FAILED">> => {
  const [begin, last] = [parseIso(from), parseIso(to)]
  if (begin === undefined || last === undefined) {
    return Effect.fail(refuseFields({ from: ["must be a date like 2026-11-20"] }))
  }
  if (last < begin) return Effect.fail(refuseFields({ to: ["must not be before from"] }))
  return last - begin >= maxStatementDays * dayMs
    ? Effect.fail(refuseFields({ to: [`must be within ${maxStatementDays} days from from, both included`] }))
    : Effect.succeed({ begin, end: last + dayMs })
}

export class Statements extends Context.Service<Statements, {
  /**
   * The statement of an operator's player. Refused where its period is longer or has more entries than one document may have. Runs at any node. Two
   * statements or parts are read at a time at each node; others wait for ten seconds at most.
   */
  readonly open: (
    operatorId: number,
    playerId: number,
    period: StatementPeriod
  ) => Effect.Effect<Statement, Refusal<"NOT_FOUND" | "VALIDATION_FAILED" | "TRY_AGAIN">>
}>()("pitboss/statements/Statements") {
  static readonly layer = Layer.effect(
    Statements,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actors = yield* PlayerActors
      const limited = (yield* makeConcurrencyLimit({ maxRunning: 2, maxWaiting: 200, maxWait: "10 seconds" }))(tooMany)
      const columns = sql.literal(entryColumns)

      // earlier decisions and due changes are in the tables then
      const settle = (yield* RemoteCommands).define({
        name: "statement.settle",
        payload: Schema.Struct({ operatorId: Schema.Number }),
        run: (playerId, { operatorId }) =>
          Effect.asVoid(actors.ask<Player, never>(operatorId, playerId, applyDueBonusesStep))
      })

      const readSnapshot = Effect.provideService(
        SqlClient.BeginTransaction,
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
      )

      const headOf = Effect.fnUntraced(function*(operatorId: number, playerId: number, period: StatementPeriod) {
        const { begin, end } = yield* instantsOf(period)
        const ofPlayer = sql`player_id = ${playerId}::float8::bigint AND operator_id = ${operatorId}::float8::bigint`
        const before = (at: number) => oneOf(balanceRows(selectBalancesAt(sql, operatorId, playerId, at - 1)))
        const account = yield* oneOf(accountRows(
          sql`SELECT p.currency, p.first_name || ' ' || p.last_name AS player, o.name AS operator
            FROM players p JOIN operators o ON o.id = p.operator_id
            WHERE p.id = ${playerId}::float8::bigint AND p.operator_id = ${operatorId}::float8::bigint`
        ))
        const opening = yield* before(begin)
        const closing = yield* before(end)
        if (account === undefined || opening === undefined || closing === undefined) return yield* Effect.fail(notFound)
        if (closing.seq - opening.seq > maxStatementEntries) {
          return yield* Effect.fail(refuseFields({
            to: [`leaves more than ${maxStatementEntries} entries: ask for a shorter period`]
          }))
        }
        const within =
          sql`${ofPlayer} AND seq > ${opening.seq}::float8::bigint AND seq <= ${closing.seq}::float8::bigint`
        const sums = yield* sumRows(
          sql`SELECT type, sum(amount)::float8 AS amount FROM ledger_entries WHERE ${within} GROUP BY type, amount > 0`
        )
        // nothing changes a deposit after its chargeback, which was not known at the end of a period before it
        const [lifetime] = yield* lifetimeRows(
          sql`SELECT (coalesce(sum(CASE type WHEN 'deposit' THEN amount ELSE -amount END), 0)
              + coalesce((SELECT i.lifetime_deposits - i.lifetime_withdrawals
                FROM imported_players i JOIN import_runs r ON r.id = i.run_id
                WHERE i.player_id = ${playerId}::float8::bigint AND r.posting_at < ${
            toDate(end)
          }), 0))::float8 AS amount
            FROM payment_requests WHERE ${ofPlayer} AND created_at < ${toDate(end)}
              AND CASE type WHEN 'deposit' THEN status = 'paid' AND (NOT is_reversed OR updated_at >= ${toDate(end)})
                ELSE coalesce(rejected_at, cancelled_at, 'infinity') >= ${toDate(end)} END`
        )
        const [sessions] = yield* sessionRows(
          // as a session is told: a bet keeps it running, a launch only begins one
          sql`WITH moments AS (
              SELECT created_at AS at, true AS is_bet FROM ledger_entries WHERE ${within} AND type = 'casino_bet'
              UNION ALL
              SELECT opened_at, false FROM game_sessions WHERE ${ofPlayer} AND mode = 'real'
                AND opened_at >= ${toDate(begin)} AND opened_at < ${toDate(end)}
            ), known AS (
              SELECT at, is_bet, max(at) FILTER (WHERE is_bet) OVER (ORDER BY at, is_bet) AS last_bet FROM moments
            ), play AS (
              SELECT at FROM known
              WHERE is_bet OR last_bet IS NULL OR at - last_bet >= ${breakMs}::float8 * interval '1 millisecond'
            ), gaps AS (
              SELECT at, at - lag(at) OVER (ORDER BY at) AS gap FROM play
            )
            SELECT count(*) FILTER (WHERE gap IS NULL OR gap >= ${breakMs}::float8 * interval '1 millisecond')::float8 AS count,
              floor(coalesce(extract(epoch FROM sum(gap) FILTER (WHERE gap < ${breakMs}::float8 * interval '1 millisecond')),
                0))::float8 AS seconds
            FROM gaps`
        )
        return { account, opening, closing, sums, lifetime: lifetime?.amount ?? 0, sessions }
      })

      const open: Statements["Service"]["open"] = Effect.fn("Statements.open")(
        function*(operatorId, playerId, period) {
          yield* instantsOf(period)
          yield* Effect.mapError(
            settle(playerId, { operatorId }),
            ({ code }) => code === "NOT_FOUND" ? notFound : temporarilyUnavailable
          )
          const head = yield* limited(readSnapshot(inTransaction(sql)(headOf(operatorId, playerId, period))))
          const { account: { currency, operator, player }, closing, lifetime, opening, sessions, sums } = head

          const partAfter = (after: number) =>
            limited(entryRows(
              sql`SELECT ${columns} FROM ledger_entries WHERE player_id = ${playerId}::float8::bigint
                  AND operator_id = ${operatorId}::float8::bigint AND seq > ${after}::float8::bigint
                  AND seq <= ${Math.min(after + perPart, closing.seq)}::float8::bigint ORDER BY seq`
            )).pipe(
              Effect.map((rows) => rows.map((row) => ({ ...row, currency, createdAt: row.createdAt.getTime() }))),
              orTryAgain
            )
          return {
            head: {
              player_id: playerId,
              currency,
              ...period,
              generated_at: iso(yield* Clock.currentTimeMillis),
              opening: Struct.pick(opening, ["real", "bonus"]),
              closing: Struct.pick(closing, ["real", "bonus"]),
              totals: totalsOf(sums),
              net_deposits_lifetime: lifetime,
              sessions: { count: sessions?.count ?? 0, seconds: sessions?.seconds ?? 0 }
            },
            names: { player, operator },
            entries: Stream.paginate(opening.seq, (after) =>
              after >= closing.seq
                ? Effect.succeed([[], Option.none()] as const)
                : Effect.map(partAfter(after), (part) => [[part], Option.some(after + perPart)] as const))
          }
        },
        orTryAgain
      )

      return Statements.of({ open })
    })
  )
}

/**
 * Balances of players at a past midnight, from the ledger, which never changes: the answer for a day is always the same.
 *
 * Accounts are read by id, some thousands per statement. An account that has not moved since has today's balances. For any other, the last entry
 * before that midnight is found, for all accounts of a statement together.
 */
import { Clock, Effect, Schema } from "effect"
import type { Funds } from "../../contract/reports/SeriesResource.ts"
import { refuseFields } from "../../domain/Refusal.ts"
import { ReportClient } from "../../platform/Database.ts"
import { ReportConcurrency } from "../../platform/ReportConcurrency.ts"
import { iso, parseIso, toDate } from "../../platform/Time.ts"
import { entriesBefore } from "../../store/EntriesBefore.ts"
import { type Scope, withinReport } from "../../store/OperatorScope.ts"
import { orTryAgain, rowsOf } from "../../store/Rows.ts"
import { tooManyReports } from "./Reports.ts"

/** Accounts that one statement reads. */
const perSlice = 5000

/** By how much a commit may end after what it is dated. */
const latestMs = 60_000

const sums = rowsOf(Schema.Struct({
  operator_id: Schema.Number,
  currency: Schema.String,
  real: Schema.Number,
  bonus: Schema.Number,
  real_players: Schema.Number,
  bonus_players: Schema.Number
}))
const places = rowsOf(Schema.Struct({ last: Schema.NullOr(Schema.Number) }))

type Held = Omit<typeof Funds.Type, "at">

/** Adds rows of the same operator, currency and wallet; ordered as the report of now is. */
const added = (rows: ReadonlyArray<Held>): ReadonlyArray<Held> => {
  const byGroup = Map.groupBy(rows, (row) => `${row.operator_id} ${row.currency} ${row.wallet}`)
  return [...byGroup.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [others.reduce((sum, { amount, players }) => ({
      ...sum,
      amount: sum.amount + amount,
      players: sum.players + players
    }), first)]
  ).toSorted((one, other) =>
    one.operator_id - other.operator_id || one.currency.localeCompare(other.currency) ||
    other.wallet.localeCompare(one.wallet)
  )
}

/**
 * Reads what the players of a scope held at the beginning of a day, `YYYY-MM-DD`, UTC, without test players. Each statement takes its turn among the
 * reports.
 */
export const makePastFunds = Effect.gen(function*() {
  const sql = yield* ReportClient
  const limited = (yield* ReportConcurrency)(tooManyReports)

  const midnightOf = Effect.fnUntraced(function*(day: string) {
    const at = parseIso(day)
    return at === undefined || at > (yield* Clock.currentTimeMillis) - latestMs
      ? yield* Effect.fail(refuseFields({ at: ["must be a day that has begun more than a minute ago"] }))
      : at
  })

  return Effect.fn("PastFunds.read")(function*(scope: Scope, day: string) {
    const at = yield* midnightOf(day)
    const midnight = sql`${toDate(at)}::timestamptz`
    const among = (after: number, last: number | null) =>
      sql.and([
        sql`a.player_id > ${after}::float8::bigint`,
        ...(last === null ? [] : [sql`a.player_id <= ${last}::float8::bigint`]),
        ...withinReport(sql, scope, "a.operator_id")
      ])
    const lastEntry = (wallet: "real" | "bonus") =>
      sql`coalesce((SELECT e.balance_after FROM ledger_entries e WHERE e.player_id = s.player_id AND e.wallet = ${wallet}
        AND e.seq <= h.low ORDER BY e.seq DESC LIMIT 1), 0)`
    const heldBy = (after: number, last: number | null) =>
      sums(sql`WITH RECURSIVE slice AS MATERIALIZED (
          SELECT a.player_id, a.operator_id, p.currency, a.entry_seq, a.real_balance, a.bonus_balance,
            greatest(a.real_updated_at, a.bonus_updated_at) < ${midnight} AS is_still
          FROM accounts a JOIN players p ON p.id = a.player_id
          WHERE ${among(after, last)} AND NOT p.is_test AND p.created_at < ${midnight}
        ), ${entriesBefore(sql, sql`FROM slice WHERE NOT is_still`, midnight)}, held AS (
          SELECT s.operator_id, s.currency, CASE WHEN s.is_still THEN s.real_balance ELSE ${
        lastEntry("real")
      } END AS real,
            CASE WHEN s.is_still THEN s.bonus_balance ELSE ${lastEntry("bonus")} END AS bonus
          FROM slice s LEFT JOIN halving h ON h.player_id = s.player_id AND h.low = h.high
        )
        SELECT operator_id, currency, sum(real)::float8 AS real, sum(bonus)::float8 AS bonus,
          count(*) FILTER (WHERE real <> 0)::float8 AS real_players, count(*) FILTER (WHERE bonus <> 0)::float8 AS bonus_players
        FROM held GROUP BY 1, 2`)
    const lastOf = (after: number) =>
      Effect.map(
        places(sql`SELECT max(player_id)::float8 AS last FROM (
          SELECT a.player_id FROM accounts a WHERE ${
          among(after, null)
        } ORDER BY a.player_id LIMIT ${perSlice}) slice`),
        ([row]) => row?.last ?? null
      )

    const found: Array<Held> = []
    for (let after = 0, last = yield* lastOf(after); last !== null; after = last, last = yield* lastOf(after)) {
      for (const row of yield* limited(heldBy(after, last))) {
        const { currency, operator_id } = row
        found.push(
          { operator_id, currency, wallet: "real", amount: row.real, players: row.real_players },
          { operator_id, currency, wallet: "bonus", amount: row.bonus, players: row.bonus_players }
        )
      }
    }
    return added(found).map((held): typeof Funds.Type => ({ ...held, at: iso(at) }))
  }, orTryAgain)
})

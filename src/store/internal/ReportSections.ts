/**
 * CTEs of the commit statement that write running totals, which are summed in memory first: whatever the number of players, a commit writes a handful of
 * their rows.
 *
 * The exchange rate in effect is read by the statement itself: a rate set before it, by any service, applies to all its rows. A commit with only
 * players in their operator's own currency reads no rate.
 */
import type { Visit } from "../../domain/state/Activity.ts"
import type { Change, Figure, ReportCount } from "../../domain/state/Change.ts"
import type { Player } from "../../domain/state/Player.ts"
import type { Unit } from "../../engine/Machine.ts"
import { cast, type Column, flag, number, quoted, type Section, text } from "./StatementSections.ts"

/** Sum that stays exact beyond the safe integers. */
type Total = number | bigint

const plus = (total: Total, amount: number): Total => {
  if (typeof total === "bigint") return total + BigInt(amount)
  const sum = total + amount
  return Number.isSafeInteger(sum) ? sum : BigInt(total) + BigInt(amount)
}

/** Row of `daily_sums` without its exchange rate. */
export interface SumsRow {
  readonly operatorId: number
  readonly day: number
  readonly isTest: boolean
  readonly currency: string
  /** Index of the currency pair among the rates read by the commit; null in the operator's own currency. */
  readonly pair: number | null
  /** 0 when not of a game. */
  readonly providerId: number
  readonly isLive: boolean
  entries: number
  readonly totals: { [figure in Figure]: Total }
  bonusBets: Total
}

/** Row of `daily_players`. */
export interface PlayersRow {
  readonly operatorId: number
  readonly day: number
  readonly previousDay: number
  readonly kind: Visit["kind"]
  readonly isTest: boolean
  players: number
}

/** A currency and the operator's currency that it is converted to. */
export interface RatePair {
  readonly pair: number
  readonly currency: string
  readonly base: string
}

/** Exchange rates read by one commit. */
export class RatePairs {
  private readonly byOwner = new Map<string, RatePair | null>()
  private readonly pairs: Array<RatePair> = []

  /** Index of the player's currency pair; null when the currency is the operator's own. */
  placeOf(
    { baseCurrency, currency, operatorId }: Pick<Player, "baseCurrency" | "currency" | "operatorId">
  ): number | null {
    // one base currency per operator, even if two players were loaded with different ones because staff changed it in between: a row of sums has one
    // rate
    const key = `${operatorId} ${currency}`
    const found = this.byOwner.get(key)
    if (found !== undefined) return found?.pair ?? null
    const added = currency === baseCurrency ? null : { pair: this.pairs.length, currency, base: baseCurrency }
    this.byOwner.set(key, added)
    if (added === null) return null
    this.pairs.push(added)
    return added.pair
  }

  get all(): ReadonlyArray<RatePair> {
    return this.pairs
  }
}

/** Report rows of a commit. */
interface ReportRows {
  readonly sums: ReadonlyArray<SumsRow>
  readonly players: ReadonlyArray<PlayersRow>
}

const add = (row: SumsRow, { amount, bonusAmount, figure }: ReportCount): void => {
  if (figure !== "rounds") row.entries++
  row.totals[figure] = plus(row.totals[figure], amount)
  if (bonusAmount !== 0) row.bonusBets = plus(row.bonusBets, bonusAmount)
}

/** Sums the counts of the units. Rows are in the same order in every commit, so that two cannot deadlock. */
export const reportRows = (units: ReadonlyArray<Unit<Player, Change>>, pairs: RatePairs): ReportRows => {
  const sums = new Map<string, SumsRow>()
  const players = new Map<string, PlayersRow>()
  let row: SumsRow | undefined
  for (const { after, changes } of units) {
    const { currency, isTest, operatorId } = after
    for (const { counts, visits } of changes) {
      for (const count of counts) {
        const providerId = count.source?.providerId ?? 0
        const isLive = count.source?.isLive ?? false
        // consecutive counts are usually of the same row
        if (
          row === undefined || row.providerId !== providerId || row.isLive !== isLive || row.day !== count.day ||
          row.operatorId !== operatorId || row.currency !== currency || row.isTest !== isTest
        ) {
          const key = `${operatorId} ${isTest} ${currency} ${count.day} ${providerId} ${isLive}`
          row = sums.get(key)
          if (row === undefined) {
            row = {
              operatorId,
              day: count.day,
              isTest,
              currency,
              pair: pairs.placeOf(after),
              providerId,
              isLive,
              entries: 0,
              totals: {
                rounds: 0,
                bets: 0,
                wins: 0,
                bonus_conversions: 0,
                deposits: 0,
                chargebacks: 0,
                withdrawals: 0
              },
              bonusBets: 0
            }
            sums.set(key, row)
          }
        }
        add(row, count)
      }
      for (const { day, kind, players: more, previousDay } of visits) {
        const key = `${operatorId} ${isTest} ${day} ${previousDay} ${kind}`
        const visited = players.get(key)
        if (visited === undefined) players.set(key, { operatorId, day, previousDay, kind, isTest, players: more })
        else visited.players += more
      }
    }
  }
  return { sums: inOrder(sums), players: inOrder(players) }
}

const inOrder = <Row>(rows: ReadonlyMap<string, Row>): ReadonlyArray<Row> =>
  rows.size < 2 ? [...rows.values()] : [...rows].sort(([a], [b]) => a < b ? -1 : 1).map(([, row]) => row)

/** Days are passed as numbers. */
const dayColumn = <Row>(name: string, value: (row: Row) => number): Column<Row> => ({
  ...number(name, value),
  type: "date"
})

const castDay = (name: string): string => `date '1970-01-01' + u."${name}"::integer`

const sumColumns: ReadonlyArray<Column<SumsRow>> = [
  number("operator_id", (row) => row.operatorId),
  dayColumn("day", (row) => row.day),
  flag("is_test", (row) => row.isTest),
  text("currency", (row) => row.currency),
  number("provider_id", (row) => row.providerId),
  flag("is_live", (row) => row.isLive),
  number("entries", (row) => row.entries),
  // as text: a sum may exceed the exact range of a number on the wire
  text("rounds", (row) => String(row.totals.rounds), "bigint"),
  text("bets", (row) => String(row.totals.bets), "bigint"),
  text("bonus_bets", (row) => String(row.bonusBets), "bigint"),
  text("wins", (row) => String(row.totals.wins), "bigint"),
  text("bonus_conversions", (row) => String(row.totals.bonus_conversions), "bigint"),
  text("deposits", (row) => String(row.totals.deposits), "bigint"),
  text("chargebacks", (row) => String(row.totals.chargebacks), "bigint"),
  text("withdrawals", (row) => String(row.totals.withdrawals), "bigint")
]

const figures = sumColumns.slice(6).map(({ name }) => name)

/** Shards the sums by the journal's connection: two of three nodes seldom share one; after a reconnect new rows are started. */
const shard = "pg_backend_pid() & 63"

const castAny = <Row>(column: Column<Row>): string => column.type === "date" ? castDay(column.name) : cast(column)

const sumsQuery = (rate: string) => (source: string): string =>
  `INSERT INTO daily_sums AS s (${
    sumColumns.map(({ name }) => quoted(name)).join(", ")
  }, exchange_rate_id, shard) SELECT ${
    sumColumns.map(castAny).join(", ")
  }, ${rate}, ${shard} FROM ${source} ON CONFLICT (operator_id, day, provider_id, is_live, currency, exchange_rate_id, is_test, shard) DO UPDATE SET ${
    figures.map((name) => `${name} = s.${name} + excluded.${name}`).join(", ")
  }`

/** Column with the index of the row's currency pair. */
const pairColumn = <Row>(value: (row: Row) => number | null): Column<Row> => number("pair", value)

/** Rate of a row with a {@link pairColumn}; null without one. */
export const rateOfPair = `(SELECT x.id FROM rates x WHERE x.pair = u."pair")`

/** Rates of the commit: the latest of each pair, null for a pair without any. */
export const rates: Section<RatePair> = {
  columns: [
    number("pair", (row) => row.pair),
    text("currency", (row) => row.currency),
    text("base", (row) => row.base)
  ],
  query: (source) =>
    `SELECT u."pair", (SELECT x.id FROM exchange_rates x WHERE x.currency = u."currency" AND x.base = u."base" ORDER BY x.id DESC LIMIT 1) AS id FROM ${source}`
}

export const sums: Section<SumsRow> = { columns: sumColumns, query: sumsQuery("0") }

/** Like {@link sums}, for players with a currency other than their operator's. */
export const convertedSums: Section<SumsRow> = {
  columns: [...sumColumns, pairColumn((row) => row.pair)],
  query: sumsQuery(`coalesce(${rateOfPair}, 0)`)
}

const playerColumns: ReadonlyArray<Column<PlayersRow>> = [
  number("operator_id", (row) => row.operatorId),
  dayColumn("day", (row) => row.day),
  dayColumn("previous_day", (row) => row.previousDay),
  text("kind", (row) => row.kind),
  flag("is_test", (row) => row.isTest),
  number("players", (row) => row.players)
]

export const players: Section<PlayersRow> = {
  columns: playerColumns,
  query: (source) =>
    `INSERT INTO daily_players AS s (${playerColumns.map(({ name }) => quoted(name)).join(", ")}, shard) SELECT ${
      playerColumns.map(castAny).join(", ")
    }, ${shard} FROM ${source} ON CONFLICT (operator_id, day, previous_day, kind, is_test, shard) DO UPDATE SET players = s.players + excluded.players`
}

/** Rows of players with a currency other than their operator's, each with the index of its rate. */
export interface Converted<Row> {
  readonly row: Row
  readonly pair: number | null
}

export const converted = <Row>(columns: ReadonlyArray<Column<Row>>): ReadonlyArray<Column<Converted<Row>>> => [
  ...columns.map((column) => ({ ...column, value: ({ row }: Converted<Row>) => column.value(row) })),
  pairColumn(({ pair }: Converted<Row>) => pair)
]

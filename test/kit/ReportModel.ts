/**
 * Reference computation of a report: over every ledger entry and every payout, with exact fractions. Facts that the
 * tables do not hold come from the test's notes: provider and type of an entry, opening time of rounds,
 * and their players.
 */
import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Operator } from "../../src/domain/state/Operator.ts"

export interface Source {
  readonly providerId: number
  readonly isLive: boolean
}

/** Notes of a test while it plays. */
export class ReportNotes {
  /** By ledger entry; null for a prize, which counts nowhere. */
  readonly sources = new Map<number, Source | null>()
  readonly bets: Array<{ readonly playerId: number; readonly at: number; readonly isLive: boolean }> = []
  readonly rounds: Array<{ readonly playerId: number; readonly at: number; readonly source: Source }> = []
  /** Withdrawals paid out. */
  readonly payouts: Array<
    { readonly playerId: number; readonly at: number; readonly amount: number; readonly rate: number | null }
  > = []
}

const Entries = Schema.Array(Schema.Struct({
  id: Schema.Number,
  playerId: Schema.Number,
  wallet: Schema.String,
  type: Schema.String,
  amount: Schema.Number,
  rateId: Schema.NullOr(Schema.Number),
  at: Schema.Date
}))
const Players = Schema.Array(Schema.Struct({
  id: Schema.Number,
  currency: Schema.String,
  isTest: Schema.Boolean,
  registeredAt: Schema.Date
}))
const Rates = Schema.Array(Schema.Struct({ id: Schema.Number, rate: Schema.String, currency: Schema.String }))

/** Digits behind the point, of the currencies that the tests use. */
export const digitsOf = (currency: string): number => ({ JPY: 0, KWD: 3 })[currency] ?? 2

/** A fraction with a power of ten below. */
const scale = 20n
const one = 10n ** scale

/** One minor unit of a currency in minor units of the base, times `one`. */
const factorOf = (rate: string, currency: string, base: string): bigint => {
  const [whole = "0", decimals = ""] = rate.split(".")
  const units = BigInt(whole + decimals) * one / 10n ** BigInt(decimals.length)
  const shift = digitsOf(base) - digitsOf(currency)
  return shift >= 0 ? units * 10n ** BigInt(shift) : units / 10n ** BigInt(-shift)
}

/** Half away from zero. */
const round = (value: bigint): number => {
  const magnitude = ((value < 0n ? -value : value) * 2n + one) / (2n * one)
  return Number(value < 0n ? -magnitude : magnitude)
}

const figures = ["bets", "bonus_bets", "wins", "bonus_conversions", "deposits", "chargebacks", "withdrawals"] as const
type Figure = (typeof figures)[number]

class Sums {
  readonly values = new Map<Figure, bigint>()
  rounds = 0
  entries = 0

  add(figure: Figure, value: bigint): void {
    this.values.set(figure, (this.values.get(figure) ?? 0n) + value)
  }

  of(figure: Figure): number {
    return round(this.values.get(figure) ?? 0n)
  }
}

const day = (at: Date | number): string => new Date(at).toISOString().slice(0, 10)

export interface Range {
  readonly from: string
  readonly to: string
  readonly includeTestPlayers: boolean
}

const iso = (at: number): string => day(at)

/** Reads the tables once; gives the report of any range. */
export const slowReports = Effect.fnUntraced(function*(
  operator: Operator,
  notes: ReportNotes,
  names: ReadonlyMap<number, string>
) {
  const sql = yield* SqlClient.SqlClient
  const players = yield* sql`SELECT id::float8 AS id, currency, is_test AS "isTest", created_at AS "registeredAt"
    FROM players WHERE operator_id = ${operator.id}`.pipe(Effect.flatMap(Schema.decodeUnknownEffect(Players)))
  const entries =
    yield* sql`SELECT id::float8 AS id, player_id::float8 AS "playerId", wallet, type, amount::float8 AS amount,
      exchange_rate_id::float8 AS "rateId", created_at AS at FROM ledger_entries WHERE operator_id = ${operator.id}`
      .pipe(
        Effect.flatMap(Schema.decodeUnknownEffect(Entries))
      )
  const rates = new Map(
    (yield* sql`SELECT id::float8 AS id, rate::text AS rate, currency FROM exchange_rates`.pipe(
      Effect.flatMap(Schema.decodeUnknownEffect(Rates))
    )).map((rate) => [rate.id, rate])
  )
  const byId = new Map(players.map((player) => [player.id, player]))

  return ({ from, includeTestPlayers, to }: Range) => {
    const counts = (playerId: number, at: Date | number): boolean => {
      const player = byId.get(playerId)
      return player !== undefined && (includeTestPlayers || !player.isTest) && day(at) >= from && day(at) <= to
    }
    const total = new Sums()
    const types = { rng: new Sums(), live: new Sums() }
    const providers = new Map<number, Sums>()
    const unconverted = new Map<string, Sums>()
    const sumsOf = <Key>(map: Map<Key, Sums>, key: Key): Sums => {
      const found = map.get(key) ?? new Sums()
      map.set(key, found)
      return found
    }
    const book = (
      playerId: number,
      rateId: number | null,
      source: Source | null,
      amounts: ReadonlyArray<readonly [Figure, number]>
    ): void => {
      const { currency } = byId.get(playerId) ?? assert.fail("an entry of nobody")
      const rate = rateId === null ? undefined : rates.get(rateId)
      const factor = currency === operator.currency
        ? one
        : rate === undefined
        ? undefined
        : factorOf(rate.rate, currency, operator.currency)
      if (factor === undefined) sumsOf(unconverted, currency).entries++
      for (const [figure, amount] of amounts) {
        if (factor === undefined) {
          sumsOf(unconverted, currency).add(figure, BigInt(amount) * one)
        } else {
          const value = BigInt(amount) * factor
          total.add(figure, value)
          if (source !== null) {
            types[source.isLive ? "live" : "rng"].add(figure, value)
            sumsOf(providers, source.providerId).add(figure, value)
          }
        }
      }
    }
    const bet = (wallet: string, amount: number): ReadonlyArray<readonly [Figure, number]> =>
      wallet === "bonus" ? [["bets", amount], ["bonus_bets", amount]] : [["bets", amount]]
    const depositors = new Set<number>()
    for (const { amount, at, id, playerId, rateId, type, wallet } of entries) {
      if (!counts(playerId, at)) continue
      const source = notes.sources.get(id)
      if (type === "casino_bet" || type === "casino_win" || type === "casino_rollback") {
        if (source === undefined) assert.fail(`nobody noted entry ${id}, a ${type}`)
        if (source === null) continue
        if (type === "casino_bet" || (type === "casino_rollback" && amount > 0)) {
          book(playerId, rateId, source, bet(wallet, -amount))
        } else {
          book(playerId, rateId, source, [["wins", amount]])
        }
      } else if (type === "bonus_conversion" && wallet === "real") {
        book(playerId, rateId, null, [["bonus_conversions", amount]])
      } else if (type === "deposit") {
        book(playerId, rateId, null, [["deposits", amount]])
        depositors.add(playerId)
      } else if (type === "chargeback") {
        book(playerId, rateId, null, [["chargebacks", -amount]])
      }
    }
    const payouts = notes.payouts.filter(({ at, playerId }) => counts(playerId, at))
    for (const { amount, playerId, rate } of payouts) book(playerId, rate, null, [["withdrawals", amount]])
    for (const { at, playerId, source } of notes.rounds) {
      if (!counts(playerId, at)) continue
      total.rounds++
      types[source.isLive ? "live" : "rng"].rounds++
      sumsOf(providers, source.providerId).rounds++
    }
    const bets = notes.bets.filter(({ at, playerId }) => counts(playerId, at))
    const different = (noted: ReadonlyArray<{ readonly playerId: number }>): number =>
      new Set(noted.map(({ playerId }) => playerId)).size
    const play = (sums: Sums, players: number) => ({
      bets: sums.of("bets"),
      wins: sums.of("wins"),
      ggr: sums.of("bets") - sums.of("wins"),
      rounds: sums.rounds,
      players
    })
    const casino = play(total, different(bets))
    const deposits = total.of("deposits") - total.of("chargebacks")
    return {
      from,
      to,
      currency: operator.currency,
      include_test_players: includeTestPlayers,
      casino: {
        ...casino,
        by_type: {
          rng: play(types.rng, different(bets.filter(({ isLive }) => !isLive))),
          live: play(types.live, different(bets.filter(({ isLive }) => isLive)))
        },
        by_provider: [...providers].map(([provider_id, sums]) => ({
          provider_id,
          provider: names.get(provider_id) ?? "",
          bets: sums.of("bets"),
          wins: sums.of("wins"),
          ggr: sums.of("bets") - sums.of("wins"),
          bonus_bets: sums.of("bonus_bets"),
          rounds: sums.rounds
        })).filter(({ bets: staked, bonus_bets, rounds, wins }) =>
          staked !== 0 || wins !== 0 || bonus_bets !== 0 || rounds !== 0
        ).toSorted((a, b) => a.provider < b.provider ? -1 : 1)
      },
      bonus_conversions: total.of("bonus_conversions"),
      net_gaming_revenue: casino.ggr - total.of("bonus_conversions"),
      payments: {
        deposits,
        depositing_players: depositors.size,
        withdrawals: total.of("withdrawals"),
        withdrawing_players: different(payouts),
        net_deposits: deposits - total.of("withdrawals"),
        chargebacks: total.of("chargebacks")
      },
      players: {
        registered: players.filter(({ id, registeredAt }) => counts(id, registeredAt)).length
      },
      unconverted: [...unconverted].map(([currency, sums]) => ({
        currency,
        entries: sums.entries,
        bets: sums.of("bets"),
        wins: sums.of("wins"),
        bonus_bets: sums.of("bonus_bets"),
        bonus_conversions: sums.of("bonus_conversions"),
        deposits: sums.of("deposits") - sums.of("chargebacks"),
        chargebacks: sums.of("chargebacks"),
        withdrawals: sums.of("withdrawals")
      })).toSorted((a, b) => a.currency < b.currency ? -1 : 1)
    }
  }
})

export { iso as dayText }

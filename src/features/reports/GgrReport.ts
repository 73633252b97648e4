/** Assembles the GGR (gross gaming revenue) report from its sums (SPEC section 2.10). Pure. */

import { Schema } from "effect"

/** Figures of one group of sums, in minor units: rounded and converted; sums without a rate in their own currency. */
export const groupFigures = {
  bets: Schema.Number,
  bonus_bets: Schema.Number,
  wins: Schema.Number,
  bonus_conversions: Schema.Number,
  deposits: Schema.Number,
  chargebacks: Schema.Number,
  withdrawals: Schema.Number
}

export const GroupSums = Schema.Struct({ ...groupFigures, rounds: Schema.Number })

export type GroupSums = typeof GroupSums.Type

type GroupFigures = Omit<GroupSums, "rounds">

/** Sums of a range of days as read. */
export interface ReportSums {
  readonly total: GroupSums
  readonly byType: ReadonlyArray<GroupSums & { readonly isLive: boolean }>
  readonly byProvider: ReadonlyArray<GroupSums & { readonly providerId: number; readonly provider: string }>
  readonly unconverted: ReadonlyArray<GroupFigures & { readonly currency: string; readonly entries: number }>
  /** Distinct players by activity. */
  readonly players: ReadonlyMap<string, number>
  readonly registered: number
}

export interface ReportHead {
  readonly from: string
  readonly to: string
  readonly currency: string
  readonly include_test_players: boolean
}

export const noSums: GroupSums = {
  rounds: 0,
  bets: 0,
  bonus_bets: 0,
  wins: 0,
  bonus_conversions: 0,
  deposits: 0,
  chargebacks: 0,
  withdrawals: 0
}

const play = ({ bets, rounds, wins }: GroupSums, players: number) => ({
  bets,
  wins,
  ggr: bets - wins,
  rounds,
  players
})

/** Deposits are net of chargebacks, which are reported beside them. */
const collected = ({ chargebacks, deposits }: GroupFigures): number => deposits - chargebacks

const isPlayed = (group: GroupSums): boolean =>
  group.bets !== 0 || group.wins !== 0 || group.bonus_bets !== 0 || group.rounds !== 0

/** The report's fields. Differences are taken of rounded figures, so that they add up. */
export const ggrReport = (head: ReportHead, sums: ReportSums) => {
  const { byProvider, byType, total, unconverted } = sums
  const players = (kind: string): number => sums.players.get(kind) ?? 0
  const type = (isLive: boolean) =>
    play(byType.find((group) => group.isLive === isLive) ?? noSums, players(isLive ? "live" : "rng"))
  const casino = play(total, players("casino"))
  return {
    from: head.from,
    to: head.to,
    currency: head.currency,
    include_test_players: head.include_test_players,
    casino: {
      ...casino,
      by_type: { rng: type(false), live: type(true) },
      by_provider: byProvider.filter(isPlayed).map(({ provider, providerId, ...group }) => ({
        provider_id: providerId,
        provider,
        bets: group.bets,
        wins: group.wins,
        ggr: group.bets - group.wins,
        bonus_bets: group.bonus_bets,
        rounds: group.rounds
      }))
    },
    bonus_conversions: total.bonus_conversions,
    net_gaming_revenue: casino.ggr - total.bonus_conversions,
    payments: {
      deposits: collected(total),
      depositing_players: players("deposit"),
      withdrawals: total.withdrawals,
      withdrawing_players: players("withdrawal"),
      net_deposits: collected(total) - total.withdrawals,
      chargebacks: total.chargebacks
    },
    players: { registered: sums.registered },
    unconverted: unconverted.map((group) => ({
      currency: group.currency,
      entries: group.entries,
      bets: group.bets,
      wins: group.wins,
      bonus_bets: group.bonus_bets,
      bonus_conversions: group.bonus_conversions,
      deposits: collected(group),
      chargebacks: group.chargebacks,
      withdrawals: group.withdrawals
    }))
  }
}

/** The report as it is shown. */
export type GgrFields = ReturnType<typeof ggrReport>

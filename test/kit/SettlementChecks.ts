/** Shared checks of the settlement rules against their model. */
import { assert } from "@effect/vitest"
import { minute } from "./Messages.ts"
import type { Player } from "../../src/domain/state/Player.ts"
import { mustEqual, type RuleRunner } from "./RuleRunner.ts"
import type { SettlementModel } from "./SettlementModel.ts"

export type Remembers = "all" | "nothing" | "some"

/** A repeatable sequence of chances. */
const makeChances = (seed: number) => {
  let state = seed + 1
  return (): number => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9 | 0
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32
  }
}

/** Says after each command whether a player leaves memory. */
export const forgetting = (remembers: Remembers, seed: number): () => boolean => {
  const chance = makeChances(seed)
  switch (remembers) {
    case "all":
      return () => false
    case "nothing":
      return () => true
    case "some":
      return () => chance() < 0.4
  }
}

/** Checks the counters of limits against the model's list of events. */
export const checkCounters = (runner: RuleRunner, model: SettlementModel, playerId: number): void => {
  const { counters } = runner.player(playerId)
  // sums of a window that has passed stay as they were until they are next used
  if (counters.at < model.now - minute) return
  const sums = [
    ["max_daily_bet", counters.betDay],
    ["max_weekly_bet", counters.betWeek],
    ["max_monthly_bet", counters.betMonth],
    ["max_daily_loss", counters.lossDay],
    ["max_weekly_loss", counters.lossWeek],
    ["max_monthly_loss", counters.lossMonth]
  ] as const
  for (const [field, sum] of sums) {
    const used = model.used(playerId, field)
    if (used !== sum) assert.strictEqual(sum, used, field)
  }
}

/**
 * Checks that each bonus is its entries: what came beside the grant is what was restored; what went without a game is forfeited, held, restored or
 * came from the real wallet; and a lost one forfeited nothing. `beginning` are the players with the bonuses that no grant brought.
 */
export const checkBonusMoney = (runner: RuleRunner, beginning: ReadonlyArray<Player>): void => {
  const given = new Set(beginning.map(({ activeBonus }) => activeBonus?.id))
  const { bonuses, entries } = runner.store.tables()
  for (const bonus of bonuses.values()) {
    const own = entries.filter(({ playerBonusId }) => playerBonusId === bonus.id)
    const sum = (type: string, wallet = "bonus") =>
      own.reduce((total, entry) => entry.type === type && entry.wallet === wallet ? total + entry.amount : total, 0)
    const { amount, converted, forfeited, held, id, late, maxConversion, restored, result, short, startedAt } = bonus
    const granted = startedAt === null || given.has(id) ? 0 : amount
    mustEqual([id, sum("bonus_correction_up")], [id, granted + restored])
    const toReal = sum("correction_up", "real") + sum("correction_down", "real")
    const gone = forfeited + (held ?? 0) + restored + toReal - short
    mustEqual([id, 0 - sum("bonus_correction_down")], [id, gone])
    mustEqual([id, short >= 0, forfeited >= 0, converted + late >= 0], [id, true, true, true])
    if (result === "lost") mustEqual([id, forfeited], [id, 0])
    if (maxConversion > 0) mustEqual([id, converted + late <= maxConversion], [id, true])
    mustEqual([id, sum("bonus_conversion", "real")], [id, converted])
    mustEqual([id, toReal + sum("casino_win", "real") + sum("casino_rollback", "real") + sum("casino_bet", "real")], [
      id,
      late
    ])
  }
}

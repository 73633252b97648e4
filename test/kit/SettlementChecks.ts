/** Shared checks of the settlement rules against their model. */
import { assert } from "@effect/vitest"
import { minute } from "./Messages.ts"
import type { RuleRunner } from "./RuleRunner.ts"
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

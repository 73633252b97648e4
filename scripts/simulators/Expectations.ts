/** Expectations that several protocols share. */
import type { Expectation, Expectations } from "./Dialect.ts"

/** Wins, rollbacks and prizes where each is taken once, whatever came of the bet: what was won is paid. */
export const takenOnce = (done: (moves: boolean) => Expectation) =>
  ({
    win: {
      new: done(true),
      duplicate: done(false),
      unknown: done(true),
      tombstoned: done(true),
      rolled_back: done(true)
    },
    rollback: {
      new: done(true),
      duplicate: done(false),
      unknown: done(false),
      tombstoned: done(false),
      rolled_back: done(false),
      settled: done(true)
    },
    promo: { new: done(true), duplicate: done(false) }
  }) satisfies Expectations

/**
 * Text codec of a player's usage of limits, as stored in one column: sixteen comma-separated numbers in a fixed order, and three more while a play
 * session runs.
 */
import { type Counters, emptyCounters } from "../../domain/state/Limits.ts"
import type { PlaySession } from "../../domain/state/PlaySession.ts"

export const encodeCounters = (counters: Counters, session: PlaySession | null): string =>
  `${counters.at},${counters.betDay},${counters.betWeek},${counters.betMonth},${counters.lossDay},${counters.lossWeek},${counters.lossMonth},${counters.depositDay},${counters.depositWeek},${counters.depositMonth},${counters.depositYear},${counters.playSince},${counters.lastBetAt},${counters.withdrawalDay},${counters.creditDay},${counters.withdrawalMonth}${
    session === null ? "" : `,${session.staked},${session.won},${session.checkedAfter}`
  }`

export const decodeCounters = (text: string): { readonly counters: Counters; readonly session: PlaySession | null } => {
  if (text === "") return { counters: emptyCounters, session: null }
  const values = text.split(",").map(Number)
  const at = (index: number): number => values[index] ?? 0
  const counters: Counters = {
    at: at(0),
    betDay: at(1),
    betWeek: at(2),
    betMonth: at(3),
    lossDay: at(4),
    lossWeek: at(5),
    lossMonth: at(6),
    depositDay: at(7),
    depositWeek: at(8),
    depositMonth: at(9),
    depositYear: at(10),
    playSince: at(11),
    lastBetAt: at(12),
    withdrawalDay: at(13),
    creditDay: at(14),
    withdrawalMonth: at(15)
  }
  return { counters, session: values.length > 16 ? { staked: at(16), won: at(17), checkedAfter: at(18) } : null }
}

/** Number of a counter in the text, from 1. */
const positionOf = (name: keyof Counters): number =>
  encodeCounters({ ...emptyCounters, [name]: 1 }, null).split(",").indexOf("1") + 1

/** SQL of one counter, of a column with the text; null where it holds no counters. */
export const counterIn = (column: string, name: keyof Counters): string =>
  `nullif(split_part(${column}, ',', ${positionOf(name)}), '')::float8`

/** Text codec of limit counters: fifteen numbers in a fixed order, comma-separated; later ones may be appended. */
import { type Counters, emptyCounters } from "../../domain/state/Limits.ts"

export const encodeCounters = (counters: Counters): string =>
  `${counters.at},${counters.betDay},${counters.betWeek},${counters.betMonth},${counters.lossDay},${counters.lossWeek},${counters.lossMonth},${counters.depositDay},${counters.depositWeek},${counters.depositMonth},${counters.depositYear},${counters.playSince},${counters.lastBetAt},${counters.withdrawalDay},${counters.creditDay}`

export const decodeCounters = (text: string): Counters => {
  if (text === "") return emptyCounters
  const values = text.split(",").map(Number)
  const at = (index: number): number => values[index] ?? 0
  return {
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
    creditDay: at(14)
  }
}

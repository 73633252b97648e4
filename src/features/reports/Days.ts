/** Validates the range of days of a report, and converts it to instants. Pure. */
import { Effect } from "effect"
import { maxPoints, type SeriesStep, stepMs } from "../../domain/Figures.ts"
import { type Refusal, refuseFields } from "../../domain/Refusal.ts"
import { parseIso } from "../../platform/Time.ts"

export const dayMs = stepMs.day

/** First and last day, `YYYY-MM-DD`, UTC. */
export interface Days {
  readonly from: string
  readonly to: string
  readonly includeTestPlayers: boolean
}

/** Instants of a range of days, or its validation errors. */
export const rangeOf = ({ from, to }: Days, step: SeriesStep): Effect.Effect<
  { readonly from: number; readonly to: number },
  Refusal<"VALIDATION_FAILED">
> => {
  const [first, last] = [parseIso(from), parseIso(to)]
  if (first === undefined || last === undefined) {
    return Effect.fail(refuseFields({ from: ["must be a date like 2026-11-20"] }))
  }
  if (last < first) return Effect.fail(refuseFields({ to: ["must not be before from"] }))
  return (last + dayMs - first) / stepMs[step] > maxPoints
    ? Effect.fail(refuseFields({
      to: [
        `must be within ${Math.floor((maxPoints * stepMs[step]) / dayMs)} days from from: ${maxPoints} points at most`
      ]
    }))
    : Effect.succeed({ from: first, to: last })
}

/** Processor time of two checkouts of the service, which answered the same traffic in the same rounds. */
import type { RoundResult } from "../load/Round.ts"
import { figure, type Headline, type Measurement } from "./Result.ts"
import { median, quantile } from "./Statistics.ts"
import type { TrafficRound } from "./TrafficReport.ts"

/** A median ratio up to this one counts as not slower, and so does any that has 1 within its quartiles. */
export const notSlower = 1.03

interface Pair {
  readonly after: RoundResult
  readonly before: RoundResult
}

const pairsOf = (rounds: ReadonlyArray<TrafficRound>, group: string): ReadonlyArray<Pair> =>
  rounds.flatMap(({ group: own, result: after, round, target }) => {
    if (own !== group || target !== "pitboss") return []
    const before = rounds.find((other) => other.group === group && other.target === "before" && other.round === round)
    return before === undefined ? [] : [{ after, before: before.result }]
  })

const serviceAlone = ({ serviceMicros }: RoundResult): number => serviceMicros

/** Processor time of the service and of PostgreSQL, µs a request. */
export const both = ({ postgresMicros, serviceMicros }: RoundResult): number => serviceMicros + postgresMicros

const ratiosOf = (pairs: ReadonlyArray<Pair>, of: (result: RoundResult) => number): ReadonlyArray<number> =>
  pairs.map(({ after, before }) => of(after) / of(before))

const compare = (name: string, pairs: ReadonlyArray<Pair>, of: (result: RoundResult) => number): Measurement => {
  const ratios = ratiosOf(pairs, of)
  return {
    group: "processor time of a request, before and after",
    name,
    figures: [
      figure("after", "µs", "lower", pairs.map(({ after }) => of(after))),
      figure("before", "µs", "neither", pairs.map(({ before }) => of(before))),
      figure("after ÷ before", "×", "lower", ratios),
      figure("lower quartile", "×", "neither", [quantile(ratios, 0.25)]),
      figure("upper quartile", "×", "neither", [quantile(ratios, 0.75)])
    ],
    errors: {}
  }
}

const headlineOf = (name: string, pairs: ReadonlyArray<Pair>): Headline => {
  const ratios = ratiosOf(pairs, both)
  const [middle, low, high] = [median(ratios), quantile(ratios, 0.25), quantile(ratios, 0.75)]
  const isNotSlower = middle <= notSlower || low <= 1 && high >= 1
  return {
    value: `${middle.toFixed(3)}×`,
    label: `the processor time of before, ${name} (quartiles ${low.toFixed(3)}–${high.toFixed(3)}): ${
      isNotSlower ? "not slower" : "not shown"
    }`
  }
}

/** A row and a headline for each group of traffic that was sent to `pitboss` and to `before`; none where only one ran. */
export const measureBeforeAndAfter = (
  rounds: ReadonlyArray<TrafficRound>
): { readonly measurements: ReadonlyArray<Measurement>; readonly headlines: ReadonlyArray<Headline> } => {
  const compared = [...new Set(rounds.map(({ group }) => group))].flatMap((group) => {
    const pairs = pairsOf(rounds, group)
    return pairs.length === 0 ? [] : [{ group, pairs }]
  })
  return {
    measurements: compared.flatMap(({ group, pairs }) => [
      compare(group, pairs, both),
      compare(`${group}, service alone`, pairs, serviceAlone)
    ]),
    headlines: compared.map(({ group, pairs }) => headlineOf(group, pairs))
  }
}

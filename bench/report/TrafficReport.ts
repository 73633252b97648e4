import type { Histogram } from "hdr-histogram-js"
import { addCounts, type RoundResult } from "../load/Round.ts"
import { makeHistogram, summarize } from "../load/Latency.ts"
import { curveOf, type Figure, figure, type Measurement } from "./Result.ts"
import { median } from "./Statistics.ts"

/** One round as it is reported. */
export interface TrafficRound {
  readonly round: number
  /** What is looked at together: the targets under one mix. */
  readonly group: string
  readonly target: string
  readonly result: RoundResult
}

export const addHistograms = (histograms: ReadonlyArray<Histogram>): Histogram => {
  const sum = makeHistogram()
  for (const histogram of histograms) sum.add(histogram)
  return sum
}

/** The round whose throughput is nearest to the middle. */
export const middleRound = <A extends { readonly perSecond: number }>(rounds: ReadonlyArray<A>): A | undefined => {
  const middle = median(rounds.map(({ perSecond }) => perSecond))
  return rounds.toSorted((one, other) => Math.abs(one.perSecond - middle) - Math.abs(other.perSecond - middle))[0]
}

/** The ratio is taken within each round, where both ran within seconds of each other. */
const ratios = (own: ReadonlyArray<TrafficRound>, other: ReadonlyArray<TrafficRound>): ReadonlyArray<number> =>
  own.flatMap(({ result, round }) => {
    const counterpart = other.find((candidate) => candidate.round === round)
    return counterpart === undefined ? [] : [result.perSecond / counterpart.result.perSecond]
  })

/** The figures of latency, one value per round. */
export const latencyFigures = (rounds: ReadonlyArray<Histogram>): ReadonlyArray<Figure> => {
  const summaries = rounds.map(summarize)
  return [
    figure("p50", "ms", "lower", summaries.map(({ p50_ms }) => p50_ms)),
    figure("p99", "ms", "lower", summaries.map(({ p99_ms }) => p99_ms)),
    figure("p99.9", "ms", "lower", summaries.map(({ p999_ms }) => p999_ms))
  ]
}

const measureTarget = (
  all: ReadonlyArray<TrafficRound>,
  group: string,
  target: string,
  noun: string,
  references: ReadonlyArray<string>
): Measurement => {
  const of = (name: string) => all.filter((round) => round.group === group && round.target === name)
  const own = of(target)
  const results = own.map(({ result }) => result)
  const values = (pick: (result: RoundResult) => number) => results.map(pick)
  const comparisons = references.filter((name) => name !== target).flatMap((name) => {
    const found = ratios(own, of(name))
    return found.length === 0 ? [] : [figure(`× ${name}`, "×", "higher", found)]
  })
  const units = results.flatMap(({ unitsPerCommit }) => unitsPerCommit ?? [])
  const middle = middleRound(results)
  return {
    group,
    name: target,
    figures: [
      figure(noun, "/s", "higher", values(({ perSecond }) => perSecond)),
      ...latencyFigures(results.map(({ latency }) => latency)),
      ...comparisons,
      figure("CPU service", "µs", "lower", values(({ serviceMicros }) => serviceMicros)),
      ...(target === "ceiling"
        ? []
        : [figure("CPU PostgreSQL", "µs", "lower", values(({ postgresMicros }) => postgresMicros))]),
      figure("CPU generator", "µs", "neither", values(({ generatorMicros }) => generatorMicros)),
      ...(units.length === 0 ? [] : [figure("units per commit", "", "neither", units)]),
      figure("foreign load", "%", "neither", values(({ foreignShare }) => foreignShare * 100)),
      ...(results.some(({ repeated }) => repeated > 0)
        ? [figure("repeated", "", "neither", values(({ repeated }) => repeated))]
        : [])
    ],
    curve: curveOf(addHistograms(results.map(({ latency }) => latency))),
    ...(middle === undefined ? {} : { timeline: middle.timeline }),
    errors: addCounts(results)
  }
}

/** Traffic of several operations: what each took, of the service alone. */
const measureOperations = (
  all: ReadonlyArray<TrafficRound>,
  group: string,
  target: string
): ReadonlyArray<Measurement> => {
  const results = all.filter((round) => round.group === group && round.target === target).map(({ result }) => result)
  const names = [...new Set(results.flatMap(({ operations }) => Object.keys(operations)))]
  if (names.length < 2) return []
  return names.map((name) => {
    const histograms = results.flatMap(({ operations }) => operations[name] ?? [])
    return {
      group: `${group}, by operation`,
      name,
      figures: [
        ...latencyFigures(histograms),
        figure(
          "share",
          "%",
          "neither",
          results.map(({ latency, operations }) =>
            100 * (operations[name]?.totalCount ?? 0) / Math.max(1, latency.totalCount)
          )
        )
      ],
      curve: curveOf(addHistograms(histograms)),
      errors: {}
    }
  })
}

/**
 * A row per group and target, in the order in which they first ran, and per operation where there are several. Throughput is told in
 * relation to the targets named as references.
 */
export const measureTraffic = (
  rounds: ReadonlyArray<TrafficRound>,
  noun: string,
  references: ReadonlyArray<string> = ["baseline", "ceiling"]
): ReadonlyArray<Measurement> => {
  const groups = [...new Set(rounds.map(({ group }) => group))]
  const targets = [...new Set(rounds.map(({ target }) => target))]
  return groups.flatMap((group) => [
    ...targets.map((target) => measureTarget(rounds, group, target, noun, references)),
    ...measureOperations(rounds, group, "pitboss")
  ])
}

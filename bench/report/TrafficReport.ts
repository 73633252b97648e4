import type { Histogram } from "hdr-histogram-js"
import { addCounts, type RoundResult } from "../load/Round.ts"
import { makeHistogram, summarize } from "../load/Latency.ts"
import { waitOf } from "./Prometheus.ts"
import { curveOf, type Figure, figure, type Measurement } from "./Result.ts"
import { median } from "./Statistics.ts"

/** One round as it is reported. */
export interface TrafficRound {
  readonly round: number
  /** Group of rows compared with each other: the targets under one mix. */
  readonly group: string
  readonly target: string
  readonly result: RoundResult
  /** Open loop: reference of latency, the median round-trip time of one commit, ms. */
  readonly commit_ms?: number
}

/** Required value of a figure, by group, row and name; undefined without a requirement. */
export type Bars = (group: string, target: string, figure: string) => number | undefined

/** Optional figures of `measureTraffic` in addition to throughput, latency and cost. */
export interface ReportOptions {
  /** Reference targets of ratios. */
  readonly references?: ReadonlyArray<string>
  readonly bars?: Bars
}

const noBars: Bars = () => undefined
const allReferences = ["baseline", "one-statement", "ceiling", "before"]

export const addHistograms = (histograms: ReadonlyArray<Histogram>): Histogram => {
  const sum = makeHistogram()
  for (const histogram of histograms) sum.add(histogram)
  return sum
}

/** Round with the throughput nearest to the median. */
export const middleRound = <A extends { readonly perSecond: number }>(rounds: ReadonlyArray<A>): A | undefined => {
  const middle = median(rounds.map(({ perSecond }) => perSecond))
  return rounds.toSorted((one, other) => Math.abs(one.perSecond - middle) - Math.abs(other.perSecond - middle))[0]
}

/** The ratio is taken within each round, where both ran within seconds of each other. */
const ratios = (
  own: ReadonlyArray<TrafficRound>,
  other: ReadonlyArray<TrafficRound>,
  of: (result: RoundResult) => number = ({ perSecond }) => perSecond
): ReadonlyArray<number> =>
  own.flatMap(({ result, round }) => {
    const counterpart = other.find((candidate) => candidate.round === round)
    return counterpart === undefined ? [] : [of(result) / of(counterpart.result)]
  })

const latencyOf = (percentile: "p50_ms" | "p99_ms") => ({ latency }: RoundResult): number =>
  summarize(latency)[percentile]

/** Figures of an open loop: latency relative to a commit and to the baseline. */
const openLoopFigures = (
  own: ReadonlyArray<TrafficRound>,
  baseline: ReadonlyArray<TrafficRound>
): ReadonlyArray<Figure> => {
  const commits = own.flatMap(({ commit_ms, result }) =>
    commit_ms === undefined ? [] : [{ commit_ms, sent_ms: summarize(result.served).p50_ms }]
  )
  if (commits.length === 0) return []
  const against = ([["p50", "p50_ms"], ["p99", "p99_ms"]] as const).flatMap(([name, percentile]) => {
    const found = ratios(own, baseline, latencyOf(percentile))
    return found.length === 0 ? [] : [figure(`${name} ÷ baseline`, "×", "lower", found)]
  })
  return [
    figure("p50 from sending", "ms", "lower", commits.map(({ sent_ms }) => sent_ms)),
    figure("p50 ÷ one commit", "×", "lower", commits.map(({ commit_ms, sent_ms }) => sent_ms / commit_ms)),
    ...against,
    figure("sent late, p99", "ms", "neither", own.map(({ result }) => result.sendDelayP99_ms))
  ]
}

const writingFigures = (results: ReadonlyArray<RoundResult>): ReadonlyArray<Figure> => {
  const writings = results.flatMap(({ writing }) => writing ?? [])
  return writings.length === 0 ? [] : [
    figure("WAL per request", "bytes", "lower", writings.map(({ bytesPerRequest }) => bytesPerRequest)),
    figure("full pages per request", "", "neither", writings.map(({ fullPagesPerRequest }) => fullPagesPerRequest)),
    figure("commits", "/s", "neither", writings.map(({ commitsPerSecond }) => commitsPerSecond)),
    figure("checkpoints", "", "neither", writings.map(({ checkpoints }) => checkpoints))
  ]
}

/** Waits of requests in the service: the slowest hundredth of each, and the median of those for commits, which every request has. */
const waitFigures = (results: ReadonlyArray<RoundResult>): ReadonlyArray<Figure> =>
  [...results[0]?.waits?.keys() ?? []].flatMap((name) =>
    (name.startsWith("commit") ? [50, 99] : [99]).flatMap((percentile) => {
      const values = results.flatMap(({ waits }) => waitOf(waits?.get(name) ?? [], percentile / 100) ?? [])
      return values.length === 0 ? [] : [figure(`${name}, p${percentile}`, "ms", "neither", values)]
    })
  )

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
  groups: ReadonlyArray<string>,
  target: string,
  noun: string,
  { bars = noBars, references = allReferences }: ReportOptions
): Measurement => {
  const of = (name: string) => all.filter((round) => round.group === group && round.target === name)
  const own = of(target)
  const results = own.map(({ result }) => result)
  const values = (pick: (result: RoundResult) => number) => results.map(pick)
  const isOpen = own.some(({ commit_ms }) => commit_ms !== undefined)
  const comparisons = isOpen ? [] : references.filter((name) => name !== target).flatMap((name) => {
    const found = ratios(own, of(name))
    return found.length === 0 ? [] : [figure(`× ${name}`, "×", "higher", found)]
  })
  const first = groups[0]
  const againstFirst = isOpen || first === undefined || first === group
    ? []
    : ratios(own, all.filter((round) => round.group === first && round.target === target))
  const units = results.flatMap(({ unitsPerCommit }) => unitsPerCommit ?? [])
  const middle = middleRound(results)
  return {
    group,
    name: target,
    figures: [
      figure(noun, "/s", "higher", values(({ perSecond }) => perSecond)),
      ...latencyFigures(results.map(({ latency }) => latency)),
      ...comparisons,
      ...(againstFirst.length === 0 ? [] : [figure(`× ${first}`, "×", "higher", againstFirst)]),
      ...openLoopFigures(own, target === "baseline" ? [] : of("baseline")),
      figure("CPU service", "µs", "lower", values(({ serviceMicros }) => serviceMicros)),
      ...(target === "ceiling"
        ? []
        : [figure("CPU PostgreSQL", "µs", "lower", values(({ postgresMicros }) => postgresMicros))]),
      figure("CPU generator", "µs", "neither", values(({ generatorMicros }) => generatorMicros)),
      ...(units.length === 0 ? [] : [figure("units per commit", "", "neither", units)]),
      ...writingFigures(results),
      ...waitFigures(results),
      figure("foreign load", "%", "neither", values(({ foreignShare }) => foreignShare * 100)),
      ...(results.some(({ repeated }) => repeated > 0)
        ? [figure("repeated", "", "neither", values(({ repeated }) => repeated))]
        : [])
    ].map((each) => {
      const bar = bars(group, target, each.name)
      return bar === undefined ? each : { ...each, limit: bar }
    }),
    curve: curveOf(addHistograms(results.map(({ latency }) => latency))),
    ...(middle === undefined ? {} : { timeline: middle.timeline }),
    errors: addCounts(results)
  }
}

/** Latency per operation, of the service alone, for traffic of several operations. */
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
 * A row per group and target, in the order in which they first ran, and per operation where there are several. Throughput is reported in
 * relation to the targets named as references and to the same target's in the first group.
 */
export const measureTraffic = (
  rounds: ReadonlyArray<TrafficRound>,
  noun: string,
  options: ReportOptions = {}
): ReadonlyArray<Measurement> => {
  const groups = [...new Set(rounds.map(({ group }) => group))]
  const targetsOf = (group: string) => new Set(rounds.flatMap((round) => round.group === group ? [round.target] : []))
  return groups.flatMap((group) => [
    ...[...targetsOf(group)].map((target) => measureTarget(rounds, group, groups, target, noun, options)),
    ...measureOperations(rounds, group, "pitboss")
  ])
}

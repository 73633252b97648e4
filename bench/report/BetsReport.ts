import type { RoundResult } from "../load/Round.ts"
import type { BetsOptions, BetsRound, MixName } from "../scenarios/Bets.ts"
import type { TargetName } from "../targets/Target.ts"
import type { Machine } from "./Machine.ts"
import { median, type Spread, spread } from "./Statistics.ts"
import { renderTable } from "./Table.ts"

/** All rounds of one target under one mix. */
export interface BetsSummary {
  readonly mix: MixName
  readonly target: TargetName
  readonly perSecond: Spread
  readonly p50_ms: Spread
  readonly p99_ms: Spread
  readonly p999_ms: Spread
  readonly errors: Readonly<Record<string, number>>
  /** Throughput in relation to the other target of the same round; undefined when that did not run. */
  readonly toBaseline: Spread | undefined
  readonly toCeiling: Spread | undefined
  readonly serviceMicros: number
  readonly postgresMicros: number
  readonly generatorMicros: number
  readonly unitsPerCommit: number | undefined
  readonly foreignShare: number
  readonly repeated: number
}

/** The ratio is taken within each round, where both ran within seconds of each other, and then summarized. */
const ratio = (own: ReadonlyArray<BetsRound>, other: ReadonlyArray<BetsRound>): Spread | undefined => {
  const values = own.flatMap(({ result, round }) => {
    const counterpart = other.find((candidate) => candidate.round === round)
    return counterpart === undefined ? [] : [result.perSecond / counterpart.result.perSecond]
  })
  return values.length === 0 ? undefined : spread(values)
}

const summarizeOne = (mix: MixName, target: TargetName, rounds: ReadonlyArray<BetsRound>): BetsSummary => {
  const of = (name: TargetName) => rounds.filter((round) => round.mix === mix && round.target === name)
  const own = of(target)
  const values = (pick: (result: RoundResult) => number) => own.map(({ result }) => pick(result))
  const errors: Record<string, number> = {}
  for (const { result } of own) {
    for (const [code, count] of Object.entries(result.errors)) errors[code] = (errors[code] ?? 0) + count
  }
  const units = own.flatMap(({ result }) => result.unitsPerCommit ?? [])
  return {
    mix,
    target,
    perSecond: spread(values((result) => result.perSecond)),
    p50_ms: spread(values((result) => result.latency.p50_ms)),
    p99_ms: spread(values((result) => result.latency.p99_ms)),
    p999_ms: spread(values((result) => result.latency.p999_ms)),
    errors,
    toBaseline: ratio(own, of("baseline")),
    toCeiling: ratio(own, of("ceiling")),
    serviceMicros: median(values((result) => result.serviceMicros)),
    postgresMicros: median(values((result) => result.postgresMicros)),
    generatorMicros: median(values((result) => result.generatorMicros)),
    unitsPerCommit: units.length === 0 ? undefined : median(units),
    foreignShare: median(values((result) => result.foreignShare)),
    repeated: values((result) => result.repeated).reduce((sum, count) => sum + count, 0)
  }
}

/** One summary per mix and target, in the order in which they first ran. */
export const summarizeBets = (rounds: ReadonlyArray<BetsRound>): ReadonlyArray<BetsSummary> =>
  rounds.filter(({ round }) => round === 1).map(({ mix, target }) => summarizeOne(mix, target, rounds))

const number = (value: number): string => Math.round(value).toLocaleString("en-US")
const milliseconds = (value: number): string => value.toFixed(value < 10 ? 2 : 1)
const times = (value: number): string => `${value.toFixed(2)}×`
const percent = (share: number): string => `${Math.round(share * 100)}%`

const withRange = (format: (value: number) => string, { max, median, min }: Spread): string =>
  min === max ? format(median) : `${format(median)} (${format(min)}–${format(max)})`

const renderErrors = (errors: Readonly<Record<string, number>>): string => {
  const entries = Object.entries(errors)
  return entries.length === 0 ? "0" : entries.map(([code, count]) => `${count} ${code}`).join(", ")
}

/** One finished round in a line. */
export const renderRound = (result: RoundResult): string =>
  [
    `${number(result.perSecond).padStart(7)}/s`,
    `p50 ${milliseconds(result.latency.p50_ms)} ms`,
    `p99 ${milliseconds(result.latency.p99_ms)} ms`,
    `errors ${renderErrors(result.errors)}`,
    `foreign load ${percent(result.foreignShare)}`
  ].join("  ")

const header = [
  "target",
  "bets/s",
  "p50 ms",
  "p99 ms",
  "p99.9 ms",
  "× baseline",
  "× ceiling",
  "CPU µs/bet: service",
  "PostgreSQL",
  "generator",
  "bets/commit",
  "foreign load",
  "repeated",
  "errors"
]

const row = (summary: BetsSummary): ReadonlyArray<string> => [
  summary.target,
  withRange(number, summary.perSecond),
  withRange(milliseconds, summary.p50_ms),
  withRange(milliseconds, summary.p99_ms),
  withRange(milliseconds, summary.p999_ms),
  summary.toBaseline === undefined ? "" : withRange(times, summary.toBaseline),
  summary.toCeiling === undefined ? "" : withRange(times, summary.toCeiling),
  number(summary.serviceMicros),
  summary.target === "ceiling" ? "" : number(summary.postgresMicros),
  number(summary.generatorMicros),
  summary.unitsPerCommit === undefined ? "" : summary.unitsPerCommit.toFixed(1),
  percent(summary.foreignShare),
  String(summary.repeated),
  renderErrors(summary.errors)
]

/** The comparison as it is printed at the end: where, how, and a table per mix. */
export const renderBets = (
  summaries: ReadonlyArray<BetsSummary>,
  machine: Machine,
  settings: Readonly<Record<string, string>>,
  options: BetsOptions
): string => {
  const loop = options.ratePerSecond === null
    ? "closed loop"
    : `open loop at ${number(options.ratePerSecond)} bets/s, latency from the intended send time`
  return [
    `${machine.cpu}, ${machine.cores} cores, ${machine.memory_gib} GiB, ${machine.kernel}, Node.js ${machine.node}`,
    `database on ${machine.filesystem}, ${machine.sync_us} µs per synced write, load before ` +
    machine.load_before.toFixed(2),
    Object.entries(settings).map(([name, value]) => `${name}=${value}`).join("  "),
    `${loop}, ${options.connections} connections, ${options.players} players, ${options.rounds} rounds of ` +
    `${options.seconds} s after ${options.warmUpSeconds} s; median (min–max) over the rounds`,
    `baseline: ${options.baseline.style}, pool of ${options.baseline.poolSize}`,
    ...[...new Set(summaries.map(({ mix }) => mix))].map((mix) =>
      `\n${mix}\n${renderTable(header, summaries.filter((summary) => summary.mix === mix).map(row))}`
    )
  ].join("\n")
}

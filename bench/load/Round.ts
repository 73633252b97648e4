import { Effect } from "effect"
import type { Histogram } from "hdr-histogram-js"
import type { BenchError } from "../BenchError.ts"
import type { Postgres } from "../targets/Postgres.ts"
import type { Target, Work } from "../targets/Target.ts"
import { waitsBetween } from "../report/Prometheus.ts"
import type { Generator } from "./Generator.ts"
import type { Job, JobResult, Phase, Timeline, TrafficKind } from "./Job.ts"
import { readWal, type WalReading } from "./Commits.ts"
import { mixedOperations } from "./MixedTraffic.ts"
import { mergeHistograms, summarize } from "./Latency.ts"
import { type Parties, readProcessors, undisturbed, type Usage, usageBetween } from "./Quiet.ts"

/** How much load, the same for every target. */
export interface LoadOptions {
  readonly kind: TrafficKind
  readonly operations: ReadonlyArray<string>
  readonly connections: number
  /** Requests of the open loop; null is the closed loop. */
  readonly phases: ReadonlyArray<Phase> | null
  readonly patienceMs: number | null
  readonly warmUpSeconds: number
  readonly measuredSeconds: number
  readonly slotMs: number
  readonly reconnects: number
  readonly stake: number
  readonly currency: string
  /** A round that other processes disturbed more than this is run again, see `undisturbed`; 1 accepts all. */
  readonly maxForeignShare: number
}

/** Common defaults of load scenarios. */
export const loadDefaults = {
  kind: "bet",
  operations: mixedOperations,
  phases: null,
  patienceMs: null,
  slotMs: 100,
  reconnects: 20,
  stake: 10,
  currency: "EUR",
  maxForeignShare: 1
} as const satisfies Partial<LoadOptions>

/** An open loop at one rate, warm-up included; null is the closed loop. */
export const steadily = (
  perSecond: number | null,
  { seconds, warmUpSeconds }: { readonly seconds: number; readonly warmUpSeconds: number }
): ReadonlyArray<Phase> | null => perSecond === null ? null : [{ seconds: seconds + warmUpSeconds, perSecond }]

/** WAL written in the measured seconds. */
interface Writing {
  readonly bytesPerRequest: number
  /** Images of whole pages: many after a checkpoint, few later. */
  readonly fullPagesPerRequest: number
  readonly commitsPerSecond: number
  readonly checkpoints: number
}

/** Result of one round of one target. */
export interface RoundResult {
  readonly perSecond: number
  readonly processed: number
  readonly latency: Histogram
  /** Latency from sending, without the wait for the generator's timer or a connection. */
  readonly served: Histogram
  readonly operations: Readonly<Record<string, Histogram>>
  readonly phases: ReadonlyArray<{
    readonly processed: number
    readonly latency: Histogram
    /** From the moment of sending. */
    readonly served: Histogram
    readonly errors: Readonly<Record<string, number>>
  }>
  readonly timeline: Timeline
  /** p99 of the delay between a request's intended and its real send time, ms: large means the generator was late. */
  readonly sendDelayP99_ms: number
  readonly errors: Readonly<Record<string, number>>
  /** Processor time per processed request, µs. */
  readonly serviceMicros: number
  readonly postgresMicros: number
  readonly generatorMicros: number
  readonly foreignShare: number
  /** How often the round was run again because of foreign load. */
  readonly repeated: number
  /** Units per commit over the round, undefined when the target does not say. */
  readonly unitsPerCommit: number | undefined
  /** What requests waited for in the service over the round; undefined when the target does not say. */
  readonly waits: Work["waits"] | undefined
  /** WAL and commits of the target's database; undefined without a database. */
  readonly writing: Writing | undefined
  /** Per player, minor units; of all attempts. */
  readonly moved: ReadonlyArray<number>
  readonly leastUnknown: ReadonlyArray<number>
  readonly mostUnknown: ReadonlyArray<number>
}

const requestTimeoutMs = 10_000

const addUp = (columns: ReadonlyArray<ReadonlyArray<number>>): ReadonlyArray<number> =>
  columns.reduce((sum, column) => sum.map((value, index) => value + (column[index] ?? 0)))

/** The sum of counts by name. */
export const addCounts = (
  results: ReadonlyArray<{ readonly errors: Readonly<Record<string, number>> }>
): Record<string, number> => {
  const sum: Record<string, number> = {}
  for (const { errors } of results) {
    for (const [code, count] of Object.entries(errors)) sum[code] = (sum[code] ?? 0) + count
  }
  return sum
}

const addTimelines = (timelines: ReadonlyArray<Timeline>): Timeline => ({
  slot_ms: timelines[0]?.slot_ms ?? 0,
  processed: addUp(timelines.map(({ processed }) => processed)),
  failed: addUp(timelines.map(({ failed }) => failed)),
  latency_sum: addUp(timelines.map(({ latency_sum }) => latency_sum)),
  latency_max: timelines.map(({ latency_max }) => latency_max).reduce((highest, column) =>
    highest.map((value, index) => Math.max(value, column[index] ?? 0))
  )
})

const mergeOperations = (results: ReadonlyArray<JobResult>): Readonly<Record<string, Histogram>> => {
  const names = new Set(results.flatMap(({ operations }) => Object.keys(operations)))
  return Object.fromEntries(
    [...names].map((name) => [name, mergeHistograms(results.flatMap(({ operations }) => operations[name] ?? []))])
  )
}

export interface RoundSpecification {
  /** How many of the target's players take part: the first so many. */
  readonly players: number
  /** Unique among the rounds of a run. */
  readonly idPrefix: string
  readonly seed: number
}

/** The job of one generator process. */
export const makeJob = (target: Target, round: RoundSpecification, options: LoadOptions): Job => ({
  host: target.host,
  port: target.port,
  ...(target.nodes === undefined ? {} : { nodes: { ports: target.nodes.ports, owners: target.nodes.owners } }),
  kind: options.kind,
  operations: options.operations,
  ...target.provider,
  operator: target.operator ?? null,
  vendor: target.vendor ?? null,
  gameId: target.gameId,
  slotId: target.slotId ?? "",
  originalId: target.originalId ?? "",
  currency: options.currency,
  stake: options.stake,
  players: target.players.slice(0, round.players),
  limited: Math.max(0, round.players - (target.limitedFrom ?? round.players)),
  idPrefix: round.idPrefix,
  connections: options.connections,
  phases: options.phases,
  patienceMs: options.patienceMs,
  warmUpSeconds: options.warmUpSeconds,
  measuredSeconds: options.measuredSeconds,
  slotMs: options.slotMs,
  timeoutMs: requestTimeoutMs,
  reconnects: options.reconnects,
  seed: round.seed
})

export interface RoundContext {
  readonly target: Target
  readonly postgres: Postgres
  readonly generator: Generator
  /** Runs at the begin and at the end of the measured seconds. */
  readonly measuring?: Effect.Effect<void>
  readonly measured?: Effect.Effect<void>
}

/**
 * Puts one target under load for one round and measures it, again when others disturbed it. The sums of money are of all its
 * attempts.
 */
export const runRound = Effect.fnUntraced(function*(
  context: RoundContext,
  round: RoundSpecification,
  options: LoadOptions,
  progress: (text: string) => void
): Effect.fn.Return<RoundResult, BenchError> {
  const { all, last } = yield* undisturbed(
    options.maxForeignShare,
    (number) => attemptRound(context, { ...round, idPrefix: `${round.idPrefix}.${number}.` }, options, progress)
  )
  return {
    ...last,
    repeated: all.length - 1,
    moved: addUp(all.map(({ moved }) => moved)),
    leastUnknown: addUp(all.map(({ leastUnknown }) => leastUnknown)),
    mostUnknown: addUp(all.map(({ mostUnknown }) => mostUnknown))
  }
})

const attemptRound = Effect.fnUntraced(function*(
  context: RoundContext,
  round: RoundSpecification,
  options: LoadOptions,
  progress: (text: string) => void
): Effect.fn.Return<RoundResult, BenchError> {
  const { generator, postgres, target } = context
  const parties: Parties = {
    service: target.nodes?.pids ?? [target.pid()],
    postgres: postgres.pid,
    generators: generator.pids
  }
  // Every round begins with clean buffers, so that no round pays for dirty pages of another.
  yield* postgres.query("postgres", "CHECKPOINT")
  const workBefore = yield* target.work
  let before = readProcessors(parties)
  let after = before
  const wal: Array<WalReading> = []
  const noteWal = target.database === undefined
    ? Effect.void
    : readWal(postgres, target.database).pipe(
      Effect.tap((reading) => Effect.sync(() => wal.push(reading))),
      Effect.ignore
    )
  const results = yield* generator.run(makeJob(target, round, options), {
    measuring: Effect.suspend(() => {
      before = readProcessors(parties)
      return Effect.andThen(noteWal, context.measuring ?? Effect.void)
    }),
    measured: Effect.suspend(() => {
      after = readProcessors(parties)
      return Effect.andThen(noteWal, context.measured ?? Effect.void)
    }),
    progress: (processed, errors) => Effect.sync(() => progress(`${processed} requests, ${errors} errors`))
  })
  return summarizeRound(
    results,
    usageBetween(before, after),
    options,
    workBetween(workBefore, yield* target.work),
    wal
  )
})

const workBetween = (before: Work | undefined, after: Work | undefined): Work | undefined =>
  before === undefined || after === undefined ? undefined : {
    commits: after.commits - before.commits,
    units: after.units - before.units,
    waits: new Map([...after.waits].map(([name, waits]) => [name, waitsBetween(before.waits.get(name) ?? [], waits)]))
  }

const writingBetween = (
  [before, after]: ReadonlyArray<WalReading>,
  processedPerSecond: number
): Writing | undefined => {
  if (before === undefined || after === undefined) return undefined
  const seconds = (after.at - before.at) / 1000
  const requests = Math.max(1, processedPerSecond * seconds)
  return {
    bytesPerRequest: (after.bytes - before.bytes) / requests,
    fullPagesPerRequest: (after.fullPages - before.fullPages) / requests,
    commitsPerSecond: (after.commits - before.commits) / seconds,
    checkpoints: after.checkpoints - before.checkpoints
  }
}

const summarizeRound = (
  results: ReadonlyArray<JobResult>,
  usage: Usage,
  options: LoadOptions,
  work: Work | undefined,
  wal: ReadonlyArray<WalReading>
): RoundResult => {
  const processed = results.reduce((sum, result) => sum + result.processed, 0)
  // Processor time is read a few milliseconds off the measured seconds, so it is divided by what was processed in its
  // own span.
  const requests = Math.max(1, processed * usage.seconds / options.measuredSeconds)
  return {
    perSecond: processed / options.measuredSeconds,
    processed,
    latency: mergeHistograms(results.map(({ latency }) => latency)),
    served: mergeHistograms(results.flatMap(({ phases }) => phases.map(({ served }) => served))),
    operations: mergeOperations(results),
    phases: (results[0]?.phases ?? []).map((_, index) => {
      const parts = results.flatMap(({ phases }) => phases[index] ?? [])
      return {
        processed: parts.reduce((sum, part) => sum + part.processed, 0),
        latency: mergeHistograms(parts.map(({ latency }) => latency)),
        served: mergeHistograms(parts.map(({ served }) => served)),
        errors: addCounts(parts)
      }
    }),
    timeline: addTimelines(results.map(({ timeline }) => timeline)),
    sendDelayP99_ms: summarize(mergeHistograms(results.map(({ sendDelay }) => sendDelay))).p99_ms,
    errors: addCounts(results),
    serviceMicros: usage.service / requests,
    postgresMicros: usage.postgres / requests,
    generatorMicros: usage.generators / requests,
    foreignShare: usage.foreignShare,
    repeated: 0,
    unitsPerCommit: work === undefined || work.commits === 0 ? undefined : work.units / work.commits,
    waits: work?.waits,
    writing: writingBetween(wal, processed / options.measuredSeconds),
    moved: addUp(results.map(({ moved }) => moved)),
    leastUnknown: addUp(results.map(({ leastUnknown }) => leastUnknown)),
    mostUnknown: addUp(results.map(({ mostUnknown }) => mostUnknown))
  }
}

import { Effect } from "effect"
import { availableParallelism } from "node:os"
import type { BenchError } from "../BenchError.ts"
import { familyMicros, machineMicros, processMicros } from "../report/ProcessorTime.ts"
import type { Postgres } from "../targets/Postgres.ts"
import type { Target } from "../targets/Target.ts"
import type { Generator } from "./Generator.ts"
import type { Job } from "./Job.ts"
import { type LatencySummary, mergeHistograms, summarize } from "./Latency.ts"

/** How much load, the same for every target. */
export interface LoadOptions {
  readonly connections: number
  readonly ratePerSecond: number | null
  readonly warmUpSeconds: number
  readonly measuredSeconds: number
  readonly stake: number
  readonly currency: string
  /** A round that other processes disturbed more than this is run again, see {@link runRound}; 1 accepts all. */
  readonly maxForeignShare: number
}

/** What one round of one target was. */
export interface RoundResult {
  readonly perSecond: number
  readonly processed: number
  readonly latency: LatencySummary
  /** p99 of the delay between a bet's intended and its real send time, ms: large means the generator was late. */
  readonly sendDelayP99_ms: number
  readonly errors: Readonly<Record<string, number>>
  /** Processor time per processed bet, µs. */
  readonly serviceMicros: number
  readonly postgresMicros: number
  readonly generatorMicros: number
  /** Share of all processor time there was that went to other processes or other guests of the host; 0 to 1. */
  readonly foreignShare: number
  /** How often the round was run again because of foreign load. */
  readonly repeated: number
  /** Units per commit over the round, undefined when the target does not say. */
  readonly unitsPerCommit: number | undefined
  /** Per player of the mix, minor units. */
  readonly acknowledged: ReadonlyArray<number>
  readonly unknown: ReadonlyArray<number>
}

const requestTimeoutMs = 10_000

interface ProcessorReading {
  readonly at: number
  readonly service: number
  readonly postgres: number
  readonly generator: number
  readonly machine: { readonly busy: number; readonly stolen: number }
}

const read = (target: Target, postgres: Postgres, generator: Generator): ProcessorReading => ({
  at: performance.now(),
  service: processMicros(target.pid),
  postgres: familyMicros(postgres.pid),
  generator: generator.pids.reduce((sum, pid) => sum + processMicros(pid), 0),
  machine: machineMicros()
})

const addUp = (columns: ReadonlyArray<ReadonlyArray<number>>): ReadonlyArray<number> =>
  columns.reduce((sum, column) => sum.map((value, index) => value + (column[index] ?? 0)))

const addErrors = (
  results: ReadonlyArray<{ readonly errors: Readonly<Record<string, number>> }>
): Record<string, number> => {
  const sum: Record<string, number> = {}
  for (const { errors } of results) {
    for (const [code, count] of Object.entries(errors)) sum[code] = (sum[code] ?? 0) + count
  }
  return sum
}

const makeJob = (target: Target, players: number, idPrefix: string, options: LoadOptions, seed: number): Job => ({
  host: target.host,
  port: target.port,
  providerKey: target.providerKey,
  secret: target.secret,
  gameId: target.gameId,
  currency: options.currency,
  stake: options.stake,
  sessionTokens: target.sessionTokens.slice(0, players),
  idPrefix,
  connections: options.connections,
  ratePerSecond: options.ratePerSecond,
  warmUpSeconds: options.warmUpSeconds,
  measuredSeconds: options.measuredSeconds,
  timeoutMs: requestTimeoutMs,
  seed
})

interface RoundContext {
  readonly target: Target
  readonly postgres: Postgres
  readonly generator: Generator
}

interface RoundSpecification {
  readonly players: number
  readonly idPrefix: string
  readonly seed: number
}

/** What a quiet machine is waited for, and how long; then the round begins anyway. */
const probeMs = 300
const maxProbes = 100

/** Waits until others use less than `maxShare` of the processors, while all targets are idle. */
const waitForQuiet = Effect.fnUntraced(function*(maxShare: number) {
  for (let probe = 0; probe < maxProbes; probe++) {
    const before = machineMicros()
    yield* Effect.sleep(probeMs)
    const after = machineMicros()
    const used = after.busy + after.stolen - before.busy - before.stolen
    if (used <= maxShare * probeMs * 1000 * availableParallelism()) return
  }
})

const maxRepetitions = 4

/**
 * Puts one target under load for one round and measures it. `players` is the size of the mix: the first so many of the
 * target's players. `idPrefix` must be unique among the rounds of a run.
 *
 * On a machine that is shared, `maxForeignShare` keeps the work of others out of the figures: the round waits for a
 * quiet moment, and is run again, a few times at most, when it was disturbed. Only the foreign load decides, never
 * what was measured. The sums of money are of all its attempts.
 */
export const runRound = Effect.fnUntraced(function*(
  context: RoundContext,
  round: RoundSpecification,
  options: LoadOptions,
  progress: (text: string) => void
): Effect.fn.Return<RoundResult, BenchError> {
  const attempts: Array<RoundResult> = []
  while (true) {
    if (options.maxForeignShare < 1) yield* waitForQuiet(options.maxForeignShare)
    const specification = { ...round, idPrefix: `${round.idPrefix}.${attempts.length}.` }
    const result = yield* attemptRound(context, specification, options, progress)
    attempts.push(result)
    if (result.foreignShare > options.maxForeignShare && attempts.length <= maxRepetitions) continue
    return {
      ...result,
      repeated: attempts.length - 1,
      acknowledged: addUp(attempts.map(({ acknowledged }) => acknowledged)),
      unknown: addUp(attempts.map(({ unknown }) => unknown))
    }
  }
})

const attemptRound = Effect.fnUntraced(function*(
  context: RoundContext,
  round: RoundSpecification,
  options: LoadOptions,
  progress: (text: string) => void
): Effect.fn.Return<RoundResult, BenchError> {
  const { generator, postgres, target } = context
  // Every round begins with clean buffers, so that no round pays for writing what another one changed.
  yield* postgres.query("postgres", "CHECKPOINT")
  const commitsBefore = yield* target.commits
  let before = read(target, postgres, generator)
  let after = before
  const results = yield* generator.run(makeJob(target, round.players, round.idPrefix, options, round.seed), {
    measuring: Effect.sync(() => {
      before = read(target, postgres, generator)
    }),
    measured: Effect.sync(() => {
      after = read(target, postgres, generator)
    }),
    progress: (processed, errors) => Effect.sync(() => progress(`${processed} bets, ${errors} errors`))
  })
  const commitsAfter = yield* target.commits
  const processed = results.reduce((sum, result) => sum + result.processed, 0)
  const used = {
    service: after.service - before.service,
    postgres: after.postgres - before.postgres,
    generator: after.generator - before.generator
  }
  const machine = after.machine.busy + after.machine.stolen - before.machine.busy - before.machine.stolen
  const elapsed = (after.at - before.at) / 1000
  // Processor time is read a few milliseconds off the measured seconds, so it is divided by what was processed in its
  // own span.
  const bets = Math.max(1, processed * elapsed / options.measuredSeconds)
  const commits = commitsBefore !== undefined && commitsAfter !== undefined
    ? { count: commitsAfter.commits - commitsBefore.commits, units: commitsAfter.units - commitsBefore.units }
    : undefined
  return {
    perSecond: processed / options.measuredSeconds,
    processed,
    latency: summarize(mergeHistograms(results.map((result) => result.latency))),
    sendDelayP99_ms: summarize(mergeHistograms(results.map((result) => result.sendDelay))).p99_ms,
    errors: addErrors(results),
    serviceMicros: used.service / bets,
    postgresMicros: used.postgres / bets,
    generatorMicros: used.generator / bets,
    foreignShare: Math.max(0, machine - used.service - used.postgres - used.generator) /
      (elapsed * 1_000_000 * availableParallelism()),
    repeated: 0,
    unitsPerCommit: commits !== undefined && commits.count > 0 ? commits.units / commits.count : undefined,
    acknowledged: addUp(results.map((result) => result.acknowledged)),
    unknown: addUp(results.map((result) => result.unknown))
  }
})

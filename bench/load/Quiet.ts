import { Effect } from "effect"
import { availableParallelism } from "node:os"
import { familyMicros, machineMicros, processMicros } from "../report/ProcessorTime.ts"

/** Processes whose processor time is separated from the rest of the machine. */
export interface Parties {
  /** Ids of the measured processes. */
  readonly service: ReadonlyArray<number>
  readonly postgres: number
  readonly generators: ReadonlyArray<number>
}

/** One reading of the counters. */
export interface Reading {
  /** `performance.now()`. */
  readonly at: number
  /** µs. */
  readonly service: number
  readonly postgres: number
  readonly generators: number
  readonly machine: number
}

const sumOf = (pids: ReadonlyArray<number>): number => pids.reduce((sum, pid) => sum + processMicros(pid), 0)

export const readProcessors = (parties: Parties): Reading => {
  const { busy, stolen } = machineMicros()
  return {
    at: performance.now(),
    service: sumOf(parties.service),
    postgres: familyMicros(parties.postgres),
    generators: sumOf(parties.generators),
    machine: busy + stolen
  }
}

/** Processor usage by party between two readings. */
export interface Usage {
  readonly seconds: number
  /** µs. */
  readonly service: number
  readonly postgres: number
  readonly generators: number
  /** Share of all processor time there was that went to other processes or other guests of the host; 0 to 1. */
  readonly foreignShare: number
}

export const usageBetween = (before: Reading, after: Reading): Usage => {
  // a process that ended meanwhile counts nothing any more
  const service = Math.max(0, after.service - before.service)
  const postgres = after.postgres - before.postgres
  const generators = after.generators - before.generators
  const foreign = after.machine - before.machine - service - postgres - generators
  const available = (after.at - before.at) * 1000 * availableParallelism()
  return {
    seconds: (after.at - before.at) / 1000,
    service,
    postgres,
    generators,
    foreignShare: available > 0 ? Math.min(1, Math.max(0, foreign) / available) : 0
  }
}

/** Probe interval in ms, and maximum number of probes for a quiet machine; the round then begins anyway. */
const probeMs = 300
const maxProbes = 100

/** Waits until others use less than `maxShare` of the processors, while all that is measured is idle. */
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
 * Excludes foreign load from measurements on a shared machine: waits for a quiet moment, measures, and measures
 * again, a few times at most, while foreign load exceeded `maxShare` of the processors; 1 accepts all. Only the foreign load
 * decides, never the measurement, unless nothing at all was answered, of which no ratio can be taken. Returns all attempts; the last one counts.
 */
export const undisturbed = Effect.fnUntraced(
  function*<A extends { readonly foreignShare: number; readonly processed?: number }, E, R>(
    maxShare: number,
    attempt: (number: number) => Effect.Effect<A, E, R>
  ): Effect.fn.Return<{ readonly last: A; readonly all: ReadonlyArray<A> }, E, R> {
    const all: Array<A> = []
    while (true) {
      if (maxShare < 1) yield* waitForQuiet(maxShare)
      const last = yield* attempt(all.length)
      all.push(last)
      const isMeasured = last.processed !== 0 && last.foreignShare <= maxShare
      if (isMeasured || all.length > maxRepetitions) return { last, all }
    }
  }
)
